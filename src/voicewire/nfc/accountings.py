"""Which readings of the chapter fit: identifiability by exhaustion (notebook 3).

A reading ("accounting") is one choice for each thing that the chapter leaves out. Each is run through the closed
forms or the simulation and compared with what is printed. Several fit: the printed numbers do not tell them apart.
"""

import itertools
from dataclasses import dataclass

from voicewire import checks
from voicewire.nfc import paper
from voicewire.nfc.errors import ParameterError
from voicewire.nfc.link import Link
from voicewire.nfc.session import RESPONSE_LATENCY, Session
from voicewire.nfc.slots import DEFINITIONS, ROUNDINGS, SCOPES, Rounding, Scope, ShortSession


@dataclass(frozen=True)
class TableReading:
    """One reading of Table 7.2 and Fig. 7.2, and how far it is from them.

    Parameters
    ----------
    framing : int
        Bytes added to each packet.
    teardown : int
        Packets that end the session: 3 (FIN, FIN+ACK, ACK) or 4.
    size : int
        Bytes of "5 kB".
    latency : float
        Response latency at each end, s.
    single_buffer : bool
        Whether the appliance's response waits for its own transmission.
    errors : tuple of float
        Relative error at each MSS of Table 7.2, in the table's order.
    stall : float
        Extra latency of the smallest initial window in Fig. 7.2, s.
    """

    framing: int
    teardown: int
    size: int
    latency: float
    single_buffer: bool
    errors: tuple[float, ...]
    stall: float

    @property
    def worst(self) -> float:
        """Largest relative error over Table 7.2."""
        return max(abs(error) for error in self.errors)

    @checks.takes(error=ParameterError, table=checks.number(0.0, 1e6), stall=checks.number(0.0, 1e6))
    def fits(self, table: float = 0.01, stall: float = 0.1) -> bool:
        """Whether Table 7.2 holds within `table` and the stall within `stall`, both relative."""
        return self.worst <= table and abs(self.stall / paper.STALL_PRINTED - 1) <= stall


def table_readings() -> list[TableReading]:
    """Try every reading of Table 7.2; 11 framings x 2 teardowns x 2 sizes x 3 latencies x 2 buffers."""
    found = []
    choices = itertools.product(range(11), (5000, 5120), (0.05, RESPONSE_LATENCY, 0.1), (True, False))
    for framing, size, latency, single in choices:
        link = Link(framing=framing)
        three = [
            Session(size=size, mss=mss, latency=latency, single_buffer=single, link=link).run().seconds
            for mss in paper.TABLE_72
        ]
        ends = [
            Session(size=paper.FIGURE_72_BYTES, window=window, latency=latency, single_buffer=single, link=link)
            .run()
            .seconds
            for window in (min(paper.INITIAL_CWND_SIZES), max(paper.INITIAL_CWND_SIZES))
        ]
        for teardown in (3, 4):
            more = (teardown - 3) * link.slots(40) * link.period
            errors = tuple(
                (time + more) / printed - 1 for time, printed in zip(three, paper.TABLE_72.values(), strict=True)
            )
            found.append(TableReading(framing, teardown, size, latency, single, errors, ends[0] - ends[1]))
    return found


@dataclass(frozen=True)
class SlotReading:
    """One reading of section 7.4: a definition of efficiency and a way to count the latency.

    Parameters
    ----------
    definition : str
        Key of `slots.DEFINITIONS`.
    session : ShortSession
        Scope, overhead and size.
    efficiencies : tuple of float
        Per cent, at the four places of `paper.EFFICIENCY`.
    """

    definition: str
    session: ShortSession
    efficiencies: tuple[float, ...]

    @property
    def worst(self) -> float:
        """Largest distance from the four printed numbers, percentage points."""
        return max(
            abs(mine - printed) for mine, printed in zip(self.efficiencies, paper.EFFICIENCY.values(), strict=True)
        )


def slot_readings() -> list[SlotReading]:
    """Try every definition of efficiency with 26 overheads, 3 scopes and 2 sizes, the best fit first."""
    found = []
    for scope, overhead, size in itertools.product(SCOPES, range(26), (1000, 1024)):
        session = ShortSession(size=size, overhead=overhead, scope=scope)
        for name, define in DEFINITIONS.items():
            try:
                values = tuple(100 * define(session, *place) for place in paper.EFFICIENCY)
            except ParameterError:  # the overhead leaves a slot empty
                continue
            found.append(SlotReading(name, session, values))
    return sorted(found, key=lambda reading: (round(reading.worst, 9), reading.session.overhead))


def control_efficiency(scope: Scope, rounding: Rounding, overhead: int = 14, printed_zero: bool = True) -> float:
    """Give the efficiency of section 7.5 at 5 control slots in 10, per cent.

    Parameters
    ----------
    scope, rounding, overhead
        As in `ShortSession` and `slots.shared`.
    printed_zero : bool
        Compare with the latency of Eq. 5.4, which is not rounded (True), or with the same rounding at share 0.
    """
    session = ShortSession(scope=scope, overhead=overhead)
    rate, active = float(max(paper.RATES)), paper.SLOT_ACTIVE * 1e3
    free = session.seconds(rate, active, 0.0, "none" if printed_zero else rounding)
    return 100 * free / session.seconds(rate, active, 0.5, rounding)


def control_readings() -> dict[tuple[Scope, Rounding], float]:
    """Give `control_efficiency` for every scope and rounding."""
    return {(scope, rounding): control_efficiency(scope, rounding) for scope in SCOPES for rounding in ROUNDINGS}
