"""The one error of this part."""

__all__ = ["VoipError"]


class VoipError(ValueError):
    """An input that no call can have; the message names what was wrong and what would do.

    Notes
    -----
    Chapter ``notebooks/voip/02_quality_and_playout``.

    Examples
    --------
    >>> issubclass(VoipError, ValueError)
    True
    """
