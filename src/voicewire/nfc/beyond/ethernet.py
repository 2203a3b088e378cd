"""The Ethernet between bridge and end-user device: other traffic in the bridge's memory, and losses (notebook 2).

The chapter names congestion there as what TCP's slow start is for, and varies a delay only. Here a packet that comes
to the bridge finds packets of others before it, as many as a queue with random arrivals holds (M/M/1): n or more with
the probability ``load**n``. A full memory drops it: tail drop, as RFC 7567, section 2, describes it.
"""

from __future__ import annotations

from dataclasses import dataclass

from voicewire._kit import checks
from voicewire.nfc.errors import ParameterError

__all__ = ["Ethernet"]

BUSIEST = 0.99
"""Highest load: nearer to 1 a queue of this kind has no length that a packet finds."""
MOST_ROOM = 1 << 20


@dataclass(frozen=True)
class Ethernet:
    """What packets meet between bridge and end-user device; quiet unless told.

    Parameters
    ----------
    loss : float
        Share of packets that are lost, either way, whatever else happens.
    load : float
        Share of the Ethernet's time that packets of others take, at most 0.99.
    service : float
        Time that one of them takes, s.
    room : int
        Packets that the bridge's memory holds, others' and ours that wait for the NFC link; 0: as many as come.

    Raises
    ------
    ParameterError
        For a share of 1 or more, or a time or a room that cannot be.

    Examples
    --------
    >>> port = Ethernet(load=0.5, service=0.02, room=4)
    >>> port.dropped(), port.dropped(3), port.wait
    (0.0625, 0.5, 0.02)
    """

    loss: float = 0.0
    load: float = 0.0
    service: float = 0.01
    room: int = 0

    def __post_init__(self) -> None:
        checks.fields(
            self, ParameterError, loss=checks.number(0.0, below=1.0), load=checks.number(0.0, BUSIEST),
            service=checks.number(0.0, 1e3), room=checks.whole(0, MOST_ROOM),
        )  # fmt: skip

    @property
    def quiet(self) -> bool:
        """Whether nothing can happen to a packet."""
        return self.loss == 0 and self.load == 0 and self.room == 0

    @property
    def wait(self) -> float:
        """Mean wait behind packets of others in a memory that takes all, s: load/(1 - load) services."""
        return self.service * self.load / (1 - self.load)

    @checks.takes(error=ParameterError, waiting=checks.whole())
    def dropped(self, waiting: int = 0) -> float:
        """Give the probability that a packet is dropped where so many of ours wait already.

        Parameters
        ----------
        waiting : int
            Our packets in the bridge's memory.

        Returns
        -------
        float
            0 to 1: full with others', with ours, or lost anyway.
        """
        full = 0.0 if self.room == 0 else self.load ** max(0, self.room - waiting)
        return 1 - (1 - self.loss) * (1 - full)
