"""The one family of errors that the test bed raises."""

__all__ = ["TestbedError"]


class TestbedError(RuntimeError):
    """Something the test bed needs is missing or refused; the message says what and what to do.

    Examples
    --------
    >>> issubclass(TestbedError, RuntimeError)
    True
    """

    __test__ = False  # the name begins like a test class; pytest must not collect it
