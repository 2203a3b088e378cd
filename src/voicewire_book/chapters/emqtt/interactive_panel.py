"""The panel of the book's pages: a publisher, the broker and subscribers in one program, moved by a reader's buttons.

The protocol is here, on the broker that serves sockets too; the page's script shows what it is told and asks for more.
Both speak JSON. Nothing is kept between two questions: each has the whole list of what the reader has done.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from voicewire._kit import checks
from voicewire.emqtt import paper
from voicewire.emqtt.trace import BROKER, PUBLISHER, SUBSCRIBER
from voicewire.mqtt import packets as p
from voicewire.mqtt.config import Config
from voicewire.mqtt.in_memory_broker import MemoryBroker
from voicewire.mqtt.sessions.hold import Hold, Report, Status
from voicewire.mqtt.sessions.session import RELEASED
from voicewire_book.chapters.emqtt._memory_client import HELLO, Party, settle

__all__ = ["DEADLINE", "MOST", "Panel", "play"]

DEADLINE: Final = 30
"""Seconds after which the broker tells a publisher at QoS 3 who has acknowledged, enough or not."""
MOST: Final = 60
"""Actions of one exchange; its chart is long by then."""
FIELDS: Final[Mapping[str, Mapping[str, checks.Rule]]] = {
    "publish": {"qos": checks.whole(0, 3), "wait": checks.whole(0, 4), "retain": checks.a(bool)},
    "on": {"who": checks.whole(1, 4)},
    "off": {"who": checks.whole(1, 4)},
    "break": {"who": checks.whole(1, 4)},
    "session": {"who": checks.whole(1, 4), "kept": checks.a(bool)},
    "time": {},
}
"""What can be done, and what has to be said of it."""


class _Publisher(Party):
    """Besides, it notes what came back for each packet id."""

    def take(self, packet: p.Packet) -> None:
        if isinstance(packet, p.Puback | p.Pubrec):
            data = packet.data if isinstance(packet, p.Pubrec) else b""
            self.answers[packet.packet_id] = Report.decode(data) if data else None
        super().take(packet)

    answers: dict[int, Report | None]


class Panel:
    """One publisher and some subscribers of one topic, all connected at first, with sessions that are kept.

    The subscribers ask for QoS 3, so that each message comes to them at the QoS with which it was published.
    """

    @checks.takes(subscribers=checks.whole(1, 4))
    def __init__(self, subscribers: int = 2) -> None:
        self._broker = MemoryBroker(Config(sys_interval=0))
        self._broker.__enter__()
        self._rows: list[dict[str, Any]] = []
        self._publisher = _Publisher(PUBLISHER, self._broker, self._seen, ((HELLO, 3),))
        self._publisher.answers = {}
        self._others = [
            Party(f"{SUBSCRIBER} {n}", self._broker, self._seen, ((paper.TOPIC, 3),)) for n in range(1, subscribers + 1)
        ]
        self._all = [self._publisher, *self._others]
        self._columns = [PUBLISHER, BROKER, *(client.name for client in self._others)]
        self._sent: list[p.Publish] = []
        for client in self._all:
            client.connect()
        settle(self._broker, self._all)
        self._rows.clear()
        self._done = 0

    def state(self) -> dict[str, Any]:
        """Tell how things stand."""
        rows = []
        for client in self._others:
            has = [payload.decode() for payload in client.got]
            rows.append({"name": client.name, "on": client.connected, "kept": not client.clean,
                         "breaks": client.breaks, "waiting": self._waiting(client), "has": has})  # fmt: skip
        waits = [sent.payload.decode() for sent in self._sent if sent.qos == 3 and self._hold(sent)]
        return {"columns": self._columns, "subscribers": rows, "open": waits}

    def do(self, action: Mapping[str, Any]) -> dict[str, Any]:
        """Do what the reader asks, until nobody has anything to say."""
        action = self._checked(action)
        client = self._others[action["who"] - 1] if "who" in action else self._publisher
        before, answered = len(client.got), set(self._publisher.answers)
        said = [getattr(self, f"_{action['do']}")(client, action)]
        settle(self._broker, self._all)
        self._done += 1
        if action["do"] in ("on", "session") and client.connected:
            new = [payload.decode() for payload in client.got[before:]]
            said.append(f"It gets {_listed(new)}." if new else "It gets nothing new.")
        said += [row["words"] + "." for row in self._rows if row["kind"] == "break"]
        said += self._told(answered, action["do"] == "publish")
        for other in self._others:
            if number := self._waiting(other):
                said.append(f"{number} {'message waits' if number == 1 else 'messages wait'} for {other.name}.")
        rows, self._rows = self._rows, []
        return self.state() | {"rows": rows, "said": " ".join(text[0].upper() + text[1:] for text in said)}

    def close(self) -> None:
        """End the broker."""
        self._broker.__exit__(None, None, None)

    # ------------------------------------------------------------------ what can be done
    def _checked(self, action: Mapping[str, Any]) -> dict[str, Any]:
        if not isinstance(action, Mapping) or action.get("do") not in FIELDS:
            raise ValueError(f"no such action: {action!r}; there are {', '.join(FIELDS)}")
        fields = FIELDS[action["do"]]
        if set(action) != {"do", *fields}:
            raise ValueError(f"{action['do']} needs {_listed(sorted(fields)) or 'nothing else'}, and got {action!r}")
        found = {name: rule(name, action[name], ValueError) for name, rule in fields.items()} | {"do": action["do"]}
        if self._done >= MOST:
            raise ValueError(f"{MOST} steps are enough for one chart: start anew")
        count = len(self._others)
        if max(found.get("who", 1), found.get("wait", 0)) > count:
            raise ValueError(f"there are {count} subscribers, from 1 to {count}")
        if found["do"] in ("on", "off", "break"):
            client = self._others[found["who"] - 1]
            if client.connected is (found["do"] == "on"):
                raise ValueError(f"{client.name} is {'on' if client.connected else 'off'} already")
        return found

    def _publish(self, client: Party, action: Mapping[str, Any]) -> str:
        qos, name = action["qos"], f"m{len(self._sent) + 1}"
        more: dict[str, Any] = {}
        if qos == 3:
            more = {"waited": action["wait"] or p.WAIT_FOR_ALL, "report": True, "limit": round(DEADLINE / p.TICK)}
        packet_id = len(self._sent) + 1 if qos else 0
        packet = p.Publish(paper.TOPIC, name.encode(), qos, action["retain"], packet_id=packet_id, **more)
        self._sent.append(packet)
        client.send(packet)
        return f"Message {name} is published at QoS {qos}."

    def _on(self, client: Party, action: Mapping[str, Any]) -> str:
        client.connect()
        return f"{client.name} is switched on."

    def _off(self, client: Party, action: Mapping[str, Any]) -> str:
        client.disconnect()
        client.breaks = False
        return f"{client.name} is switched off; its session {'has ended' if client.clean else 'is kept'}."

    def _break(self, client: Party, action: Mapping[str, Any]) -> str:
        client.breaks = True
        return f"The link of {client.name} will break when its next message is there."

    def _session(self, client: Party, action: Mapping[str, Any]) -> str:
        client.clean = not action["kept"]
        how = "a clean session" if client.clean else "a session that is kept"
        if not client.connected:
            return f"{client.name} will connect with {how}."
        client.disconnect()
        self._broker.run()
        client.connect()
        return f"{client.name} connects anew, with {how}."

    def _time(self, client: Party, action: Mapping[str, Any]) -> str:
        self._row({"at": None, "kind": "time"}, f"{DEADLINE} s", f"{DEADLINE} seconds pass")
        self._broker.run(float(DEADLINE))
        return f"{DEADLINE} seconds pass."

    # ------------------------------------------------------------------ what is told
    def _waiting(self, client: Party) -> int:
        """Count the messages at the broker that a subscriber has not acknowledged."""
        session = self._broker.broker.sessions.get(client.name)
        if session is None:
            return 0
        unanswered = [
            message for message, _, _ in session.inflight.values()
            if message is not RELEASED and not (message.hold and client.name in message.hold.acknowledged)
        ]  # fmt: skip
        return len(unanswered) + len(session.queue or ())

    def _hold(self, sent: p.Publish) -> Hold | None:
        """Return what the broker keeps a publisher's answer back by, while it does."""
        hold = self._broker.broker.sessions[PUBLISHER].received.get(sent.packet_id)
        return hold if isinstance(hold, Hold) and hold.status is None else None

    def _told(self, before: set[int], published: bool) -> list[str]:
        """Say of each message what its publisher has heard just now, or still waits for."""
        said = []
        for number, sent in enumerate(self._sent, 1):
            name = sent.payload.decode()
            new = sent.packet_id in self._publisher.answers and sent.packet_id not in before
            if sent.qos == 0 and published and number == len(self._sent):
                said.append("The publisher gets no answer.")
            elif sent.qos in (1, 2) and new:
                said.append(f"The publisher has the broker's {'PUBACK' if sent.qos == 1 else 'PUBREC and PUBCOMP'}.")
            elif sent.qos == 3 and new:
                said.append(_reported(name, self._publisher.answers[sent.packet_id]))
            elif hold := self._hold(sent):
                count = len(hold.acknowledged)
                said.append(f"The publisher waits: {count} of {hold.need} wanted {_have(count)} acknowledged {name}.")
        return said

    def _seen(self, source: str, target: str, packet: p.Packet) -> None:
        parts = _parts(packet)
        row = {"from": self._columns.index(source), "to": self._columns.index(target), "kind": _kind(packet)}
        self._row(row, " · ".join(parts), f"{source} to {target}: " + ", ".join(parts))
        client = next((client for client in self._others if client.name == target), None)
        if client is not None and client.breaks and isinstance(packet, p.Publish):
            words = f"The link of {target} breaks before it has answered"
            self._row({"at": row["to"], "kind": "break"}, "link breaks", words)

    def _row(self, row: dict[str, Any], label: str, words: str) -> None:
        off = [number for number, client in enumerate(self._others, 2) if not client.connected]
        self._rows.append(row | {"off": off, "label": label, "words": words})


