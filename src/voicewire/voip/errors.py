"""The one error of this part."""

__all__ = ["VoipError"]


class VoipError(ValueError):
    """An input that no call can have; the message names what was wrong and what would do.

    Examples
    --------
    >>> issubclass(VoipError, ValueError)
    True
    """
