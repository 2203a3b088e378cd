"""A real lwIP as the model's witness: the packaged library, driven in virtual time in a child process.

Where Debian's `liblwip-dev` and a C compiler are installed, `available()` is true and `run` compiles the small driver
`lwip_session.c` once and drives it. Elsewhere `rows` reads the recorded rows in `data/nfc/lwip.csv` (see the README
there). Notebook 3 shows both beside the closed form.
"""

import csv
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from voicewire._kit import paths, sheets
from voicewire.nfc import paper
from voicewire.nfc.channel import BURST, RANDOM, Channel
from voicewire.nfc.errors import ParameterError, check_count, check_not_negative
from voicewire.nfc.link import HEADER_BYTES
from voicewire.nfc.session import Session as Model

__all__ = ["GaveUpError", "Row", "WitnessError", "available", "cases", "measure", "recorded", "rows", "run"]

HEADERS = Path("/usr/include/lwip/lwip/tcp.h")
LARGEST_MSS = 1460  # compiled into the packaged library
ADAPTED_RTO = 10.0  # s, long enough never to fire early: chapter 5's own rule is not to be had
RECORDING = "lwip.csv"
HEAVY = (3, 4, 5, 6, 8, 12)  # of so many data packets one is lost
PHASES = 20  # of the 250 ms timer, evenly spread
EXCHANGES = 300  # of each cell of Table 7.3, each with errors and a phase of its own
SLOW = ("table-7.3", "single-bit")  # cases of hundreds of sessions: `rows` reads them


class WitnessError(RuntimeError):
    """lwIP could not be built or driven; the message says what the compiler or the driver said.

    Examples
    --------
    >>> issubclass(WitnessError, RuntimeError)
    True
    """


class GaveUpError(WitnessError):
    """A session of lwIP's did not end: too many retransmissions in a row, or an hour of virtual time."""


@dataclass(frozen=True)
class Row:
    """One session of the real stack.

    Parameters
    ----------
    seconds : float
        From the first slot of the SYN to the end of the last packet, s.
    delivered, data_sent, data_lost, again : int
        Bytes that the appliance got; data packets sent, lost on the link, and sent again.

    Examples
    --------
    >>> recorded()["table-7.2/1024"]
    Row(seconds=6.28, delivered=5000, data_sent=5, data_lost=0, again=0)
    """

    seconds: float
    delivered: int
    data_sent: int
    data_lost: int
    again: int


@cache
def available() -> bool:
    """Whether a C compiler, lwIP's headers and its library are all here.

    Returns
    -------
    bool

    Examples
    --------
    >>> available() == (shutil.which("cc") is not None and HEADERS.is_file())
    True
    """
    return shutil.which("cc") is not None and HEADERS.is_file()