def _kind(packet: p.Packet) -> str:
    if isinstance(packet, p.Publish):
        return "publish"
    return "answer" if isinstance(packet, p.Puback | p.Pubrec | p.Pubrel | p.Pubcomp) else "session"


def _parts(packet: p.Packet) -> list[str]:
    """Return what a row says of a packet."""
    parts = [type(packet).__name__.upper()]
    match packet:
        case p.Publish():
            parts[0] += f" {packet.payload.decode()}"
            parts.append(f"QoS {packet.qos}")
            parts += [f"id {packet.packet_id}"] if packet.packet_id else []
            parts += ["DUP"] if packet.dup else []
            parts += ["RETAIN"] if packet.retain else []
        case p.Pubrec(number, qos, data):
            parts += (["QoS 3"] if qos == 3 else []) + [f"id {number}"]
            parts += [Report.decode(data).status.name.lower()] if data else []
        case p.Pubrel(number, qos) | p.Pubcomp(number, qos):
            parts += (["QoS 3"] if qos == 3 else []) + [f"id {number}"]
        case p.Puback(number):
            parts.append(f"id {number}")
        case p.Connect():
            parts.append(f"clean session {packet.clean:d}")
        case p.Connack(present, _):
            parts.append(f"session present {present:d}")
        case p.Subscribe(_, topics):
            parts[0] += f" {topics[0][0]}"
            parts.append(f"QoS {topics[0][1]}")
    return parts


