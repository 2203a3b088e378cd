"""A call's arrays are checked once, at the public door, and what lies behind the doors gives the same numbers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicewire._kit import checks
from voicewire.netsim import Ccid2, Flow, Path, Tcp, Tfrc, Udp, flow_state, simulate
from voicewire.voip import emodel, playout
from voicewire.voip.calls import call, delays_ms
from voicewire.voip.conversation import Talk, talk
from voicewire.voip.errors import VoipError
from voicewire.voip.paper import CODECS, Codec
from voicewire.voip.playout_rules import adaptive_playout
from voicewire.voip.transports import NAMES, transport


@pytest.fixture
def asked(monkeypatch):
    """Names of the arrays that a rule looks at."""
    names = []
    inner = checks._numbers

    def told(name, *rest):
        names.append(name)
        return inner(name, *rest)

    monkeypatch.setattr(checks, "_numbers", told)
    return names


def test_a_call_of_our_own_words_has_nothing_to_check(asked):
    call("TFRC SP", "G.729", delay_ms=50, loss=0.01, seconds=5)
    assert asked == []


def test_words_from_outside_are_checked_once(asked):
    words = talk(np.random.default_rng(1), 5)
    call("UDP", "G.729", delay_ms=50, spoken=words)
    assert asked == ["spoken's times", "spoken's spurts"]


def test_each_playout_checks_each_array_once(asked):
    delay, spurts = np.array([50.0, 60.0, 90.0]), np.array([0, 0, 1])
    for score, once in (
        (lambda: playout.bound(delay, spurts, "G.711"), ["delays_ms", "spurts"]),
        (lambda: playout.fixed(delay, spurts, "G.711"), ["delays_ms", "spurts"]),
        (lambda: adaptive_playout.ramjee(delay, spurts, "G.711"), ["delays_ms", "spurts"]),
        (lambda: adaptive_playout.moon(delay, spurts, "G.711"), ["delays_ms", "spurts"]),
        (lambda: playout.per_talkspurt(delay, spurts, [60, 90], "G.711"), ["playout_ms", "delays_ms", "spurts"]),
        (lambda: emodel.r_factor(delay, 0.0, "G.711"), ["delay_ms", "loss"]),
    ):
        asked.clear()
        score()
        assert asked == once


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(NAMES),
    codec=st.sampled_from(sorted(CODECS)),
    delay=st.sampled_from([0.0, 25.0, 73.5, 400.0]),
    loss=st.sampled_from([0.0, 0.01, 0.2]),
    seconds=st.sampled_from([0.02, 1.0, 7.3, 60.0]),
    seed=st.integers(0, 2**40),
)
def test_a_call_is_what_its_public_steps_give(name, codec, delay, loss, seconds, seed):
    made = call(name, codec, delay_ms=delay, loss=loss, seconds=seconds, seed=seed)
    words = talk(np.random.default_rng([seed, 1]), seconds)
    flow = Flow(words.times, CODECS[codec].payload, transport(name, codec), Path(delay, loss))
    arrive = simulate([flow], seed=seed).flows[0].arrive
    best = playout.bound(delays_ms(words.times, arrive), words.spurts, codec)
    assert np.array_equal(made.talk.times, words.times)
    assert np.array_equal(made.flow.arrive, arrive)
    assert made.r == best.r
    assert np.array_equal(made.playout.delays_ms, best.delays_ms, equal_nan=True)


def drawn_at_length(rng, seconds, on, off, frame):
    """The words of `talk`, one frame at a time."""
    slots = int(np.ceil(seconds / frame))
    many = int(1.5 * seconds / (on + off)) + 20
    at, spurt, rows = 0, 0, []
    while at < slots:
        lengths = [max(1, round(x)) for x in (rng.exponential(on, many) / frame).tolist()]
        pauses = [max(1, round(x)) for x in (rng.exponential(off, many) / frame).tolist()]
        for length, pause in zip(lengths, pauses, strict=True):
            rows += [(at + k, spurt) for k in range(length) if at + k < slots]
            at += length + pause
            spurt += 1
    return rows


@settings(max_examples=60, deadline=None)
@given(
    seconds=st.floats(0.02, 40.0),
    on=st.sampled_from([0.001, 0.02, 1.0, 100.0]),
    off=st.sampled_from([0.001, 0.02, 1.5, 100.0]),
    seed=st.integers(0, 2**32),
)
def test_words_are_drawn_as_written(seconds, on, off, seed):
    words = talk(np.random.default_rng(seed), seconds, on=on, off=off)
    rows = drawn_at_length(np.random.default_rng(seed), seconds, on, off, 0.02)
    assert words.times.tolist() == [20_000_000 * slot for slot, _ in rows]
    assert words.spurts.tolist() == [spurt for _, spurt in rows]


@pytest.mark.parametrize(
    "words, said",
    [
        (Talk([0, 1], [0], 1.0), "2 times, but 1 talkspurt numbers"),
        (Talk("hello", [0], 1.0), "spoken's times"),
        (Talk([0], [None], 1.0), "spoken's spurts"),
        (Talk([0, 20_000_000], [1, 0], 1.0), "must not fall"),
        (Talk([20_000_000, 0], [0, 0], 1.0), "must not fall"),
        (Talk([[0]], [[0]], 1.0), "spoken's times"),
        ("hello", "spoken must be a Talk"),
    ],
)
def test_words_that_nobody_can_say_are_refused(words, said):
    with pytest.raises(VoipError, match=said):
        call("UDP", "G.729", delay_ms=50, spoken=words)


@pytest.mark.parametrize("field", ["lambda1", "lambda2", "lambda3", "frames", "payload", "interval_ms"])
@pytest.mark.parametrize("value", [float("nan"), -1, "many", 1e12])
def test_a_codec_that_cannot_be_is_refused(field, value):
    right = {"name": "X", "lambda1": 0, "lambda2": 30, "lambda3": 15, "frames": 1, "payload": 160}
    with pytest.raises(VoipError, match=field.replace("_", " ")):
        Codec(**{**right, field: value})


SENDERS = {
    "UDP": Udp(),
    "TCP": Tcp(),
    "TFRC": Tfrc(),
    "RFC 5348": Tfrc(small=True, modern=True, initial_packets=4),
    "CCID 2": Ccid2(),
}


@pytest.mark.parametrize("name", SENDERS)
@pytest.mark.parametrize("pattern", [0x00, 0x55, 0xFF])
def test_what_lay_in_the_rings_before_does_not_matter(monkeypatch, name, pattern):
    """Packets, acknowledgements and segments get memory as it is: each entry is written before it is read."""
    words = talk(np.random.default_rng(3), 60).times
    flows = [Flow(words, 160, SENDERS[name], Path(80, 0.05))]
    before = simulate(flows, seed=2).flows[0]

    room = flow_state.room

    def littered(record, count):
        memory = room(record, count)
        memory.view(np.uint8)[:] = pattern
        return memory

    monkeypatch.setattr(flow_state, "room", littered)
    after = simulate(flows, seed=2).flows[0]
    assert np.array_equal(before.arrive, after.arrive)
    assert np.array_equal(before.sent, after.sent)
    assert before.packets == after.packets
