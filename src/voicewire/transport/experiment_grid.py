"""The grid of the experiment: every configuration is one cell, with a name that sorts and a seed of its own."""

from __future__ import annotations

import zlib
from dataclasses import asdict, dataclass

from voicewire._kit import checks
from voicewire.transport import paper

__all__ = ["Cell", "full_grid", "small_grid"]


@dataclass(frozen=True)
class Cell:
    """One configuration.

    Attributes
    ----------
    network : str
        ``"lan"`` or ``"internet"``.
    transport : str
        ``"tcp"`` or ``"mqtt"``.
    qos : int
        0, 1, 2; always 0 with TCP.
    session : str
        ``"fresh"`` (a connection for each message), ``"persistent"`` (all messages over one, each after the one
        before was acknowledged) or ``"loop"`` (150 messages in a session, `gap` apart; an iteration is a loop).
    kind : str
        ``"bytes"``, ``"file"`` or ``"icto"``.
    size : int
        Payload, bytes.
    gap : float
        Pause between the messages of a loop, in round-trip times.
    nodelay : bool
        Whether the broker switches Nagle's algorithm off.
    iterations : int
        How often.

    Examples
    --------
    >>> Cell("lan", "tcp", 0, "fresh", "bytes", 100, iterations=2).iterations
    2
    """

    network: str
    transport: str
    qos: int
    session: str
    kind: str
    size: int
    gap: float = 0.0
    nodelay: bool = True
    iterations: int = paper.ITERATIONS

    def __post_init__(self) -> None:
        checks.fields(
            self, network=checks.one_of(*paper.NETWORKS), transport=checks.one_of("tcp", "mqtt"),
            qos=checks.whole(0, 2), session=checks.one_of("fresh", "persistent", "loop"),
            kind=checks.one_of("bytes", "file", "icto"), size=checks.whole(1, 10**8), gap=checks.number(0.0, 1e6),
            iterations=checks.whole(1, 10**6),
        )  # fmt: skip

    @property
    def name(self) -> str:
        """Unique, and fit for a file."""
        parts = [self.network, self.transport, f"q{self.qos}", self.session, self.kind, str(self.size)]
        if self.gap:
            parts.append(f"gap{self.gap:g}")
        if not self.nodelay:
            parts.append("nagle")
        return "-".join(parts)

    @property
    def seed(self) -> int:
        """Derived from the name, so a cell is the same whichever ran before it."""
        return zlib.crc32(self.name.encode())

    def columns(self) -> dict[str, object]:
        """Return what identifies the cell's rows in a table.

        Returns
        -------
        dict
            Every field but the iterations.
        """
        row = asdict(self)
        del row["iterations"]
        return row


@checks.takes(iterations=checks.whole(1, 10**6))
def full_grid(iterations: int = paper.ITERATIONS) -> list[Cell]:
    """Return every cell of the recorded experiment; the quick ones of each network first.

    Parameters
    ----------
    iterations : int
        How often each is run.

    Returns
    -------
    list of Cell

    Examples
    --------
    >>> len({cell.name for cell in full_grid()}) == len(full_grid())
    True
    """
    cells = []
    for network in paper.NETWORKS:
        for size in paper.SIZES:
            for session in ("fresh", "persistent"):
                for kind in ("bytes", "file"):
                    cells.append(Cell(network, "tcp", 0, session, kind, size, iterations=iterations))
                    cells += [Cell(network, "mqtt", q, session, kind, size, iterations=iterations) for q in range(3)]
            cells.append(Cell(network, "tcp", 0, "fresh", "icto", size, iterations=iterations))
            cells.append(Cell(network, "mqtt", 1, "fresh", "icto", size, iterations=iterations))
        for size in paper.PAYLOADS:
            cells += [Cell(network, "mqtt", q, "loop", "bytes", size, iterations=iterations) for q in range(3)]
            cells.append(Cell(network, "mqtt", 0, "loop", "file", size, iterations=iterations))
            cells.append(Cell(network, "tcp", 0, "loop", "bytes", size, iterations=iterations))
            for gap in (0.05, 0.1, 0.25, 0.5, 1.0, 2.0):
                cells.append(Cell(network, "mqtt", 0, "loop", "bytes", size, gap, iterations=min(iterations, 10)))
    for q in range(3):
        cells.append(Cell("lan", "mqtt", q, "fresh", "bytes", 100, nodelay=False, iterations=iterations))
        cells.append(Cell("lan", "mqtt", q, "persistent", "bytes", 100, nodelay=False, iterations=iterations))
    return cells


@checks.takes(iterations=checks.whole(1, 10**6))
def small_grid(network: str = "lan", iterations: int = 10) -> list[Cell]:
    """Return a few cells that a notebook or a test can run in seconds.

    Parameters
    ----------
    network : str
        ``lan`` or ``internet``.
    iterations : int
        How often each is run.

    Returns
    -------
    list of Cell

    Examples
    --------
    >>> len(small_grid())
    16
    """
    cells = [
        Cell(network, "tcp", 0, session, "bytes", size, iterations=iterations)
        for session in ("fresh", "persistent")
        for size in (1, 1000)
    ]
    cells += [
        Cell(network, "mqtt", q, session, "bytes", size, iterations=iterations)
        for q in range(3)
        for session in ("fresh", "persistent")
        for size in (1, 1000)
    ]
    return cells
