"""End-to-end acknowledgement: a hold keeps the broker's answer back until enough subscribers have answered.

The rules are those of the page *E-MQTT, completed*; its tests are in `tests/mqtt/test_e2e.py`. `endtoend` sends the
answer that a hold gives, and `emqtt.reference.verdict` is the rule to read.
"""

from __future__ import annotations

import json
import time
from asyncio import TimerHandle
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import chain, islice
from typing import Any, Protocol

from voicewire.mqtt.errors import MalformedError
from voicewire.mqtt.interfaces import Peer
from voicewire.mqtt.packets import WAIT_FOR_ALL

__all__ = ["Hold", "Missing", "Report", "Status"]

CUT = 0x80
"""Bit in the first byte of a report: not everybody is listed."""
MOST = 65535
"""Ids that one list of a report can hold."""
ENTRY = 50
"""Bytes that one id of a report counts for, beside its text and its answer."""


class Publisher(Protocol):
    """What a hold knows of the session whose message it is."""

    client_id: str
    durable: bool
    ended: bool
    connection: Peer | None
    reports: list[str]
    received: dict[int, Any]
    held: dict[int, Hold] | None
    open_holds: int


class Status(IntEnum):
    """How a hold ended.

    Attributes
    ----------
    COMPLETE : int
        Enough subscribers have acknowledged.
    SHORT : int
        Nobody is left to wait for, and it was not enough.
    TIMEOUT : int
        The time limit was reached.

    Examples
    --------
    >>> Status(2).name
    'TIMEOUT'
    """

    COMPLETE = 0
    SHORT = 1
    TIMEOUT = 2


class Missing(IntEnum):
    """Why a subscriber has not acknowledged.

    Attributes
    ----------
    NO_ANSWER : int
        It was sent the message and has not answered.
    NOT_SUBSCRIBED : int
        It was named, but does not subscribe.
    QOS_0 : int
        It subscribes with QoS 0, where nothing is acknowledged.
    OFFLINE : int
        It is away; its session is kept.
    QUEUE_FULL : int
        Too much waits for it already: the message was dropped.
    SESSION_ENDED : int
        Its session ended before it answered.

    Examples
    --------
    >>> Missing(4).name
    'OFFLINE'
    """

    NO_ANSWER = 1
    NOT_SUBSCRIBED = 2
    QOS_0 = 3
    OFFLINE = 4
    QUEUE_FULL = 5
    SESSION_ENDED = 6

    @property
    def words(self) -> str:
        """The reason as the client's messages give it."""
        return self.name.lower().replace("_", " ").replace("qos 0", "subscribed at QoS 0")


