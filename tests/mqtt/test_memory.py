"""The broker without sockets: what its lines and its clock do; `test_hostile` has the state machine over them."""

from __future__ import annotations

import asyncio

import hostile
import pytest

from voicewire.mqtt import Config, Limits
from voicewire.mqtt import packets as p
from voicewire.mqtt.decoder import Decoder
from voicewire.mqtt.in_memory_broker import MemoryBroker
from voicewire.mqtt.raw_socket_client import UnexpectedError, connect, subscribed


def connected(broker, name="a", clean=True):
    line = broker.line()
    line.send(hostile.connect(name, clean))
    broker.run()
    assert line.take() == b"\x20\x02\x00\x00"
    return line


def test_time_passes_only_when_it_is_told_to():
    with MemoryBroker(Config(limits=Limits(connect_timeout=2.0))) as broker:
        silent = broker.line()
        for seconds, come in ((1.9, b""), (0.6, None), (0.0, None)):
            broker.run(seconds)
            assert silent.take() == come
    with pytest.raises(ValueError, match="back"):
        broker.run(-1.0)
    with pytest.raises(ValueError, match="back"):
        broker.run(float("nan"))


def test_it_runs_where_another_loop_is_running_and_leaves_that_alone():
    async def outer() -> None:
        here = asyncio.get_running_loop(), asyncio.current_task()
        seen = []
        with MemoryBroker() as broker:
            connected(broker)
            broker._loop.call_soon(lambda: seen.append((asyncio._get_running_loop(), asyncio.current_task())))
            broker._loop.call_soon(lambda: seen.append(asyncio.current_task(here[0])))
            broker.run()
            # From Python 3.14 on one thread has one current task, whatever the loop: none may be left in the way.
            assert seen == [(broker._loop, None), None]
            assert (asyncio.get_running_loop(), asyncio.current_task()) == here
            await asyncio.sleep(0)  # and the outer task goes on
            assert (asyncio.get_running_loop(), asyncio.current_task()) == here

    asyncio.run(outer())


def test_a_broker_that_is_stepped_inside_another_ones_step_leaves_that_alone():
    async def step(loop: object, inner: MemoryBroker) -> bool:
        here = asyncio.current_task()
        assert here is not None
        inner.run(1.0)
        return asyncio.current_task() is here and asyncio.get_running_loop() is loop

    with MemoryBroker() as one, MemoryBroker() as other:
        assert one._loop.finish(step(one._loop, other))
        assert other.broker.statistics()["uptime"] == 1


def test_the_outer_task_is_put_back_where_a_step_fails():
    def fail() -> bool:
        raise KeyboardInterrupt

    async def outer() -> bool:
        here = asyncio.current_task()
        with MemoryBroker() as broker, pytest.raises(KeyboardInterrupt):
            broker._loop.advance(1.0, fail)
        return asyncio.current_task() is here

    assert asyncio.run(outer())


def test_who_does_not_read_holds_others_back_and_gets_all_once_it_reads():
    with MemoryBroker(Config(sys_interval=0, limits=Limits(out_high=4096, out_low=1024))) as broker:
        reader, writer = connected(broker, "r"), connected(broker, "w")
        reader.send(p.encode(p.Subscribe(1, (("t", 1),))))
        broker.run()
        decoder = Decoder()
        reader.take()
        total = 12
        for n in range(1, total + 1):
            writer.send(hostile.publish("t", bytes([n]) * 1000, 1, False, n))
            broker.run()
        acknowledged = len(writer.take() or b"") // 4
        assert 0 < acknowledged < total  # the rest has not been read from the writer's line
        got = []
        for _ in range(total):
            for packet in decoder.feed(reader.take() or b""):
                got.append(packet.payload[0])
                reader.send(p.encode(p.Puback(packet.packet_id)))
            broker.run()
        assert got == list(range(1, total + 1))
        assert acknowledged + len(writer.take() or b"") // 4 == total


@pytest.mark.parametrize("reset", [False, True])
def test_a_client_that_goes_is_gone_and_what_it_sent_counts_unless_it_reset(reset):
    with MemoryBroker(Config(sys_interval=0)) as broker:
        listener, leaver = connected(broker, "l"), connected(broker, "g")
        listener.send(p.encode(p.Subscribe(1, (("t", 0),))))
        broker.run()
        listener.take()
        leaver.send(p.encode(p.Publish("t", b"last words")))
        leaver.close(reset)
        leaver.send(b"nobody hears this")
        broker.run()
        heard = [x.payload for x in Decoder().feed(listener.take() or b"")]
        assert heard == ([] if reset else [b"last words"])
        assert len(broker.broker.connections) == 1
        assert leaver.take() is None


def test_the_last_words_of_the_broker_reach_who_reads_late():
    with MemoryBroker(Config(sys_interval=0)) as broker:
        line = broker.line()
        line.send(p.encode(p.Connect("a", level=9)))
        broker.run(5.0)
        assert line.take() == b"\x20\x02\x00\x01"
        assert line.take() is None


def test_a_fault_inside_a_callback_is_logged_and_the_rest_goes_on(caplog):
    with MemoryBroker() as broker:
        broker._loop.call_soon(lambda: 1 / 0)
        connected(broker)
    assert "ZeroDivisionError" in caplog.text


def test_a_wire_waits_by_the_brokers_clock_and_sees_what_a_socket_sees():
    with MemoryBroker(Config(sys_interval=0)) as broker, subscribed(broker, "t", qos=1) as reader:
        with pytest.raises(TimeoutError, match="nothing comes in 5 s of the broker's clock"):
            reader.receive(5.0)
        assert broker.broker.statistics()["uptime"] == 5
        writer = connect(broker, "w", will=p.Will("t", b"gone"))
        writer.quiet()
        writer.send(p.encode(p.Pingreq())[:1], p.encode(p.Pingreq())[1:])
        assert writer.receive() == p.Pingresp()
        writer.close()
        assert reader.publication().payload == b"gone"
        reader.send(b"\xf0\x00")
        reader.closed()


def test_a_kept_session_is_found_again_over_a_wire():
    with MemoryBroker(Config(sys_interval=0)) as broker:
        subscribed(broker, "t", qos=1, client_id="a", clean=False).close()
        with connect(broker, "a", clean=False, present=True) as again:
            again.quiet()
        with pytest.raises(UnexpectedError):
            connect(broker, "b", clean=False, present=True)
