"""What can go wrong on the wire, in one place."""

from __future__ import annotations

__all__ = ["DisconnectedError", "MQTTError", "MalformedError", "NotAcknowledgedError", "RefusedError"]


class MQTTError(ValueError):
    """Base of every error of this package.

    Examples
    --------
    >>> issubclass(MQTTError, Exception)
    True
    """


class MalformedError(MQTTError):
    """Bytes that MQTT 3.1.1 (or its QoS 3 extension) does not allow.

    The message ends with the normative statement that was broken, where there is one.

    Examples
    --------
    >>> issubclass(MalformedError, Exception)
    True
    """


class RefusedError(MQTTError):
    """The broker answered CONNECT with a return code other than 0.

    Parameters
    ----------
    code : int
        Return code of the CONNACK, 1-5.

    Examples
    --------
    >>> issubclass(RefusedError, Exception)
    True
    """

    REASONS = (
        "accepted",
        "unacceptable protocol version",
        "identifier rejected",
        "server unavailable",
        "bad user name or password",
        "not authorised",
    )

    def __init__(self, code: int) -> None:
        self.code = code
        name = self.REASONS[code] if code < len(self.REASONS) else "reserved return code"
        super().__init__(f"the broker refused the connection: {name} (code {code})")


class DisconnectedError(MQTTError):
    """The connection ended before the operation was finished.

    Examples
    --------
    >>> issubclass(DisconnectedError, Exception)
    True
    """


class NotAcknowledgedError(MQTTError):
    """A message was published, but the subscribers asked for did not all acknowledge it in time.

    Parameters
    ----------
    message : str
        What is missing, in words.
    delivery : object
        The :class:`~voicewire.mqtt.client.Delivery` as far as it got.

    Examples
    --------
    >>> issubclass(NotAcknowledgedError, Exception)
    True
    """

    def __init__(self, message: str, delivery: object) -> None:
        self.delivery = delivery
        super().__init__(message)
