"""The asyncio client: QoS 0 to 3, who has acknowledged, what is missing, reconnection, a broker without E-MQTT."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from voicewire.mqtt import (
    Broker,
    Config,
    ConfigError,
    DisconnectedError,
    MalformedError,
    MQTTError,
    NotAcknowledgedError,
)
from voicewire.mqtt import packets as p
from voicewire.mqtt.client import Client


@pytest.fixture
async def running() -> AsyncIterator[Broker]:
    async with Broker(Config(port=0, deny_subscribe=("no",))) as broker:
        yield broker


async def test_qos_0_to_2(running: Broker) -> None:
    async with Client(port=running.port, client_id="a") as a, Client(port=running.port) as b:
        assert await a.subscribe("t/#", "no", qos=2) == (2, 0x80)
        for qos in (0, 1, 2):
            delivery = await b.publish("t/x", f"m{qos}", qos)
            got = await a.receive(1)
            assert (got.topic, got.payload, got.qos) == ("t/x", f"m{qos}".encode(), qos)
            assert qos == 0 or 0 < delivery.confirmed <= delivery.completed
        await a.unsubscribe("t/#")
        await b.publish("t/x", b"unheard", 1)
        with pytest.raises(TimeoutError):
            await a.receive(0.05)


async def test_wait_for_subscribers(running: Broker) -> None:
    async with (
        Client(port=running.port, client_id="a", answer=lambda m: b"a heard " + m.payload) as a,
        Client(port=running.port, client_id="b") as b,
        Client(port=running.port) as c,
    ):
        await a.subscribe("t", qos=3)
        await b.subscribe("t", qos=1)
        delivery = await c.publish("t", b"x", wait_for=2)
        assert sorted(delivery.acknowledged) == ["a", "b"] and delivery.answers == {"a": b"a heard x"}
        assert all(0 < t < 5 for t in delivery.acknowledged.values()) and not delivery.missing
        assert len((await c.publish("t", wait_for="all")).acknowledged) == 2
        assert len((await c.publish("t", wait_for=0)).acknowledged) == 1
        assert list((await c.publish("t", subscribers=["b"])).acknowledged) == ["b"]
        assert [(await a.receive(1)).qos for _ in range(4)] == [3] * 4


async def test_what_is_missing(running: Broker) -> None:
    async with Client(port=running.port, client_id="a") as a, Client(port=running.port) as c:
        await a.subscribe("t", qos=3)
        with pytest.raises(NotAcknowledgedError, match=r"1 of 2 .* missing: b \(not subscribed\)") as caught:
            await c.publish("t", b"x", subscribers=["a", "b"], timeout=5)
        delivery = caught.value.delivery
        assert list(delivery.acknowledged) == ["a"] and delivery.missing == {"b": "not subscribed"}
        with pytest.raises(NotAcknowledgedError, match="0 of 1 .* there are no others"):
            await c.publish("nobody", b"x", wait_for=1, timeout=5)
        await c.publish("t", b"still alive", wait_for=1)


async def test_time_limit(running: Broker) -> None:
    async with Client(port=running.port, client_id="deaf") as a, Client(port=running.port) as c:
        await a.subscribe("t", qos=3)
        a._transport.pause_reading()  # type: ignore[union-attr]
        with pytest.raises(NotAcknowledgedError, match=r"within 0\.1 s; missing: deaf \(no answer\)"):
            await c.publish("t", b"x", wait_for=1, timeout=0.1)


async def test_arguments(running: Broker) -> None:
    async with Client(port=running.port) as c:
        for bad in (-1, 16383):
            with pytest.raises(MalformedError):
                await c.publish("t", b"x", wait_for=bad)
        with pytest.raises(MalformedError, match="2 of 1 named"):
            await c.publish("t", b"x", wait_for=2, subscribers=["a"])
        with pytest.raises(ValueError, match="timeout"):
            await c.publish("t", b"x", wait_for=1, timeout=0)
        with pytest.raises(MalformedError):
            await c.publish("t/#", b"x", 1)
        for number in (5, 2.5, None, [1, 2], True, {"a": 1}):
            with pytest.raises(MalformedError, match="is text or bytes, not"):
                await c.publish("t", number, 1)  # type: ignore[arg-type]
            with pytest.raises(MalformedError, match="is text or bytes, not"):
                await c.post("t", number)  # type: ignore[arg-type]
        await c.subscribe("t")
        for same in ("é", "é".encode(), bytearray("é".encode()), memoryview("é".encode())):
            await c.publish("t", same, 1)  # type: ignore[arg-type]
            assert (await c.receive(5)).payload == "é".encode()
        await c.publish("t", b"still alive", 1)


def test_a_broker_takes_a_config() -> None:
    for other in ("127.0.0.1", 1883, {"port": 0}):
        with pytest.raises(ConfigError, match="takes a Config, as in"):
            Broker(other)  # type: ignore[arg-type]


async def test_refused_and_unreachable(running: Broker) -> None:
    with pytest.raises(MQTTError, match="identifier rejected"):
        client = Client(port=running.port, clean=False)
        client._connect = p.Connect("", clean=False)
        await client.connect()
    with pytest.raises(DisconnectedError, match="no broker at"):
        await Client(port=1).connect(timeout=2)


async def test_connection_lost_while_waiting(running: Broker) -> None:
    async with Client(port=running.port, client_id="same") as c:
        waiting = asyncio.ensure_future(c.receive())
        publishing = asyncio.ensure_future(c.publish("$e2e/1/nobody", b"x", 2))
        await asyncio.sleep(0.05)
        other = Client(port=running.port, client_id="same")
        await other.connect()
        for future in (waiting, publishing):
            with pytest.raises(DisconnectedError):
                await future
        with pytest.raises(DisconnectedError):
            await c.publish("t", b"x")
        await other.disconnect()


async def test_reconnection_sends_again(running: Broker) -> None:
    async with Client(port=running.port, client_id="listener") as a:
        await a.subscribe("t", qos=2)
        c = Client(port=running.port, client_id="sender", clean=False)
        await c.connect()
        publishing = asyncio.ensure_future(c.publish("t", b"x", 2))
        await asyncio.sleep(0)
        c.abort()
        with pytest.raises(DisconnectedError):
            await publishing
        await c.connect()
        assert (await a.receive(1)).payload == b"x"
        for _ in range(100):
            if not c._pending:
                break
            await asyncio.sleep(0.01)
        assert not c._pending
        await c.disconnect()


async def test_keep_alive_pings(running: Broker) -> None:
    seen: list[str] = []
    async with Client(
        port=running.port, keep_alive=1, observer=lambda way, packet, _: seen.append(f"{way} {type(packet).__name__}")
    ) as c:
        await asyncio.sleep(1.7)
        await c.publish("t", b"alive", 1)
    assert seen.count("in Pingresp") >= 2


async def test_flood_pauses_reading(running: Broker) -> None:
    async with Client(port=running.port, max_waiting=10) as a, Client(port=running.port) as c:
        await a.subscribe("t", qos=1)
        for i in range(200):
            await c.publish("t", b"%d" % i, 1)
        assert [int((await a.receive(2)).payload) for i in range(200)] == list(range(200))


async def one_connection(answer: bytes) -> tuple[asyncio.Server, int]:
    """Serve one client: CONNACK, then `answer` to whatever comes, then the end."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(b"\x20\x02\x00\x00")
        await reader.read(100)
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    return server, server.sockets[0].getsockname()[1]


@pytest.mark.parametrize("answer", [b"", b"\x90\x03\x00\x01\x80"])
async def test_a_broker_without_e_mqtt(answer: bytes) -> None:
    server, port = await one_connection(answer)
    async with server:
        c = Client(port=port)
        await c.connect()
        with pytest.raises(MQTTError, match="does not speak E-MQTT"):
            await c.publish("t", b"x", wait_for=1)
        c.abort()


@pytest.mark.parametrize("answer", ["3608000174000100 00 78", "10 00", "82 05 0001 0000 00", "ffff", "20020000"])
async def test_a_broker_that_breaks_the_rules(answer: str) -> None:
    server, port = await one_connection(bytes.fromhex(answer))
    async with server:
        c = Client(port=port)
        await c.connect()
        await c.publish("t", b"x")
        with pytest.raises(DisconnectedError):
            await c.receive(2)
