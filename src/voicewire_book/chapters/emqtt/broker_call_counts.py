"""What a publication costs the broker, counted and not timed: the calls of its own functions."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from types import FrameType

import voicewire.mqtt
from voicewire._kit import checks
from voicewire.emqtt import paper
from voicewire.mqtt import packets as p
from voicewire.mqtt.config import Config
from voicewire.mqtt.raw_socket_client import subscribed
from voicewire.mqtt.serving.broker_thread import BrokerThread

__all__ = ["calls"]

_ROOM = str(Path(voicewire.mqtt.__file__).parent)


@checks.takes(qos=checks.one_of(2, 3), n=checks.whole(1, 1000))
def calls(qos: int, n: int = 10) -> int:
    """Count the calls of the broker's Python functions for one publication to `n` subscribers that publish nothing.

    The subscribers answer one after the other, each complete before the next, so that two runs do the same.
    """
    counted = [0]

    def count(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(_ROOM):
            counted[0] += 1

    async def watch(on: bool) -> None:
        sys.setprofile(count if on else None)

    with BrokerThread(Config(port=0, sys_interval=0, favours=False)) as broker:
        wires = [subscribed(broker.port, paper.TOPIC, qos=qos) for _ in range(n)]
        with subscribed(broker.port, "$e2e/hello", qos=3) as pub:
            asyncio.run_coroutine_threadsafe(watch(True), broker.broker.loop).result()
            pub.send(p.Publish(paper.TOPIC, paper.PAYLOAD, qos, packet_id=1, waited=n if qos == 3 else 0))
            if qos == 2:
                pub.expect(p.Pubrec(1))
            for wire in wires:
                got = wire.publication()
                wire.send(p.Pubrec(got.packet_id, qos))
                wire.expect(p.Pubrel(got.packet_id, qos))
                wire.send(p.Pubcomp(got.packet_id, qos), p.Pingreq())  # in one piece: the broker reads them at once
                wire.expect(p.Pingresp())
            if qos == 3:
                pub.expect(p.Pubrec(1, 3))
            pub.send(p.Pubrel(1, qos))
            pub.expect(p.Pubcomp(1, qos))
            asyncio.run_coroutine_threadsafe(watch(False), broker.broker.loop).result()
        for wire in wires:
            wire.close()
    return counted[0]