@cache
def _driver() -> Path:
    """Compile the driver into a directory that lives as long as this process, and return its path."""
    folder = Path(_folder().name)
    source = folder / "lwip_session.c"
    source.write_text(resources.files("voicewire.nfc").joinpath("lwip_session.c").read_text(encoding="utf-8"))
    target = folder / "lwip_session"
    command = ["cc", "-O2", "-I", str(HEADERS.parent.parent), "-o", str(target), str(source), "-llwip", "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    if done.returncode:
        raise WitnessError(f"lwIP's driver did not compile: {done.stderr.strip().splitlines()[-1]}")
    return target


@cache
def _folder() -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(prefix="voicewire-lwip-")


def run(
    session: Model,
    *,
    phase: float = 0.125,
    quick: bool = True,
    every: int = 0,
    rto: float = ADAPTED_RTO,
    lost: Sequence[int] = (),
    turns: int = 0,
    flip: int = -1,
    seed: int = 1,
) -> Row:
    """Drive one session through the real stack.

    Parameters
    ----------
    session : Session
        Size, MSS, windows, latency, delay, link, and a channel with bit errors; its own timers are not used.
    phase : float
        First call of lwIP's 250 ms timer, s: a free parameter, because the session starts at any moment.
    quick : bool
        Acknowledge each data packet at once, or leave it to lwIP's delayed acknowledgements.
    every : int
        Lose each `every`-th data packet; 0: none.
    rto : float
        Retransmission timeout, s, in lwIP's steps of 0.5 s; 0: lwIP's own estimate.
    lost : sequence of int
        Segments, from 0, whose first transmission is lost.
    turns : int
        Let both ends send so many packets of one MSS in turn, each the answer to the one before (section 7.3); 0: the
        end-user device sends all of the session's bytes.
    flip : int
        Turn this bit of the IP packet instead of losing a packet of `every` or `lost`; -1: lost packets are gone.
    seed : int
        Of the channel's errors and of lwIP's first sequence numbers.

    Returns
    -------
    Row

    Raises
    ------
    ParameterError
        If the MSS is larger than the packaged library's, or the phase is negative.
    GaveUpError
        If the session does not end.
    WitnessError
        If lwIP is not installed or does not compile.

    Examples
    --------
    >>> # where lwIP is installed; elsewhere the recorded row is the same
    ... row = run(Model(mss=1024)) if available() else recorded()["table-7.2/1024"]
    >>> row.data_sent
    5
    """
    if session.mss > LARGEST_MSS:
        raise ParameterError(f"MSS is {session.mss} bytes: the packaged lwIP is built for at most {LARGEST_MSS}")
    check_not_negative("timer phase", phase, "s")
    check_not_negative("retransmission timeout", rto, "s")
    check_count("one lost packet in", every, least=0)
    for number in lost:
        check_count("a lost segment", number, least=0)
    check_count("packets in turn", turns, least=0)
    check_count("bit to turn", flip, least=-1)
    check_count("seed", seed, least=0)
    if not available():
        raise WitnessError("no lwIP here: install liblwip-dev and a C compiler, or read the recorded rows")
    micro = 1e6
    errors = session.channel if session.channel.kind in (RANDOM, BURST) else Channel()
    values = [
        turns * session.mss or session.size, session.mss, session.window, session.window_limit,
        round(session.latency * micro), round(session.ethernet_delay * micro), round(session.link.period * micro),
        session.link.payload, session.link.framing, round(phase * micro), int(quick), every, paper.SEND_BUFFER,
        round(rto * 1e3), seed, f",{','.join(str(number) for number in lost)},", turns, flip, errors.to_bad,
        errors.to_good if errors.kind == BURST else 0,
    ]  # fmt: skip
    command = [str(_driver()), *map(str, values)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    if done.returncode:
        raise WitnessError(f"lwIP's driver failed: {done.stderr.strip()}")
    micros, delivered, sent, gone, again, _, _, failed = (int(word) for word in done.stdout.split())
    if failed:
        raise GaveUpError("lwIP's session did not end: it gave up, or an hour of virtual time was over")
    return Row(micros / micro, delivered, sent, gone, again)


def cases() -> dict[str, tuple[Model, dict[str, float]]]:
    """Name the sessions that are recorded: tables 7.2 and 7.3, figures 7.2 and 7.3, losses, wrong bits, stock timeout.
    """
    named: dict[str, tuple[Model, dict[str, float]]] = {}
    for mss in paper.TABLE_72:
        named[f"table-7.2/{mss}"] = (Model(mss=mss), {})
        named[f"delayed-acks/{mss}"] = (Model(mss=mss), {"quick": 0})
        named[f"stock-timeout/{mss}"] = (Model(mss=mss), {"rto": 0})
    for delay in paper.ETHERNET_DELAYS:
        for window in paper.INITIAL_CWND_SIZES:
            model = Model(size=paper.FIGURE_72_BYTES, window=window, ethernet_delay=delay)
            named[f"fig-7.3/{delay:g}/{window}"] = (model, {})
    for window in paper.INITIAL_CWND_SIZES:
        named[f"lossy/{window}"] = (Model(size=paper.LOSSY_BYTES, window=window), {"every": paper.LOSS_ONE_IN})
    for every in HEAVY:
        named[f"heavy/{every}"] = (Model(size=paper.LOSSY_BYTES, rto=ADAPTED_RTO, backoff=False), {"every": every})
    for kind, rate in paper.TABLE_73:
        channel = Channel.random(rate) if kind == "random" else Channel.burst(rate)
        model = Model(mss=paper.EXCHANGE_BYTES, channel=channel)
        named[f"table-7.3/{kind}/{rate:.0e}"] = (model, {"turns": paper.EXCHANGE_PACKETS, "rto": model.rto})
    named[f"single-bit/{paper.EXCHANGE_BYTES}"] = (Model(10 * paper.EXCHANGE_BYTES, mss=paper.EXCHANGE_BYTES), {})
    return named


def _single_bits(model: Model) -> list[Row]:
    """Run a session for each byte of a packet, in which one of the byte's bits is turned."""
    packet = model.mss + HEADER_BYTES
    return [run(model, lost=[5], flip=8 * byte + byte % 8) for byte in range(packet)]


def _exchanges(model: Model, turns: int, rto: float) -> list[Row]:
    """Run exchanges, each with errors and a phase of its own; those that lwIP gives up are left out."""
    ended = []
    for i in range(EXCHANGES):
        with suppress(GaveUpError):
            ended.append(run(model, phase=(i + 0.5) / EXCHANGES * 0.25, rto=rto, turns=turns, seed=1 + i))
    return ended


def measure(name: str) -> Row:
    """Drive one of `cases`, averaged over the phases of lwIP's timer, over errors, or over the bits of a packet."""
    model, options = cases()[name]
    together = sum if name.startswith("single-bit") else max
    if name.startswith("single-bit"):
        runs = _single_bits(model)
    elif "turns" in options:
        runs = _exchanges(model, int(options["turns"]), options["rto"])
    else:
        runs = [
            run(
                model,
                phase=(i + 0.5) / PHASES * 0.25,
                quick=bool(options.get("quick", 1)),
                every=int(options.get("every", 0)),
                rto=options.get("rto", ADAPTED_RTO),
            )
            for i in range(PHASES)
        ]
    return Row(
        sum(row.seconds for row in runs) / len(runs),
        min(row.delivered for row in runs),
        together(row.data_sent for row in runs),
        together(row.data_lost for row in runs),
        together(row.again for row in runs),
    )


def recorded() -> dict[str, Row]:
    """Read the rows recorded in `data/nfc/lwip.csv`."""
    with (paths.data("nfc") / RECORDING).open(encoding="utf-8", newline="") as file:
        return {
            row["case"]: Row(
                float(row["seconds"]), int(row["delivered"]), int(row["data_sent"]), int(row["data_lost"]),
                int(row["again"]),
            )
            for row in csv.DictReader(file)
        }  # fmt: skip


def rows(names: Iterable[str] | None = None) -> tuple[str, dict[str, Row]]:
    """Return ("run here" or "recorded", the rows): the real stack if it is installed."""
    kept = recorded()
    wanted = list(names or kept)
    if not available():
        return "recorded", {name: kept[name] for name in wanted}
    slow = () if names else SLOW
    return "run here", {name: kept[name] if name.startswith(slow) else measure(name) for name in wanted}


def record(folder: Path | None = None) -> Path:
    """Run all cases and write `data/nfc/lwip.csv`; `voicewire record nfc` calls this."""
    path = (folder or paths.data("nfc")) / RECORDING
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = sheets.Writer(file)
        writer.writerow(["case", "seconds", "delivered", "data_sent", "data_lost", "again"])
        for name in cases():
            row = measure(name)
            writer.writerow([name, f"{row.seconds:.4f}", row.delivered, row.data_sent, row.data_lost, row.again])
    return path
