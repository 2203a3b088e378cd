"""What `voicewire pub` does: payloads from the command line, a file or standard input, published one by one."""

from __future__ import annotations

import argparse
import asyncio
import io
import os
import sys
import threading
from collections.abc import AsyncIterator, Iterator

from voicewire._kit.options import visible
from voicewire.mqtt.client import Client
from voicewire.mqtt.client_delivery import Delivery
from voicewire.mqtt.commands import client_options
from voicewire.mqtt.commands.shown_messages import readable
from voicewire.mqtt.errors import DisconnectedError, MQTTError
from voicewire.mqtt.packets import MAX_REMAINING

__all__: list[str] = []  # the command's inside: only this room's own modules use it


async def publish(options: argparse.Namespace) -> None:
    """Publish all that is asked for; at QoS 0 too the broker has read it when this ends."""
    whole = None if options.stdin_line else _payload(options)
    sent = 0
    client = client_options.client(options)
    async with client_options.connected(client, options.timeout):
        try:
            async for payload in _lines() if whole is None else _repeated(whole, options):
                _tell(await _one(client, options, payload))
                sent += 1
            if not options.qos:
                await client.flush(options.timeout)
        except DisconnectedError as error:
            answered = options.qos or options.wait_for is not None or options.subscriber
            done = "acknowledged" if answered else "handed over"
            count = f"{sent} message{'s' if sent > 1 else ''} had been {done} before"
            raise MQTTError(f"{error} ({count})" if sent > (not answered) else str(error)) from None
        except TimeoutError:
            raise MQTTError(f"the broker has not read the message within {options.timeout:g} s") from None


def _payload(options: argparse.Namespace) -> bytes:
    if options.message is not None:
        return bytes(options.message)
    if options.file is not None:
        return bytes(options.file.read_bytes())
    return b"" if options.null_message else sys.stdin.buffer.read()


async def _repeated(payload: bytes, options: argparse.Namespace) -> AsyncIterator[bytes]:
    for i in range(options.repeat):
        if i and options.repeat_delay:
            await asyncio.sleep(options.repeat_delay)
        yield payload


async def _one(client: Client, options: argparse.Namespace, payload: bytes) -> Delivery:
    return await client.publish(
        options.topic, payload, options.qos, retain=options.retain, wait_for=options.wait_for,
        subscribers=options.subscriber, timeout=options.timeout,
    )  # fmt: skip


def _tell(delivery: Delivery) -> None:
    for name, seconds in delivery.acknowledged.items():
        answer = delivery.answers.get(name)
        told = "" if answer is None else f"  {readable(answer)}"
        print(f"{visible(name)}  {seconds * 1000:.1f} ms{told}")


async def _lines() -> AsyncIterator[bytes]:
    """Lines of standard input as they come, without their ends; an empty one is a message without payload."""
    loop = asyncio.get_running_loop()
    waiting: asyncio.Queue[bytes | MQTTError | None] = asyncio.Queue()
    room = threading.Semaphore(100)

    def put(line: bytes | MQTTError | None) -> None:
        room.acquire()  # where nobody takes lines any more, this thread waits here until the process ends
        loop.call_soon_threadsafe(waiting.put_nowait, line)

    def read() -> None:
        try:
            for line in _split():
                put(line)
            put(None)
        except MQTTError as error:
            put(error)
        except RuntimeError:  # the loop has ended meanwhile: nobody wants more
            pass

    threading.Thread(target=read, daemon=True).start()  # a read cannot be broken off, and an executor waits for it
    while (line := await waiting.get()) is not None:
        room.release()
        if isinstance(line, MQTTError):
            raise line
        yield line


def _split() -> Iterator[bytes]:
    """Cut standard input into lines, without the locks of its buffer: a thread may be left in the middle of a read."""
    try:
        number: int | None = sys.stdin.fileno()
    except (OSError, ValueError, io.UnsupportedOperation):
        number = None
    rest: list[bytes] = []
    size = 0
    while data := os.read(number, 65536) if number is not None else sys.stdin.buffer.read(65536):
        first, *more = data.split(b"\n")
        rest.append(first)
        size += len(first)
        if size > MAX_REMAINING:
            raise MQTTError(f"a line of more than {MAX_REMAINING:,} bytes: no MQTT message may be longer")
        if more:
            yield b"".join(rest)
            yield from more[:-1]
            rest, size = [more[-1]], len(more[-1])
    if size:
        yield b"".join(rest)
