"""What `voicewire sub` does: messages as they come, and a connection that is made again when it is lost."""

from __future__ import annotations

import argparse
import asyncio
import random

from voicewire.mqtt.commands import client_options
from voicewire.mqtt.commands.shown_messages import printer
from voicewire.mqtt.errors import DisconnectedError, MQTTError, RefusedError
from voicewire.mqtt.packets import Publish
from voicewire.mqtt.topics import check_filter, matches

__all__: list[str] = []  # the command's inside: only this room's own modules use it

SHORTEST, LONGEST = 0.5, 30.0
"""Seconds between two attempts to connect: the first, and the most. A connection that lasts longer begins anew."""
UNAVAILABLE = 3
"""The one return code of CONNACK that may be another one next time."""


class Listener:
    """One run of `sub`."""

    def __init__(self, options: argparse.Namespace) -> None:
        answer = None if options.answer is None else options.answer.encode()
        self._options = options
        self._client = client_options.client(options, **({} if answer is None else {"answer": lambda _: answer}))
        for topic in (*options.topic, *options.filter_out):
            check_filter(topic)
        self._show = printer(options.format, options.verbose, not options.no_newline)
        self._delay = SHORTEST
        self._since = 0.0

    async def run(self) -> None:
        """Print messages until there are enough of them, or time is up."""
        loop = asyncio.get_running_loop()
        options = self._options
        end = None if options.wait is None else loop.time() + options.wait
        async with client_options.connected(self._client, options.wait):
            self._since = loop.time()
            await self._subscribe()
            left = options.count
            while left is None or left > 0:
                idle = None if options.timeout is None else loop.time() + options.timeout
                try:
                    async with asyncio.timeout_at(min((t for t in (end, idle) if t is not None), default=None)):
                        packet = await self._wanted()
                except TimeoutError:
                    if left is None:
                        return
                    raise MQTTError(f"{left} of {options.count} messages did not come") from None
                self._show(packet)
                left = None if left is None else left - 1

    async def _wanted(self) -> Publish:
        """Wait for a message that is not filtered out."""
        while True:
            packet = await self._next()
            if packet.retain and self._options.no_retained:
                continue
            if not any(matches(pattern, packet.topic) for pattern in self._options.filter_out):
                return packet

    async def _next(self) -> Publish:
        while True:
            try:
                return await self._client.receive()
            except DisconnectedError as error:
                if self._options.no_reconnect:
                    raise
                await self._again(error)

    async def _subscribe(self) -> None:
        topics = self._options.topic
        codes = await self._client.subscribe(*topics, qos=self._options.qos)
        for topic, code in zip(topics, codes, strict=True):
            if code == 0x80:
                reason = await self._client.refusal(topic) or "it gives no reason (MQTT 3.1.1 has no room for one)"
                raise MQTTError(f"the broker refuses the subscription to {topic!r}: {reason}")

    async def _again(self, error: MQTTError) -> None:
        """Connect again, at intervals that double; a broker that says no for good ends it."""
        loop = asyncio.get_running_loop()
        lost = loop.time()
        if lost - self._since > LONGEST:
            self._delay = SHORTEST
        while True:
            pause = self._delay * random.uniform(0.5, 1.0)  # not all clients at the same moment
            self._say(f"{error}; connecting again in {pause:.1f} s")
            await asyncio.sleep(pause)
            self._delay = min(2 * self._delay, LONGEST)
            try:
                known = await self._client.connect()
                await self._subscribe()
                break
            except RefusedError as refused:
                if refused.code != UNAVAILABLE:
                    raise
                error = refused
            except DisconnectedError as again:
                error = again
        self._since = loop.time()
        self._say(f"connected again after {self._since - lost:.1f} s; {self._missed(known)}")

    def _missed(self, known: bool) -> str:
        if known:
            return "the broker has kept the session"
        if self._options.keep_session:
            return "the broker does not know the session any more: what was sent meanwhile may be lost"
        return "what was sent meanwhile is lost (-c and -i ask the broker to keep it)"

    def _say(self, words: str) -> None:
        client_options.say("sub", words)