@dataclass(frozen=True, slots=True)
class Report:
    """What a broker knows about one message: who has acknowledged when, who has not, and why.

    Parameters
    ----------
    status : Status
        Whether enough have acknowledged.
    acknowledged : dict
        Client id -> microseconds after the broker had the PUBLISH, and the data that the answer carried.
    missing : dict
        Client id -> reason.
    cut : bool
        There are more than are listed: a report has a greatest size.

    Examples
    --------
    >>> Report(Status.COMPLETE).missing
    {}
    """

    status: Status
    acknowledged: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    missing: dict[str, Missing] = field(default_factory=dict)
    cut: bool = False

    def encode(self) -> bytes:
        """Write the bytes that follow the packet id in a PUBREC of QoS 3.

        Returns
        -------
        bytes
            Status, who has acknowledged, who has not.

        Raises
        ------
        MalformedError
            If one of the lists has more than 65,535 ids.
        """
        if max(len(self.acknowledged), len(self.missing)) > MOST:
            raise MalformedError(f"a report lists at most {MOST} ids")
        out = [bytes((self.status | (CUT if self.cut else 0),)), len(self.acknowledged).to_bytes(2, "big")]
        for name, (micros, data) in self.acknowledged.items():
            raw = name.encode()
            out += [len(raw).to_bytes(2, "big"), raw, min(micros, 2**32 - 1).to_bytes(4, "big")]
            out += [len(data).to_bytes(4, "big"), data]
        out.append(len(self.missing).to_bytes(2, "big"))
        for name, reason in self.missing.items():
            raw = name.encode()
            out += [len(raw).to_bytes(2, "big"), raw, bytes((reason,))]
        return b"".join(out)

    @classmethod
    def decode(cls, data: bytes) -> Report:
        """Read what :meth:`encode` wrote.

        Raises
        ------
        MalformedError
            If the bytes are not a report.
        """
        pos = 0

        def take(n: int) -> bytes:
            nonlocal pos
            pos += n
            if pos > len(data):
                raise MalformedError("the report of a PUBREC ends inside a field")
            return data[pos - n : pos]

        def number(n: int) -> int:
            return int.from_bytes(take(n), "big")

        try:
            first = number(1)
            status = Status(first & ~CUT)
            acknowledged = {}
            for _ in range(number(2)):
                name = take(number(2)).decode()
                acknowledged[name] = (number(4), take(number(4)))
            missing = {take(number(2)).decode(): Missing(number(1)) for _ in range(number(2))}
        except MalformedError:
            raise
        except ValueError as error:
            raise MalformedError(f"not a report: {error}") from None
        if pos != len(data):
            raise MalformedError("bytes behind the report of a PUBREC")
        return cls(status, acknowledged, missing, first >= CUT)


class Ledger(Protocol):
    """What counts all that is held for clients."""

    held: int

    def keep(self, size: int) -> bool:
        """Count so many bytes, if there is room."""


