"""A connection that ends loses nothing: what has come and was acknowledged stays, what was forgotten is forgotten."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from voicewire.mqtt import Broker, Config, DisconnectedError
from voicewire.mqtt import packets as p
from voicewire.mqtt.client import Client
from voicewire.mqtt.raw_socket_client import connect


@pytest.fixture
async def running() -> AsyncIterator[Broker]:
    async with Broker(Config(port=0)) as broker:
        yield broker


async def _until(condition: object) -> None:
    for _ in range(2000):
        if condition():  # type: ignore[operator]
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it never came")


@pytest.mark.parametrize("clean", [False, True])
@pytest.mark.parametrize("lost", ["by us", "by the broker", "unnoticed"])
async def test_what_was_acknowledged_is_not_lost(running: Broker, clean: bool, lost: str) -> None:
    """The broker has the acknowledgements and will never send these again: they wait for whoever receives."""
    a = Client(port=running.port, client_id="a", clean=clean)
    await a.connect()
    await a.subscribe("t", qos=2)
    async with Client(port=running.port) as b:
        for n in range(5):
            await b.publish("t", b"%d" % n, 1 + n % 2)
        await _until(lambda: a._inbox.qsize() == 5)
        if lost == "by us":
            a.abort()
            await asyncio.sleep(0.05)
        elif lost == "by the broker":
            wire = await asyncio.to_thread(connect, running.port, "a", False, not clean)
            await asyncio.sleep(0.05)
            wire.close()
        await a.connect()  # "unnoticed": the old connection still looks open
        await a.subscribe("t", qos=2)
        await b.publish("t", b"5", 2)
        assert [(await a.receive(5)).payload for _ in range(6)] == [b"%d" % n for n in range(6)]
        with pytest.raises(TimeoutError):  # and the end of the old connection is no end of the new one
            await a.receive(0.05)
        await a.disconnect()
        with pytest.raises(DisconnectedError):
            await a.receive(1)


async def test_a_receiver_waits_through_a_reconnection(running: Broker) -> None:
    a = Client(port=running.port, client_id="a", clean=False)
    await a.connect()
    await a.subscribe("t", qos=2)
    waiting = asyncio.create_task(a.receive())
    await asyncio.sleep(0)
    a.abort()
    await a.connect()
    with pytest.raises(DisconnectedError):
        await waiting
    async with Client(port=running.port) as b:
        await b.publish("t", b"x", 2)
    assert (await a.receive(5)).payload == b"x"
    await a.disconnect()


async def test_connecting_twice_leaves_one_connection(running: Broker) -> None:
    """The end of the first must not be taken for the end of the second."""
    a = Client(port=running.port, client_id="a", clean=False)
    await a.connect()
    for _ in range(3):
        await a.connect()
        await a.subscribe("t", qos=1)
        await a.publish("t", b"x", 1)
        assert (await a.receive(5)).payload == b"x"
    await _until(lambda: len(running.connections) == 1)
    await a.disconnect()


@pytest.mark.parametrize("present", [False, True])
async def test_a_session_that_the_broker_forgot(present: bool) -> None:
    """Its packet ids begin anew: a new message is not one that has come before. If it was kept, the same id is."""
    numbers = iter(range(2))

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        n = next(numbers)
        await reader.read(100)
        writer.write(p.encode(p.Connack(present and n > 0, 0)))
        writer.write(p.encode(p.Publish("t", b"%d" % n, 2, packet_id=1)))
        await reader.read(100)  # PUBREC
        if n == 1:
            await reader.read(100)  # DISCONNECT
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        a = Client(port=server.sockets[0].getsockname()[1], client_id="a", clean=False, keep_alive=0)
        await a.connect()
        assert (await a.receive(5)).payload == b"0"
        with pytest.raises(DisconnectedError):
            await a.receive(5)
        assert await a.connect() is present
        if present:
            with pytest.raises(TimeoutError):
                await a.receive(0.1)
        else:
            assert (await a.receive(5)).payload == b"1"
        await a.disconnect()
