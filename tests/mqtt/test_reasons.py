"""What is refused is refused with a reason, and the reason reaches whoever asked: filters, large packets."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from voicewire.mqtt import (
    Access,
    Broker,
    BrokerThread,
    Client,
    Config,
    DisconnectedError,
    Limits,
    MemoryBroker,
    MQTTError,
    mosquitto,
)
from voicewire.mqtt import packets as p
from voicewire.mqtt.raw_socket_client import connect

Start = Callable[..., BrokerThread]
LEVELS = st.text("abcü 0$", max_size=5)
SHARED = st.builds(
    lambda first, rest, end: "/".join([first, *rest]) + end,
    st.sampled_from(["$share", "$queue", "$exclusive"]), st.lists(LEVELS | st.just("+"), max_size=4),
    st.sampled_from(["", "/#", "/"]),
)  # fmt: skip


@given(st.lists(st.tuples(SHARED, st.integers(0, 3)), min_size=1, max_size=5), st.integers(0, 2))
def test_no_shared_subscription_is_granted_and_then_silent(asked: list[tuple[str, int]], qos: int) -> None:
    """Each is refused, whatever stands behind `$share`; what can be had beside it is granted; there is a reason."""
    with MemoryBroker() as broker, broker.wire() as wire:
        wire.send(p.Connect("c"))
        wire.expect(p.Connack(False, 0))
        wire.send(p.Subscribe(1, (("plain", qos), *asked, ("$sharee/a", qos))))
        wire.expect(p.Suback(1, (qos, *(0x80 for _ in asked), qos)))
        assert broker.broker.router.tree.count == 2
        for i, (pattern, _) in enumerate(asked, 2):
            wire.send(p.Subscribe(i, ((f"$SYS/broker/why/{pattern}", 0),)))
            wire.expect(p.Suback(i, (0,)))
            got = wire.publication()
            assert got.topic == "$SYS/broker/why/reason" and b"which MQTT 3.1.1 does not have" in got.payload
        wire.send(p.Publish(asked[0][0].replace("+", "x").replace("#", "y"), b"nowhere", 1, True, packet_id=9))
        wire.expect(p.Puback(9))
        assert {topic.partition("/")[0] for topic in broker.broker.router.retained.messages} <= {"$SYS"}
        assert broker.broker.router.tree.count == 2  # questions are no subscriptions


async def test_every_refusal_has_its_reason() -> None:
    limits = Limits(max_subscriptions=3, max_subscription_bytes=100)
    rules = (Access("#"), Access("secret/#", allow="none"))
    config = Config(port=0, deny_subscribe=("no",), access=rules, limits=limits)
    async with Broker(config) as broker, Client(port=broker.port) as client:
        for pattern, words in (
            ("no", "deny_subscribe"), ("secret/x", "access rules"), ("$share/g/a", "shared subscription"),
            ("/" * 200, "levels"), ("x" * 101, "100 bytes"),
        ):  # fmt: skip
            assert await client.subscribe(pattern) == (0x80,)
            assert words in await client.refusal(pattern)
        assert await client.subscribe("a", "b", "c", "d") == (0, 0, 0, 0x80)
        assert "3 subscriptions" in await client.refusal("d")
        assert await client.refusal("a") == ""
        both = await asyncio.gather(client.refusal("no"), client.refusal("a"), client.refusal("secret/#"))
        assert "deny" in both[0] and both[1] == "" and "3 subscriptions" in both[2]
        with pytest.raises(TimeoutError):  # answers are nobody's messages
            await client.receive(0.05)
        with pytest.raises(MQTTError):
            await client.refusal("a#")


def test_the_log_has_a_refusal_once_a_session(broker: Start, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "voicewire.broker")
    with connect(broker().port, "asks") as wire:
        for i in range(1, 50):
            wire.send(p.Subscribe(i, (("$share/g/a", 0), ("$share/g/b", 0))))
            wire.expect(p.Suback(i, (0x80, 0x80)))
    assert [r.getMessage() for r in caplog.records if "may not subscribe" in r.getMessage()] != []
    assert sum("may not subscribe" in r.getMessage() for r in caplog.records) == 1


@pytest.mark.parametrize("qos", [0, 1, 2])
@pytest.mark.parametrize(("size", "limit", "words"), [
    (20_000_000, 16 * 2**20, "(16 MiB)"), (100_000, 70_000, "(70,000 bytes)"), (2**20, 2**20, "(1 MiB)"),
    (2_000, 1_000, "(1,000 bytes)"), (1_000, 1_000, "(1,000 bytes)"), (60, 50, "(50 bytes)"),
])  # fmt: skip
async def test_a_message_that_is_too_large_is_called_that(qos: int, size: int, limit: int, words: str) -> None:
    limits = Limits(max_packet=limit)
    async with Broker(Config(port=0, limits=limits)) as broker:
        client = Client(port=broker.port, client_id="c", clean=False)
        await client.connect()
        with pytest.raises(DisconnectedError, match=r"is larger than the broker takes") as caught:
            await client.publish("t", bytes(size), qos)
            await client.flush()
        assert words in str(caught.value)
        await client.connect()  # it is not sent again, which would end this connection, too
        await client.publish("t", b"small", 1)
        await client.publish("t", bytes(limit - 7), qos)
        await client.flush()
        await client.disconnect()


SIZES = st.lists(st.integers(0, 985), max_size=4)


@given(SIZES, SIZES, SIZES, st.integers(0, 2), st.integers(1_001, 3_000))
@example([], [0, 0, 0], [], 2, 1001)  # answers that find the connection ended
@settings(max_examples=30)
def test_who_published_is_told_whatever_was_sent_around_it(
    first: list[int], before: list[int], after: list[int], qos: int, size: int
) -> None:
    """Each that waits is told, and who publishes next where nobody waits (QoS 0); what fits goes on in the session."""
    asyncio.run(_told_around(first, before, after, qos, size))


async def _told_around(first: list[int], before: list[int], after: list[int], qos: int, size: int) -> None:
    async with Broker(Config(port=0, limits=Limits(max_packet=1_000))) as broker:
        client = Client(port=broker.port, client_id="c", clean=False)
        await client.connect()
        for each in first:
            await client.publish("t", bytes(each), qos)
        sent = [client.publish(f"t{each}", bytes(each), qos) for each in (*before, size, *after)]
        found = await asyncio.gather(*sent, return_exceptions=True)
        if qos:
            assert {type(each) for each in found[len(before) :]} == {DisconnectedError}
            found = [each for each in found if isinstance(each, Exception)]  # the broker may have had what came before
        else:
            await eventually_lost(client)
            found = [await said_by(client.publish("next")), await said_by(client.flush())]
        assert re.fullmatch(rf"'t{size}': a message of \S+ bytes is larger than the broker takes \(1,000 bytes\)",
                            *{str(each) for each in found})  # fmt: skip
        await client.connect()
        await client.flush()
        assert not client._pending or qos == 2
        await client.disconnect()


async def eventually_lost(client: Client) -> None:
    while client._transport is not None:
        await asyncio.sleep(0.001)


async def said_by(attempt: Coroutine[Any, Any, object]) -> BaseException | None:
    try:
        await attempt
    except DisconnectedError as error:
        return error
    return None


async def test_a_post_is_told_too() -> None:
    async with Broker(Config(port=0, limits=Limits(max_packet=1_000))) as broker, Client(port=broker.port) as client:
        task = await client.post("t", bytes(2_000))
        with pytest.raises(DisconnectedError, match=r"'t': a message of 2,0\d\d bytes is larger .*\(1,000 bytes\)"):
            await task


@pytest.mark.parametrize("qos", [0, 1, 2])
async def test_a_broker_is_asked_only_where_a_message_was_on_its_way(qos: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what fits has not ended the connection: the error stays as it is."""
    asked: list[int | None] = []
    plain = Client._packet_limit

    async def limit(self: Client) -> int | None:
        asked.append(await plain(self))
        return asked[-1]

    monkeypatch.setattr(Client, "_packet_limit", limit)
    async with Broker(Config(port=0, limits=Limits(max_packet=1_000))) as broker:
        client = Client(port=broker.port, client_id="c")
        for on_its_way in (False, True):
            await client.connect()
            await client.publish("t", bytes(900), qos)
            await client.flush()
            if on_its_way:
                client._send(p.Publish("t", bytes(500)))
            broker.sessions["c"].connection.close(will=True)  # type: ignore[union-attr]
            await eventually_lost(client)
            for attempt in (client.publish("t", b"", qos), client.flush()):
                said = str(await said_by(attempt))
                assert re.fullmatch(r"the broker closed the connection|connection lost: [^()]*", said), said
            assert asked == ([1_000] if on_its_way else [])


