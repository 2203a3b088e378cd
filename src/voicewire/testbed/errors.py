"""The one family of errors that the test bed raises."""


class TestbedError(RuntimeError):
    """Something the test bed needs is missing or refused; the message says what and what to do."""

    __test__ = False  # the name begins like a test class; pytest must not collect it
