"""What a client knows about a message that it has published, and what it says where that is too little."""

from __future__ import annotations

import asyncio
import json
import ssl
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from voicewire.mqtt import packets as p
from voicewire.mqtt.errors import DisconnectedError, MalformedError, MQTTError, NotAcknowledgedError
from voicewire.mqtt.sessions.hold import Report, Status

__all__ = ["Delivery", "octets", "unreached"]

T = TypeVar("T")
Unread = tuple[str, int] | None
"""Topic and size of the largest PUBLISH that the broker may not have read yet."""
GRACE = 1.0
"""Seconds that the broker's report may take to arrive after the time limit."""


@dataclass(slots=True)
class Delivery:
    """What is known about one published message.

    Parameters
    ----------
    topic : str
        Where it was published.
    acknowledged : dict
        Client id -> seconds from the broker's receipt of the message to this subscriber's acknowledgement.
    answers : dict
        Client id -> data that the subscriber put into its acknowledgement.
    missing : dict
        Client id -> why it has not acknowledged.
    confirmed : float
        Seconds from sending to the first answer of the broker: PUBACK, or PUBREC (NaN at QoS 0).
    completed : float
        Seconds from sending to the last packet of the exchange: PUBACK, or PUBCOMP (NaN at QoS 0).

    Examples
    --------
    >>> Delivery("door").acknowledged
    {}
    """

    topic: str
    acknowledged: dict[str, float] = field(default_factory=dict)
    answers: dict[str, bytes] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    confirmed: float = float("nan")
    completed: float = float("nan")


@dataclass(slots=True)
class Pending:
    """A message on its way to the broker; `packet` is what would be sent again after a reconnection."""

    packet: p.Publish | p.Pubrel
    delivery: Delivery
    sent: float
    confirmed: asyncio.Future[Report | None]
    completed: asyncio.Future[None]
    unread: Unread = None
    """What was unread when it had been sent."""


def what_is_missing(packet: p.Publish, report: Report, delivery: Delivery, need: int) -> str:
    """Say in one line why a message does not count as delivered."""
    wanted = "all" if need == p.WAIT_FOR_ALL else str(max(need, 1))
    text = f"{packet.topic!r}: {len(delivery.acknowledged)} of {wanted} subscribers have acknowledged"
    if report.status is Status.TIMEOUT:
        text += f" within {packet.limit * p.TICK:g} s"
    if delivery.missing:
        text += "; missing: " + ", ".join(f"{name} ({why})" for name, why in delivery.missing.items())
    if report.cut:
        return text + "; and others"
    return text if delivery.missing else text + "; there are no others"


def confirmed(
    topic: str, data: bytes, retain: bool, wait_for: int | Literal["all"], names: tuple[str, ...],
    timeout: float | None, report: bool,
) -> tuple[p.Publish, float]:  # fmt: skip
    """Make a PUBLISH of QoS 3, and say for how many seconds its answer is waited for."""
    need = p.WAIT_FOR_ALL if wait_for == "all" else wait_for
    if wait_for != "all" and not 0 <= wait_for < p.WAIT_FOR_ALL:
        raise MalformedError(f"cannot wait for {wait_for} subscribers; 0 to {p.WAIT_FOR_ALL - 1}, or 'all'")
    p.encode_wait(need, names)
    limit = 30.0 if timeout is None else timeout
    if limit <= 0:
        raise ValueError(f"timeout of {limit} s; it must be above 0")
    if not report:
        return p.Publish(topic, data, 3, retain, waited=need, subscribers=names), limit
    ticks = min(65535, max(1, round(limit / p.TICK)))
    packet = p.Publish(topic, data, 3, retain, waited=need, subscribers=names, report=True, limit=ticks)
    return packet, limit + GRACE


async def _within(timeout: float | None, future: asyncio.Future[T]) -> T:
    """Wait for a future that goes on when the time is up, or when whoever waits is cancelled."""
    done, _ = await asyncio.wait([future], timeout=timeout)
    if not done:
        raise TimeoutError
    return future.result()


async def outcome(pending: Pending, packet: p.Publish, timeout: float | None) -> Delivery:
    """Wait until a message's exchange is over, or say what is missing."""
    delivery = pending.delivery
    try:
        report = await _within(timeout, pending.confirmed)
    except TimeoutError:
        text = f"the broker has not acknowledged {packet.topic!r} within {timeout:g} s"
        raise NotAcknowledgedError(text, delivery) from None
    if report is not None:
        delivery.acknowledged = {name: micros / 1e6 for name, (micros, _) in report.acknowledged.items()}
        delivery.answers = {name: data for name, (_, data) in report.acknowledged.items() if data}
        delivery.missing = {name: reason.words for name, reason in report.missing.items()}
        if report.status is not Status.COMPLETE:
            raise NotAcknowledgedError(what_is_missing(packet, report, delivery, packet.waited), delivery)
    await _within(timeout, pending.completed)
    return delivery


def ids(topic: str, text: bytes) -> tuple[str, ...]:
    """Read a broker's list of ids."""
    try:
        told = json.loads(text)
        names, cut = told["subscribers"], told.get("cut", False)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        names, cut = None, False
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise MQTTError(f"what the broker tells of {topic!r} is no list of ids")
    if cut:
        raise MQTTError(f"more are subscribed to {topic!r} than the {len(names)} that the broker tells")
    return tuple(names)


def octets(payload: bytes | str) -> bytes:
    """The payload as bytes; a number is refused, of which `bytes` would make so many zero bytes."""
    if isinstance(payload, str):
        return payload.encode()
    try:
        return payload if type(payload) is bytes else memoryview(payload).tobytes()
    except TypeError:
        raise MalformedError(f"a payload is text or bytes, not {payload!r:.40}: str() makes text") from None


def unreached(
    error: OSError, place: str, tls: bool, made: bool, seconds: float, answered: str
) -> DisconnectedError:
    """What was seen where no broker answers; `made` is whether the connection came about."""
    kind = "TLS " * tls
    if isinstance(error, TimeoutError) and made:
        return DisconnectedError(f"{place} took the {kind}connection, but no CONNACK came in {seconds:g} s{answered}")
    if isinstance(error, TimeoutError) and not str(error):  # the system's own has words
        return DisconnectedError(f"no {kind}connection to {place} within {seconds:g} s")
    if isinstance(error, ssl.SSLError):  # something is there
        return DisconnectedError(f"no TLS connection to {place}: {error}")
    return DisconnectedError(f"no broker at {place}: {error}")
