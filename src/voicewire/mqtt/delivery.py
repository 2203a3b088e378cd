"""What a client knows about a message that it has published, and what it says where that is too little."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from voicewire.mqtt import packets as p
from voicewire.mqtt.hold import Report, Status

__all__ = ["Delivery"]


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

    Notes
    -----
    Chapter ``notebooks/foundations/04_mqtt``.

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
