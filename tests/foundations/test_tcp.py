"""TCP's rules by themselves: closed forms, the RFC's numbers, and the traces of the reading version."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicewire.netsim.reference.tcp_receiver import Ack
from voicewire.netsim.reference.tcp_sender import Timeout, measure, opened, react, transfer
from voicewire_book.chapters.foundations import tcp, tcp_figures
from voicewire_book.chapters.foundations.tcp_trace import trace


@given(st.integers(1, 10_000), st.integers(1, 64))
def test_round_trips_are_the_closed_form(n, window):
    k = tcp.round_trips(n, window)
    assert window * (2 ** (k - 1) - 1) < n <= window * (2**k - 1)


@given(st.floats(0.001, 2.0), st.floats(0.001, 5.0), st.integers(0, 40))
def test_the_timer_after_a_jump_is_the_derived_one(before, jump, n):
    timer = Timeout(0.0, before, before, 0.0)
    for _ in range(n):
        measure(timer, before + jump)
    derived = before + jump + jump * (7 * (7 / 8) ** n - 8 * (3 / 4) ** n)
    assert timer.rto == pytest.approx(derived, rel=1e-9)


def test_a_timer_doubles_up_to_a_minute():
    timer = Timeout()
    seen = []
    for _ in range(8):
        tcp.expired(timer)
        seen.append(timer.rto)
    assert seen == [2, 4, 8, 16, 32, 60, 60, 60]


@pytest.mark.parametrize("n", [1, 10, 11, 69, 70, 71, 500])
def test_a_trace_takes_the_round_trips_of_slow_start(n):
    run = trace([(0.0, n)], rtt=0.1)
    assert run.done == pytest.approx(0.1 * tcp.round_trips(n))
    assert [number for _, number in run.sent] == list(range(n))


def test_a_loss_in_the_middle_needs_no_timer_and_one_at_the_end_does():
    middle = trace([(0.0, 60)], lost={14})
    assert [number for _, number in middle.sent].count(14) == 2
    assert middle.done < 1.0
    tail = trace([(0.0, 60)], lost={59})
    again = [t for t, number in tail.sent if number == 59]
    assert again[1] - again[0] >= 1.0


def test_a_pause_begins_again_with_the_initial_window():
    run = trace([(0.0, 60), (3.0, 60)])
    assert sum(abs(t - 3.0) < 1e-6 for t, _ in run.sent) == 10
    short = trace([(0.0, 60), (0.9, 60)])
    assert sum(abs(t - 0.9) < 1e-6 for t, _ in short.sent) > 30


@given(st.integers(1, 150), st.sets(st.integers(0, 160), max_size=25), st.integers(1, 12), st.sampled_from([0.2, 1.0]))
def test_the_loop_on_the_page_is_the_simulator_s(total, lost, window, least):
    """`transfer` sends what `carry` does, at the same nanosecond, whatever is lost."""
    turns = transfer(opened(0.1, window, least), total, lost, 0.1)
    run = trace([(0.0, total)], lost, 0.1, window, least)
    assert [(time, number) for time, _, left in turns for number in left] == run.sent
    assert all(cwnd >= 1 for _, cwnd, _ in turns)


def test_the_loop_shows_both_losses_of_the_table():
    """A hole is mended by SACK and halves the window; the loss of the repeat is left to the timer: one segment."""
    turns = transfer(opened(0.1, least=0.2), 300, {40}, 0.1)
    before, after = next((a, b) for (_, a, _), (_, b, _) in itertools.pairwise(turns) if b < a)
    assert before / 2 - 2 <= after <= before / 2 + 2
    assert min(cwnd for _, cwnd, _ in turns) >= 10
    repeat = [number for _, _, left in turns for number in left].index(40, 41)
    s = opened(0.1, least=0.2)
    turns = transfer(s, 300, {40, repeat}, 0.1)
    assert min(cwnd for _, cwnd, _ in turns) == 1.0
    assert s.ssthresh / s.mss == 52.5  # 105 segments out, as the chapter says


@pytest.mark.parametrize("flight", [1, 2, 3, 7, 8, 31, 40])
def test_a_lost_flight_is_repeated_by_slow_start(flight):
    """RFC 5681 section 3.1: from one segment up to half the flight, a segment more for each acknowledgement."""
    run = trace([(0.0, flight)], lost=range(flight), window=flight)
    threshold, window, left, round_trips = max(flight / 2, 2.0), 1.0, flight, 0
    flights = []
    while left > 0:
        flights.append(min(int(window), left))
        for _ in range(flights[-1]):
            window += 1 if window < threshold else 1 / window
        left -= flights[-1]
        round_trips += 1
    repeats = np.array([time for time, _ in run.sent[flight:]])
    assert [np.sum(np.isclose(repeats, 1.0 + 0.1 * k)) for k in range(round_trips)] == flights
    assert run.done == pytest.approx(1.0 + 0.1 * round_trips)
    assert [number for _, number in run.sent] == 2 * list(range(flight))  # each once more, no more
    if flight == 40:
        assert round_trips == tcp.round_trips(40, 1) == 6  # as if nothing had been sent before


def test_sack_begins_no_repair_within_the_timer_s():
    """RFC 6675 section 5.1 (6582, section 4): not until all that was out at the timeout is acknowledged."""
    s = opened(0.1, window=20, least=3.0)
    lost = set(range(20)) | {23, 40}  # a flight of 20; of its repeats segment 3; and the first new segment
    turns = transfer(s, 200, lost, 0.1)
    first, second = (k for k, (_, cwnd, left) in enumerate(turns) if cwnd == 1.0 and left)
    assert turns[first][2] == [0] and turns[second][2] == [3]
    left = [number for _, _, left in turns[:second] for number in left]
    assert left.count(20) == 2 and left[-1] > 23  # three SACKed segments above it showed that 20 was lost
    steps = np.diff([cwnd for _, cwnd, _ in turns[first:second]])
    assert steps.min() >= 0 and steps.max() <= 1  # nothing halved, and nothing but slow start


def test_the_threshold_is_held_while_the_timer_repeats_one_segment():
    """RFC 5681, equation 4: half of what was out when it was first lost, whatever has left since."""
    s = opened(0.1)
    s.size = 146
    for written in range(1, 61):
        react(s, 0, written)
    react(s, s.timer, None)
    assert (s.nxt, s.ssthresh / s.mss) == (60, 3.0)
    late = Ack(echo=0, upto=0, sacked=((1, 60),))  # only the first was lost, and its repeat will be
    assert react(s, s.last + 1, late) == []
    (packet,) = react(s, s.last + 2, 69)
    assert (packet.first, packet.count, s.nxt) == (60, 9, 69)  # one segment's window has room for them
    react(s, s.timer, None)
    assert (s.backoff, s.ssthresh / s.mss) == (4.0, 3.0)


def test_random_losses_lie_above_the_square_root_law():
    windows = tcp.reno_rounds(1e-3, 50_000, np.random.default_rng(2))
    assert 1.22 < windows.mean() * np.sqrt(1e-3) < 1.35


def test_cubic_starts_at_seventy_per_cent_and_returns_after_k():
    k = np.cbrt(0.3 * 500 / 0.4)
    assert tcp.cubic([0, k], 500) == pytest.approx([350, 500])


@given(st.integers(1, 60), st.integers(1, 400))
def test_small_writes_leave_in_as_many_segments_as_derived(n, gap):
    answer = 97.31  # ms; no gap of whole ms divides it
    segments = tcp.small_writes([float(gap * k) for k in range(n)], answer)
    assert sum(count for _, count in segments) == n
    expected = n if gap > answer else 1 + np.ceil((n - 1) * gap / answer)
    assert len(segments) == expected
    assert len(tcp.small_writes([float(gap * k) for k in range(n)], answer, nagle=False)) == n


def test_red_has_three_zones():
    assert tcp.red([0, 5, 8, 14.999999, 15, 99], 5, 15, 0.1) == pytest.approx([0, 0, 0.03, 0.1, 1, 1])


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=30).filter(lambda x: max(x) > 1e-3))
def test_jain_lies_between_one_over_n_and_one(rates):
    index = tcp.jain(rates)
    assert 1 / len(rates) - 1e-9 <= index <= 1 + 1e-9
    x = np.array(rates)
    assert index == pytest.approx(1 / (1 + x.var() / x.mean() ** 2))


@pytest.mark.parametrize(
    "call",
    [
        lambda: tcp.round_trips(0),
        lambda: tcp.reno_rounds(0.0, 10, np.random.default_rng(1)),
        lambda: tcp.reno_rounds(float("nan"), 10, np.random.default_rng(1)),
        lambda: tcp.cubic(-1, 100),
        lambda: tcp.cubic(1, 0),
        lambda: tcp.red(3, 15, 5, 0.1),
        lambda: tcp.red(3, 5, 15, 0),
        lambda: tcp.jain([]),
        lambda: tcp.jain([0, 0]),
        lambda: tcp.jain([1, float("nan")]),
        lambda: tcp.small_writes([1.0, 0.0], 0.1),
        lambda: tcp.small_writes([0.0], 0.0),
        lambda: trace([]),
        lambda: trace([(0.0, 3)], rtt=0),
    ],
)
def test_impossible_input_is_refused(call):
    with pytest.raises(ValueError, match=r"\w"):
        call()


# What the figures draw


def test_the_trace_figure_draws_what_was_lost():
    ax = tcp_figures.segments(trace([(0.0, 30)], lost={12}))
    lost = next(line for line in ax.lines if line.get_label() == "lost")
    assert list(lost.get_ydata()) == [12]


def test_the_step_figure_holds_simulation_and_derivation_together():
    ax = tcp_figures.step(0.1, 0.2)
    derived, found = ax.lines[0].get_ydata(), ax.lines[1].get_ydata()
    assert found == pytest.approx(derived)
    assert int(np.argmax(found)) == 6


def test_the_other_figures_have_units():
    windows = tcp.reno_rounds(0.01, 50, np.random.default_rng(1))
    assert "segments" in tcp_figures.sawtooth({"x": windows}).get_ylabel()
    assert "(s)" in tcp_figures.growth((0.1,), 100).get_xlabel()
    assert "(packets)" in tcp_figures.queue(5, 15, 0.1).get_xlabel()
    assert "(ms)" in tcp_figures.writes([0.0], {"a": [(0.0, 1)]}).get_xlabel()
    assert tcp_figures.equations(np.array([0.01, 0.1]), {"x": [10, 1]}).get_xscale() == "log"
