"""The asyncio client: a publisher that goes on, the paper's plain packet, and the ids that may be named."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator

import pytest

from voicewire.mqtt import Broker, Config, DisconnectedError, MalformedError, MQTTError, NotAcknowledgedError
from voicewire.mqtt import packets as p
from voicewire.mqtt.client import Client
from voicewire.mqtt.config import Access


@pytest.fixture
async def running() -> AsyncIterator[Broker]:
    rules = (Access("#"), Access("closed", allow="none"))
    async with Broker(Config(port=0, access=rules)) as broker:
        yield broker


async def until(condition: object) -> None:
    while not condition():  # type: ignore[operator]
        await asyncio.sleep(0.001)


async def test_who_posts_goes_on_and_is_told_later(running: Broker) -> None:
    gate = asyncio.Event()
    sent: list[bytes] = []

    def seen(way: str, packet: p.Packet, _: float) -> None:
        if way == "out" and isinstance(packet, p.Publish):
            sent.append(packet.payload)

    async with Client(port=running.port, client_id="a") as a, Client(port=running.port, observer=seen) as c:
        take = a._take

        def late(packet: p.Publish) -> None:
            asyncio.get_running_loop().create_task(answer(packet))

        async def answer(packet: p.Publish) -> None:
            await gate.wait()
            take(packet)

        a._take = late  # type: ignore[method-assign]
        await a.subscribe("t", qos=3)
        first, second = await c.post("t", b"1"), await c.post("t", b"2", wait_for="all")
        assert sent == [b"1", b"2"] and not first.done() and not second.done()
        gate.set()
        assert [list((await task).acknowledged) for task in (first, second)] == [["a"], ["a"]]
        await until(lambda: not c._posted)


async def test_what_was_posted_in_vain_says_so_when_asked(running: Broker, caplog: pytest.LogCaptureFixture) -> None:
    async with Client(port=running.port) as c:
        task = await c.post("nobody", b"x", wait_for=2, timeout=5)
        with pytest.raises(NotAcknowledgedError, match="0 of 2 .* there are no others"):
            await task
        ignored = await c.post("nobody", b"x")
        await until(ignored.done)
        with pytest.raises(MalformedError, match="cannot wait for 3 of 1"):
            await c.post("t", subscribers=["a"], wait_for=3)
        with pytest.raises(ValueError, match="timeout of 0 s"):
            await c.post("t", timeout=0)
    del task, ignored
    assert "never retrieved" not in caplog.text
    with pytest.raises(DisconnectedError):
        await c.post("t")


async def test_a_connection_that_ends_ends_what_was_posted(running: Broker) -> None:
    async with Client(port=running.port, client_id="a") as a, Client(port=running.port) as c:
        a._take = lambda _: None  # type: ignore[method-assign]
        await a.subscribe("t", qos=3)
        task = await c.post("t", b"x")
        c.abort()
        with pytest.raises(DisconnectedError):
            await task


@pytest.mark.parametrize("ends", ["by the time limit", "by whoever waited"])
async def test_nothing_is_reported_behind_the_back_of_who_has_stopped_waiting(running: Broker, ends: str) -> None:
    reported: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context["message"]))
    async with Client(port=running.port, client_id="a") as a, Client(port=running.port) as c:
        a._take = lambda _: None  # type: ignore[method-assign]
        await a.subscribe("t", qos=3)
        if ends == "by the time limit":
            with pytest.raises(NotAcknowledgedError, match=r"has not acknowledged 't' within 0\.05 s"):
                await c.publish("t", b"x", wait_for=1, timeout=0.05, report=False)
        else:
            task = await c.post("t", b"x", report=False)
            await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            del task
        assert c._closed is not None
        c.abort()  # the exchange, which went on, fails now
        await c._closed
        await asyncio.sleep(0)
    gc.collect()
    assert reported == []


async def test_the_plain_form_is_the_papers_packet(running: Broker) -> None:
    packets: list[p.Packet] = []
    async with (
        Client(port=running.port, client_id="a") as a,
        Client(port=running.port, observer=lambda _, packet, __: packets.append(packet)) as c,
    ):
        await a.subscribe("T", qos=3)
        delivery = await c.publish("T", b"123456", wait_for=1, report=False)
        assert delivery.acknowledged == {} and 0 < delivery.confirmed <= delivery.completed
        (sent,) = (packet for packet in packets if isinstance(packet, p.Publish))
        number = sent.packet_id
        assert packets[-4:] == [sent, p.Pubrec(number, 3), p.Pubrel(number, 3), p.Pubcomp(number, 3)]
        assert len(p.encode(sent)) - len(p.encode(p.Publish("T", b"123456", 2, packet_id=1))) == 2
        assert (await (await c.post("T", report=False))).confirmed > 0
        with pytest.raises(NotAcknowledgedError, match=r"not acknowledged 'nobody' within 0.05 s"):
            await c.publish("nobody", b"x", wait_for=1, report=False, timeout=0.05)  # nobody is there, but no report


async def test_ids_that_may_be_named(running: Broker) -> None:
    async with (
        Client(port=running.port, client_id="b") as b,
        Client(port=running.port, client_id="a") as a,
        Client(port=running.port, client_id="deaf") as deaf,
        Client(port=running.port) as c,
    ):
        await a.subscribe("t/#", qos=3)
        await b.subscribe("t/x", qos=1)
        await deaf.subscribe("t/x", qos=0)
        assert await asyncio.gather(c.subscribers("t/x"), c.subscribers("t/x"), c.subscribers("t/y")) == [
            ("a", "b"), ("a", "b"), ("a",),
        ]  # fmt: skip
        assert await c.subscribers("elsewhere") == ()
        names = await c.subscribers("t/x")
        assert list((await c.publish("t/x", b"x", subscribers=names[:1])).acknowledged) == ["a"]
        assert c._inbox.empty() and not c._lists
        with pytest.raises(MQTTError, match=r"does not tell who is subscribed to 'closed': may this client"):
            await c.subscribers("closed")
        with pytest.raises(MalformedError):
            await c.subscribers("t/#")


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (b"{", "is no list of ids"),
        (b"[]", "is no list of ids"),
        (b'{"subscribers": 7}', "is no list of ids"),
        (b'{"subscribers": [7]}', "is no list of ids"),
        (b'{"subscribers": ["a"], "cut": true}', "than the 1 that the broker tells"),
    ],
)
async def test_a_list_that_is_none_is_refused(
    running: Broker, told: bytes, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Client(port=running.port) as c:
        take = c._take
        monkeypatch.setattr(c, "_take", lambda packet: take(p.Publish(packet.topic, told)))
        with pytest.raises(MQTTError, match=words):
            await c.subscribers("t")


async def test_a_broker_without_emqtt_has_no_list() -> None:
    async with Broker(Config(port=0, qos3=False)) as broker, Client(port=broker.port) as c:
        with pytest.raises(MQTTError, match="does not speak E-MQTT"):
            await c.subscribers("t")