def _reported(name: str, report: Report | None) -> str:
    """Say what the end-to-end acknowledgement of a message says."""
    if report is None:
        return f"The end-to-end acknowledgement of {name} has come."
    count = len(report.acknowledged)
    who = f"{_listed(list(report.acknowledged)) or 'nobody'} {_have(count or 1)} acknowledged it"
    if report.status is Status.COMPLETE:
        return f"The end-to-end acknowledgement of {name} has come: {who}."
    why = "the deadline has passed" if report.status is Status.TIMEOUT else "nobody is left to wait for"
    missing = [f"{client} has not ({reason.words})" for client, reason in report.missing.items()]
    return f"The broker reports on {name}, since {why}: {', '.join([who, *missing])}."


def _have(count: int) -> str:
    return "has" if count == 1 else "have"


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


@checks.takes(asked=checks.a(str))
def play(asked: str) -> str:
    """Do all that a reader has done, on a new broker, and tell what the last of it has brought."""
    try:
        wanted = json.loads(asked)
        if not isinstance(wanted, dict) or set(wanted) != {"subscribers", "actions"}:
            raise ValueError("asked needs subscribers and actions")
        if not isinstance(wanted["actions"], list):
            raise ValueError("actions must be a list")
        panel = Panel(wanted["subscribers"])
        try:
            told = panel.state() | {"rows": [], "said": ""}
            for action in wanted["actions"]:
                told = panel.do(action)
        finally:
            panel.close()
    except ValueError as error:
        return json.dumps({"refused": str(error)}, ensure_ascii=False)
    return json.dumps(told, ensure_ascii=False)