class Hold:
    """One message whose publisher waits for its subscribers."""

    __slots__ = (
        "acknowledged", "address", "begun", "counted", "cut", "kept", "ledger", "missing", "named", "need", "number",
        "packet_id", "publisher", "qos", "report", "room", "settled", "started", "status", "timer", "waiting",
    )  # fmt: skip

    def __init__(
        self,
        publisher: Publisher,
        packet_id: int,
        qos: int,
        need: int,
        named: Iterable[str],
        report: bool,
        address: str,
        settled: Callable[[Hold], None],
        room: int = 2**20,
    ) -> None:
        self.publisher = publisher
        self.packet_id = packet_id
        self.qos = qos
        self.need = need
        self.named = frozenset(named) if need else frozenset()
        self.report = report
        self.address = address
        self.settled = settled
        self.started = time.monotonic()
        self.acknowledged: dict[str, tuple[int, bytes]] = {}
        self.missing: dict[str, Missing] = {}
        self.waiting: set[str] = set()
        self.status: Status | None = None
        self.timer: TimerHandle | None = None
        self.number = 0
        self.begun = False
        self.room = room
        self.kept = 0
        self.cut = False
        self.ledger: Ledger | None = None  # counts the answers, as long as this is there
        self.counted = 0

    def __del__(self) -> None:
        if self.ledger is not None:
            self.ledger.held -= self.counted

    def follow(self, before: Hold) -> None:
        """Take over the answers to the hold of the same message that was there before."""
        self.acknowledged, self.number, self.kept = before.acknowledged, before.number, before.kept
        self.counted, before.counted = before.counted, 0

    def expect(self, client_id: str) -> None:
        """`client_id` is sent the message in a way that it can acknowledge."""
        if (not self.named or client_id in self.named) and client_id not in self.acknowledged:
            self.waiting.add(client_id)

    def cannot(self, client_id: str, reason: Missing) -> None:
        """`client_id` will not acknowledge (or not before it comes back)."""
        if not self.named or client_id in self.named:
            self.missing[client_id] = reason

    def begin(self) -> None:
        """All subscribers are known: fix what "all" means, and see whether there is anybody to wait for."""
        for name in self.named:
            if name not in self.waiting and name not in self.missing and name not in self.acknowledged:
                self.missing[name] = Missing.NOT_SUBSCRIBED
        if self.need == WAIT_FOR_ALL:
            self.need = len(self.named) or len(self.waiting) + len(self.acknowledged) or 1
        elif not self.need:
            self.need = 1
        self.begun = True
        if self.status is None:
            self._check()

    def acknowledge(self, client_id: str, data: bytes = b"") -> None:
        """Count a subscriber; once only, however often it answers."""
        if self.status is None and client_id in self.waiting:
            self.waiting.remove(client_id)
            if self.missing:
                self.missing.pop(client_id, None)
            size = len(data)
            self.kept += size
            if self.kept > self.room or (size and self.ledger is not None and not self.ledger.keep(size)):
                data, self.cut = b"", True
            else:
                self.counted += size
            self.acknowledged[client_id] = (int((time.monotonic() - self.started) * 1e6), data)
            if not self.waiting or len(self.acknowledged) >= self.need:
                self._check()

    def lose(self, client_id: str, reason: Missing) -> None:
        """The message will never be acknowledged by `client_id`."""
        if self.status is None and client_id in self.waiting:
            self.waiting.discard(client_id)
            self.missing[client_id] = reason
            self._check()

    def expire(self) -> None:
        """The time limit is reached."""
        if self.status is None:
            self._settle(Status.TIMEOUT)

    def _check(self) -> None:
        if not self.begun:
            return  # it is still being handed out: neither "all" nor "nobody" is known
        if len(self.acknowledged) >= self.need:
            self._settle(Status.COMPLETE)
        elif not self.waiting:
            self._settle(Status.SHORT)

    def _settle(self, status: Status) -> None:
        self.status = status
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        self.settled(self)

    def outcome(self) -> Report:
        """Tell how things stand, as far as there is room."""
        status = Status.TIMEOUT if self.status is None else self.status
        room = self.room
        acknowledged: dict[str, tuple[int, bytes]] = {}
        for name, (micros, data) in self.acknowledged.items():
            room -= ENTRY + len(name.encode()) + len(data)
            if room < 0:
                break
            acknowledged[name] = micros, data
        silent = sorted(islice(self.waiting, max(0, room) // ENTRY + 1))
        missing: dict[str, Missing] = {}
        for name, why in chain(((x, Missing.NO_ANSWER) for x in silent), self.missing.items()):
            room -= ENTRY + len(name.encode())
            if room < 0:
                break
            missing[name] = why
        return Report(status, acknowledged, missing, self.cut or room < 0)

    def as_json(self) -> str:
        """Tell the outcome to those who cannot receive a :class:`Report` (unmodified clients, the store)."""
        report = self.outcome()
        return json.dumps(
            {
                "status": report.status.name.lower(),
                "needed": self.need,
                "acknowledged": {name: micros for name, (micros, _) in report.acknowledged.items()},
                "missing": {name: reason.words for name, reason in report.missing.items()},
            }
            | ({"cut": True} if report.cut else {})
        )

    def dump(self) -> str:
        """Write the state for the store."""
        return json.dumps(
            {
                "packet_id": self.packet_id,
                "qos": self.qos,
                "need": self.need,
                "named": sorted(self.named),
                "report": self.report,
                "address": self.address,
                "acknowledged": {k: [t, d.hex()] for k, (t, d) in self.acknowledged.items()},
                "missing": {k: int(v) for k, v in self.missing.items()},
                "waiting": sorted(self.waiting),
                "status": self.status,
            }
        )

    @classmethod
    def restore(cls, text: str, publisher: Publisher, settled: Callable[[Hold], None]) -> Hold:
        """Read what :meth:`dump` wrote."""
        d = json.loads(text)
        hold = cls(publisher, d["packet_id"], d["qos"], d["need"], d["named"], d["report"], d["address"], settled)
        hold.begun = True
        hold.acknowledged = {k: (t, bytes.fromhex(x)) for k, (t, x) in d["acknowledged"].items()}
        hold.missing = {k: Missing(v) for k, v in d["missing"].items()}
        hold.waiting = set(d["waiting"])
        hold.status = None if d["status"] is None else Status(d["status"])
        return hold