async def test_the_end_that_a_client_makes_is_not_called_the_brokers() -> None:
    async with Broker(Config(port=0)) as broker:
        async with Client(port=broker.port) as client:
            pass
        with pytest.raises(DisconnectedError, match="^the client has disconnected$"):
            await client.publish("t", b"x", 1)


async def test_a_broker_is_not_said_to_lack_e_mqtt_where_the_connection_had_ended() -> None:
    async with Broker(Config(port=0, limits=Limits(max_packet=1_000))) as broker, Client(port=broker.port) as client:
        await client.publish("t", bytes(2_000))
        with pytest.raises(DisconnectedError, match="larger than the broker takes"):
            await client.publish("t", b"x", wait_for=1)


async def test_of_another_end_no_cause_is_made_up() -> None:
    """A broker that takes more than this, and stops; and an end long after a large message was read."""
    async with Broker(Config(port=0)) as broker, Client(port=broker.port, client_id="deaf") as deaf:
        await deaf.subscribe("t", qos=1)
        deaf._transport.pause_reading()  # type: ignore[union-attr]
        client = Client(port=broker.port, client_id="c")
        await client.connect()
        waiting = asyncio.create_task(client.publish("t", bytes(200_000), wait_for=1, timeout=20))
        for _ in range(1000):
            if broker.ends.open:
                break
            await asyncio.sleep(0.01)
        connection = broker.sessions["c"].connection
        assert connection is not None
        connection.close(will=True)
        with pytest.raises(DisconnectedError, match=r"closed the connection while 200,\d+ bytes were being sent"):
            await waiting
        await client.connect()
        for qos in (0, 1):
            await client.publish("t", bytes(200_000), qos)
            await client.flush()
        client._transport.abort()  # type: ignore[union-attr]
        with pytest.raises(DisconnectedError, match="closed the connection$"):
            await client.flush()


async def test_a_server_that_is_no_broker_of_ours() -> None:
    """It answers nothing that it is asked: what was seen is said."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(p.encode(p.Connack(False, 0)))
        await reader.read(1000)
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        client = Client(port=server.sockets[0].getsockname()[1])
        await client.connect()
        with pytest.raises(DisconnectedError, match=r" while 5,000,005 bytes were being sent to 't'"):
            await client.publish("t", bytes(5_000_000), 1)
        await client.connect()
        assert await client.refusal("$share/g/a") == ""


@pytest.mark.needs("mosquitto")
async def test_mosquitto_gives_no_reason_and_none_is_made_up() -> None:
    with mosquitto("max_packet_size 100000\n") as other:
        client = Client(port=other.port)
        await client.connect()
        with pytest.raises(DisconnectedError, match=r" while 200,\d+ bytes were being sent to 't'"):
            await client.publish("t", bytes(200_000), 1)
        await client.connect()
        assert await client.subscribe("a") == (0,) and await client.refusal("a") == ""
        await client.disconnect()
