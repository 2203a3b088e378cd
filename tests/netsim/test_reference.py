"""The reading versions against the compiled engine, to the nanosecond and to the last bit."""

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from voicewire.netsim import Flow, Path, Tcp, Tfrc, equation, initial_window, reference, simulate
from voicewire.netsim.reference import readings, segments, switching

QUICK = (Phase.explicit, Phase.reuse, Phase.generate)  # a failing case is small enough as it is drawn
MS, SECOND = 1_000_000, 1_000_000_000
TFRC = {
    "TFRC": ({}, reference.TfrcSender),
    "SP": ({"small": True}, reference.TfrcSender),
    "FR": ({"small": True, "restart": 4.0}, reference.TfrcSender),
    "MD": ({"small": True, "restart": 4.0, "floor": 8.0}, reference.TfrcSender),
    "FR, slow start too": ({"small": True, "restart": 4.0, "start": 4.0}, reference.TfrcSender),
    "RFC 5348": ({"small": True, "initial": 4.0}, reference.TfrcSender5348),
    "RFC 5348, large": ({"initial": 2.0}, reference.TfrcSender5348),
}
FIELDS = {"floor": "floor_packets", "initial": "initial_packets"}
SCHEDULES = {
    "nominal": ({}, ()),
    "sent": ({"schedule": "sent"}, (readings.TimedFromDeparture,)),
    "grid": ({"schedule": "grid"}, (readings.KameTimer,)),
}
RATES = {
    "ccid3": ({}, ()),
    "thesis": ({"x_recv": "thesis"}, (readings.ThesisReceiveRate,)),
    "kame": ({"x_recv": "kame"}, (readings.KameReceiveRate,)),
}
SENDS = {
    "once": ({"report_moves": False}, (readings.OneTimeOnly,)),
    "fast max": ({"fast_max": True}, (readings.FastMax,)),
    "twice": ({"timeout_restart": False}, (readings.TwiceAfterTimeout,)),
    "eight": ({"restart_packets": 8.0}, (readings.EightAfterIdle,)),
}
SEGMENTS = {
    "joined": ({}, ()),
    "Nagle": ({"nodelay": False}, (segments.Nagle,)),
    "one": ({"joins": False}, (segments.OneFrame,)),
}
HEARS = {
    "reports": ({"report_after": 5}, (readings.KameReports,)),
    "open": ({"short_open": True}, (readings.ShortOpenInterval,)),
    "discount": ({"discount": 0.5}, (readings.Discounting,)),
}


@st.composite
def talks(draw):
    """Talkspurts and silences of whole frames of 20 ms, or frames at any millisecond."""
    if draw(st.booleans()):
        return np.sort(draw(st.lists(st.integers(0, 6000), min_size=1, max_size=150))) * MS
    at, parts = 0, []
    for on, off in draw(st.lists(st.tuples(st.integers(1, 90), st.integers(1, 200)), min_size=1, max_size=8)):
        parts.append(at + np.arange(on, dtype=np.int64))
        at += on + off
    return np.concatenate(parts) * 20 * MS


def both(times, payload, fast, sender, receiver, delay, loss, back, seed, lossy_s=None, **how):
    """Run one flow in the engine and in plain Python; return the engine's flow and both ways of the plain path."""
    end = int(times[-1]) // SECOND + 8
    path = Path(delay, loss, back, lossy_s=lossy_s)
    until = reference.path.NEVER if lossy_s is None else round(lossy_s * SECOND)
    flow = simulate([Flow(times, payload, fast, path, **how)], seed=seed, until_s=end, log=True).flows[0]
    there, home = reference.seeds(seed)
    ways = [reference.Way(round(delay * 1e6), p, luck, until) for p, luck in ((loss, there), (back, home))]
    reference.carry([int(t) for t in times], sender, receiver, *ways, end * SECOND)
    return flow, ways


def the_same(flow, sender, receiver, ways):
    n = flow.sent.size
    assert [sender.sent.get(k, -1) for k in range(n)] == flow.sent.tolist()
    assert [receiver.arrive.get(k, -1) for k in range(n)] == flow.arrive.tolist()
    assert (ways[0].sent, ways[0].lost) == (flow.packets["sent"], flow.packets["lost"])
    assert (ways[1].sent, ways[1].lost) == (flow.packets["acks_sent"], flow.packets["acks_lost"])


