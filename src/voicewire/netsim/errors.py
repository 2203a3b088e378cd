"""The one error of the network simulator."""

__all__ = ["NetsimError"]


class NetsimError(ValueError):
    """A parameter that no network can have; the message says which one and what would do.

    Examples
    --------
    >>> issubclass(NetsimError, ValueError)
    True
    """
