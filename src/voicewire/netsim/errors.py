"""The one error of the network simulator."""

__all__ = ["NetsimError"]


class NetsimError(ValueError):
    """A parameter that no network can have; the message says which one and what would do.

    Notes
    -----
    Chapter ``notebooks/voip/01_rate_control``.

    Examples
    --------
    >>> issubclass(NetsimError, ValueError)
    True
    """