class Told:
    """A sender that writes down what each report and time-out made of it, as the engine's log does."""

    def note(self, now):
        x_calc = self.x_calc if self.p > 0 else -1.0
        self.rows.append((now, self.x, self.x_recv, x_calc, self.p, getattr(self, "fast_max", 0.0)))

    def on_answer(self, now, report):
        packets = super().on_answer(now, report)
        self.note(now)
        return packets

    def on_timer(self, now):
        packets = super().on_timer(now)
        self.note(now)
        return packets


class Windows:
    """A TCP sender that writes down its window, threshold, what is under way, and its timer, as the engine does."""

    def note(self, now, packets):
        wait = self.timeout.rto * self.backoff
        self.rows.append((now, self.cwnd, self.ssthresh, reference.tcp_sender.pipe(self), wait, 0.0))
        return packets

    def on_answer(self, now, ack):
        return self.note(now, super().on_answer(now, ack))

    def on_timer(self, now):
        return self.note(now, super().on_timer(now))


@settings(max_examples=300, deadline=None, phases=QUICK)
@given(
    times=talks(),
    name=st.sampled_from(sorted(TFRC)),
    payload=st.sampled_from([20, 160, 1000]),
    delay=st.sampled_from([5.0, 20.0, 50.0, 73.5, 150.0, 400.0]),
    loss=st.sampled_from([0.0, 0.01, 0.05, 0.3]),
    back=st.sampled_from([0.0, 0.05, 0.5]),
    seed=st.integers(0, 2**32),
    buffer=st.integers(1, 8),
    schedule=st.sampled_from(sorted(SCHEDULES)),
    rate=st.sampled_from(sorted(RATES)),
    sends=st.sets(st.sampled_from(sorted(SENDS))),
    hears=st.sets(st.sampled_from(sorted(HEARS))),
    lossy_s=st.one_of(st.none(), st.floats(0.1, 4)),
)
def test_tfrc_is_the_engine_s(
    times, name, payload, delay, loss, back, seed, buffer, schedule, rate, sends, hears, lossy_s
):  # fmt: skip
    how, kind = TFRC[name]
    changes, sending, hearing = {}, [Told], []
    for setting, classes in (SCHEDULES[schedule], *(SENDS[s] for s in sends)):
        changes |= setting
        sending += classes
    for setting, classes in (RATES[rate], *(HEARS[s] for s in hears)):
        changes |= setting
        hearing += classes
    fast = Tfrc(
        modern=kind is reference.TfrcSender5348, buffer=buffer, **changes,
        **{FIELDS.get(k, k): v for k, v in how.items()},
    )  # fmt: skip
    sender = type("Told", (*sending, kind), {"rows": []})(payload, max(2 * delay / 1e3, 1e-4), buffer=buffer, **how)
    receiver = type("Heard", (*hearing, reference.TfrcReceiver), {})(payload, how.get("small", False))
    flow, ways = both(times, payload, fast, sender, receiver, delay, loss, back, seed, lossy_s)
    the_same(flow, sender, receiver, ways)
    assert len(sender.dropped) == flow.packets["dropped_sender"]
    assert np.array_equal(np.array(sender.rows).reshape(-1, 6), flow.rates)


@settings(max_examples=100, deadline=None, phases=QUICK)
@given(
    times=talks(),
    delay=st.sampled_from([20.0, 50.0, 150.0, 400.0]),
    loss=st.sampled_from([0.0, 0.05]),
    seed=st.integers(0, 2**32),
    buffer=st.integers(1, 8),
    levels=st.integers(1, 5),
)
def test_a_buffer_that_knows_what_is_important_is_the_engine_s(times, delay, loss, seed, buffer, levels):
    importance = np.random.default_rng(seed).integers(0, levels, len(times)).astype(float)
    sender = type("Told", (Told, readings.LeastImportant), {"rows": [], "importance": importance.tolist()})(
        20, 2 * delay / 1e3, buffer=buffer
    )
    receiver = reference.TfrcReceiver(20)
    flow, ways = both(
        times, 20, Tfrc(buffer=buffer), sender, receiver, delay, loss, loss, seed, importance=importance
    )
    the_same(flow, sender, receiver, ways)
    assert sorted(sender.dropped) == np.flatnonzero(flow.fate == 2).tolist()
    assert len(sender.dropped) == flow.packets["dropped_sender"]


