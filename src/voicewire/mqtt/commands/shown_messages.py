"""A message as `sub` prints it: bytes as they came, or something that a terminal shows and does not obey."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from voicewire._kit.options import visible

if TYPE_CHECKING:
    from voicewire.mqtt.packets import Publish

__all__: list[str] = []  # the command's inside: only this room's own modules use it

def readable(data: bytes) -> str:
    """Return bytes as text, if they are; what is not is shown as \\xNN."""
    return visible(data.decode(errors="backslashreplace"))


def as_json(packet: Publish, now: datetime) -> str:
    """Return a message as one line of JSON, with mosquitto_sub's names; what is no text is in `payload_hex`."""
    told: dict[str, object] = {
        "tst": now.isoformat(timespec="milliseconds"), "topic": packet.topic, "qos": packet.qos,
        "retain": int(packet.retain), "payloadlen": len(packet.payload),
    }  # fmt: skip
    try:
        told["payload"] = packet.payload.decode()
    except UnicodeDecodeError:
        told["payload_hex"] = packet.payload.hex()
    return json.dumps(told)


def printer(how: str | None, topic_too: bool, newline: bool) -> Callable[[Publish], None]:
    """Return what prints a message; `how` is raw by default, and text where a terminal would obey what comes."""
    how = how or ("text" if sys.stdout.isatty() else "raw")
    end = "\n" if newline else ""

    def show(packet: Publish) -> None:
        if how == "raw":
            sys.stdout.flush()
            head = packet.topic.encode() + b" " if topic_too else b""
            sys.stdout.buffer.write(head + packet.payload + end.encode())
            sys.stdout.buffer.flush()
            return
        if how == "json":
            shown = as_json(packet, datetime.now().astimezone())
        else:
            shown = readable(packet.payload) if how == "text" else packet.payload.hex()
            shown = f"{visible(packet.topic)} {shown}" if topic_too else shown
        print(shown, end=end, flush=True)

    return show
