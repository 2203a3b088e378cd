"""A promise is kept before it is given: what was confirmed arrives, whatever happens to whom at which moment."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
from promises import ACCIDENTS, Plan, Run

from voicewire.mqtt import Config, Limits, packet_handlers, routes, routing
from voicewire.mqtt import packets as p
from voicewire.mqtt.decoder import Decoder
from voicewire.mqtt.in_memory_broker import Line, MemoryBroker
from voicewire.mqtt.serving import time_slicing


@pytest.mark.parametrize("seed", range(60))
def test_what_was_confirmed_arrives_and_once(tmp_path: Path, seed: int) -> None:
    plan = Plan.draw(seed, most=20_000_000, subscribers=300)
    assert Run(plan, tmp_path).go().faults == [], plan


@pytest.mark.night
@pytest.mark.parametrize("seed", range(1000, 1300))
def test_so_it_does_for_thousands_and_for_hundreds_of_megabytes(tmp_path: Path, seed: int) -> None:
    plan = Plan.draw(seed)
    assert Run(plan, tmp_path).go().faults == [], plan


def test_each_accident_happens_at_a_moment_that_counts(tmp_path: Path) -> None:
    """Else the tests above would try nothing."""
    happened = set()
    for seed in range(200):
        plan = Plan.draw(seed, most=1_000_000, subscribers=30)
        if plan.accident not in happened:
            (tmp_path / f"{seed}").mkdir()
            if Run(plan, tmp_path / f"{seed}").go().happened:
                happened.add(plan.accident)
    assert happened == set(ACCIDENTS)


def _connected(broker: MemoryBroker, name: str, *, clean: bool = True, subscribe: bool = False) -> Line:
    line = broker.line()
    line.send(p.encode(p.Connect(name, clean=clean)))
    if subscribe:
        line.send(p.encode(p.Subscribe(1, (("t", 1),))))
    broker.run()
    line.take()
    return line


@pytest.mark.parametrize("qos", [0, 1])
def test_a_delivery_that_has_begun_is_finished_when_the_broker_is_told_to_end(
    monkeypatch: pytest.MonkeyPatch, qos: int
) -> None:
    for module in (time_slicing, routes, packet_handlers, routing):
        monkeypatch.setattr(module, "SLICE", 8)
    with MemoryBroker(Config(port=0, sys_interval=0)) as broker:
        readers = [_connected(broker, f"r{i}", subscribe=True) for i in range(40)]
        writer = _connected(broker, "w")
        writer.send(p.encode(p.Publish("t", b"x", qos, packet_id=qos)))
        broker._loop.advance(0.0, lambda: len(broker.broker.work) > 0)
        assert len(broker.broker.work) == 1
        task = broker._loop.create_task(broker.broker.stop())
        taken = [b""] * 40
        while not task.done():
            broker._loop.advance(0.01)
            taken = [before + (reader.take() or b"") for before, reader in zip(taken, readers, strict=True)]
        assert all(each.endswith(b"x") for each in taken)
        assert (writer.take() or b"").startswith(b"\x40\x02\x00\x01" if qos else b"")


def test_what_waits_goes_to_the_new_connection_of_a_reader_that_did_not_read() -> None:
    """The old one is still being emptied; what it would be sent now, nobody would acknowledge."""
    with MemoryBroker(Config(port=0, sys_interval=0, limits=Limits(out_high=4096, out_low=1024))) as broker:
        old = _connected(broker, "r", clean=False, subscribe=True)
        writer = _connected(broker, "w")
        for number in range(1, 13):
            writer.send(p.encode(p.Publish("t", bytes([number]) * 1000, 1, packet_id=number)))
            broker.run(6.0)
        session = broker.broker.sessions["r"]
        assert session.queue and session.inflight
        before, new = session.connection, broker.line()
        new.send(p.encode(p.Connect("r", clean=False)))
        broker._loop.advance(0.0, lambda: session.connection not in (before, None))
        assert session.queue
        old.take()
        decoder, got = Decoder(), []
        for _ in range(40):
            broker.run(0.1)
            for packet in decoder.feed(new.take() or b""):
                if isinstance(packet, p.Publish):
                    got.append(packet.payload[0])
                    new.send(p.encode(p.Puback(packet.packet_id)))
            old.take()
        assert got == list(range(1, 13))


def test_answers_end_with_the_session_that_asked() -> None:
    """Settled, never released, and the publisher goes: its answers no longer count, whenever memory is collected."""
    gc.disable()
    try:
        with MemoryBroker(Config(port=0, sys_interval=0)) as broker:
            reader, asks = broker.wire(), broker.wire()
            reader.send(p.Connect("reader"), p.Subscribe(1, (("t", 3),)))
            asks.send(p.Connect("asks"), p.Subscribe(1, (("$e2e/hello", 3),)))  # it may use QoS 3
            asks.send(p.Publish("t", b"", 3, packet_id=1, waited=1, report=True, limit=2**16 - 1))
            got = next(each for each in iter(reader.receive, None) if isinstance(each, p.Publish))
            reader.send(p.Pubrec(got.packet_id, 3, bytes(5000)))
            reader.send(p.Pubcomp(got.packet_id, 3))
            broker.run()
            shares = broker.broker.router.shares
            assert shares.held >= 5000  # the publisher has not released it
            asks.close()
            broker.run()
            assert shares.held == 0
    finally:
        gc.enable()