@settings(max_examples=100, deadline=None, phases=QUICK)
@given(
    times=talks(),
    lower=st.sampled_from([1, 20, 33]),
    small=st.booleans(),
    delay=st.sampled_from([5.0, 20.0, 50.0, 73.5, 150.0, 400.0]),
    loss=st.sampled_from([0.0, 0.01, 0.05, 0.3]),
    back=st.sampled_from([0.0, 0.05, 0.5]),
    seed=st.integers(0, 2**32),
    how=st.fixed_dictionaries({name: st.booleans() for name in ("pads", "late", "averages")}),
    floor=st.sampled_from([0.0, 8.0]),
)
def test_a_codec_that_changes_is_the_engine_s(times, lower, small, delay, loss, back, seed, how, floor):
    rtt = max(2 * delay / 1e3, 1e-4)
    kind = type("Told", (Told, switching.SwitchingSender), {"rows": []})
    sender = kind(lower, 160, rtt, small=small, floor=floor, **how)
    receiver = switching.SizedReceiver(lower, small)
    fast = Tfrc(
        small=small, floor_packets=floor, lower=lower, pads=how["pads"], late=how["late"],
        packet_size="average" if how["averages"] else "newest",
    )  # fmt: skip
    flow, ways = both(times, 160, fast, sender, receiver, delay, loss, back, seed)
    the_same(flow, sender, receiver, ways)
    assert [sender.sizes[k] if k in sender.sent else 0 for k in range(len(times))] == flow.sizes.tolist()
    assert len(sender.dropped) == flow.packets["dropped_sender"]
    assert np.array_equal(np.array(sender.rows).reshape(-1, 6), flow.rates)


@settings(max_examples=300, deadline=None, phases=QUICK)
@given(
    times=st.one_of(talks(), st.integers(1, 300).map(lambda n: np.zeros(n, np.int64))),
    rfc=st.sampled_from([2581, 3390]),
    payload=st.sampled_from([20, 160, 1460]),
    delay=st.sampled_from([0.0, 5.0, 50.0, 73.5, 150.0, 400.0]),
    loss=st.sampled_from([0.0, 0.01, 0.05, 0.3]),
    back=st.sampled_from([0.0, 0.05, 0.5]),
    seed=st.integers(0, 2**32),
    window=st.sampled_from([2000, 8000, 65535]),
    since=st.sampled_from(["sent", "received"]),
    joining=st.sampled_from(sorted(SEGMENTS)),
)
def test_tcp_is_the_engine_s(times, rfc, payload, delay, loss, back, seed, window, since, joining):
    rtt = max(2 * delay / 1e3, 1e-4)
    how, classes = SEGMENTS[joining]
    base = reference.TcpSender if since == "sent" else readings.IdleSinceHeard
    kind = type("Windows", (Windows, *classes, base), {"rows": []})
    sender = kind(payload, rtt, initial=initial_window(1460, rfc), window=float(window))
    receiver = reference.TcpReceiver(len(times))
    fast = Tcp(rfc=rfc, window=window, idle_since=since, **how)
    flow, ways = both(times, payload, fast, sender, receiver, delay, loss, back, seed)
    the_same(flow, sender, receiver, ways)
    assert np.array_equal(np.array(sender.rows).reshape(-1, 6), flow.rates)


@given(st.floats(1, 1e6), st.floats(1e-4, 10), st.floats(1e-6, 1))
def test_the_equation_and_its_inverse_are_the_engine_s(s, rtt, p):
    assert reference.tcp_rate(s, rtt, p) == equation.throughput(s, rtt, p)
    x = reference.tcp_rate(s, rtt, p)
    assert reference.inverse_equation(x, s, rtt) == equation.inverse(x, s, rtt)
    assert reference.inverse_equation(x, s, rtt) == pytest.approx(p, rel=1e-6)


@given(st.lists(st.floats(1, 1e5), min_size=2, max_size=9))
def test_the_mean_interval_is_the_engine_s(intervals):
    assert reference.mean_interval(intervals[0], intervals[1:]) == equation.average_interval(intervals)
