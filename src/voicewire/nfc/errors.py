"""The study's error, and the checks that raise it."""

from voicewire._kit import checks

__all__ = ["ParameterError"]

_FINITE = checks.number()


class ParameterError(ValueError):
    """A parameter that no link, window or channel can have; the message names it and says what is allowed.

    Notes
    -----
    Every notebook of the part may meet it.

    Examples
    --------
    >>> try:
    ...     check_count("MSS", 0)
    ... except ParameterError as error:
    ...     print(error)
    ...
    MSS is 0: it must be a whole number of at least 1
    """


def check_finite(name: str, value: float) -> None:
    """Raise `ParameterError` unless `value` is a finite number."""
    _FINITE(name, value, ParameterError)


def check_positive(name: str, value: float, unit: str) -> None:
    """Raise `ParameterError` unless `value` is finite and above zero."""
    check_finite(name, value)
    if value <= 0:
        raise ParameterError(f"{name} is {value:g} {unit}: it must be above zero")


def check_not_negative(name: str, value: float, unit: str) -> None:
    """Raise `ParameterError` unless `value` is finite and zero or more."""
    check_finite(name, value)
    if value < 0:
        raise ParameterError(f"{name} is {value:g} {unit}: it cannot be negative")


def check_share(name: str, value: float) -> None:
    """Raise `ParameterError` unless 0 <= value < 1: at 1 nothing would ever get through."""
    check_finite(name, value)
    if not 0 <= value < 1:
        raise ParameterError(f"{name} is {value:g}: it must be at least 0 and below 1 (at 1 nothing gets through)")


def check_count(name: str, value: float, least: int = 1) -> None:
    """Raise `ParameterError` unless `value` is a whole number of at least `least`."""
    check_finite(name, value)
    if value != int(value) or value < least:
        raise ParameterError(f"{name} is {value:g}: it must be a whole number of at least {least}")
    if value > checks.MOST:
        raise ParameterError(f"{name} is {value:g}: more than {checks.MOST:g} cannot be simulated")
