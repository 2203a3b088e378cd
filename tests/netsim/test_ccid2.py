"""CCID 2 against its plain version, to the nanosecond, over any path, queue and buffer."""

import numpy as np
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from plain_ccid2 import Receiver, Sender
from plain_wire import Queue, Wire, seeds

from voicewire.netsim import Bottleneck, Ccid2, Flow, Path, Red, reference, simulate

QUICK = (Phase.explicit, Phase.reuse, Phase.generate)  # a failing case is small enough as it is drawn
MS, SECOND = 1_000_000, 1_000_000_000

times = st.one_of(
    st.lists(st.integers(0, 6000), min_size=1, max_size=150).map(lambda t: np.sort(t) * MS),
    st.integers(1, 300).map(lambda n: np.arange(n, dtype=np.int64) * 20 * MS),
    st.tuples(st.integers(1, 100), st.integers(1, 100)).map(
        lambda n: np.r_[np.arange(n[0]), 400 + np.arange(n[1])].astype(np.int64) * 10 * MS
    ),
)
losses = st.sampled_from([0.0, 0.01, 0.1, 0.4])
paths = st.builds(
    Path,
    st.sampled_from([5.0, 73.5, 400.0]),
    losses,
    losses,
    st.sampled_from([0.0, 30.0]),
    st.sampled_from([None, (0.05, 0.3, 0.8)]),
)
reds = st.builds(Red, st.just(1.0), st.just(5.0), st.sampled_from([0.1, 0.8]), st.just(0.3), st.booleans())
queues = st.none() | st.builds(Bottleneck, st.sampled_from([15, 60]), st.integers(2, 20), st.none() | reds)
senders = st.builds(
    Ccid2,
    st.sampled_from([1, 5, 200]),
    st.booleans(),
    st.sampled_from([1, 2, 5]),
    st.sampled_from([0.0, 30.0, 200.0]),
    st.sampled_from([0.2, 1.0]),
    st.booleans(),
)


@settings(max_examples=300, deadline=None, phases=QUICK)
@given(times, st.sampled_from([20, 160, 1460]), senders, paths, queues, st.integers(0, 999))
def test_ccid_2_is_the_plain_one(frames, size, how, path, bottleneck, seed):
    luck, ((there_seed, back_seed),) = seeds(seed, 1)
    there = Wire(path, path.loss, there_seed, bottleneck and Queue(bottleneck, luck))
    there.size, there.ecn = size + 40, how.ecn
    back = Wire(path, path.loss_back, back_seed)
    sender = Sender(size, 2 * path.delay_ms / 1e3, how.buffer, how.drop_oldest, how.rto_min)
    receiver = Receiver(how.ack_every, round(how.ack_delay_ms * MS))
    end = int(frames[-1]) // SECOND + 20
    reference.carry([int(t) for t in frames], sender, receiver, there, back, end * SECOND)
    flow = simulate([Flow(frames, size, how, path)], bottleneck=bottleneck, seed=seed, until_s=end).flows[0]
    n = len(frames)
    assert [sender.sent.get(k, -1) for k in range(n)] == flow.sent.tolist()
    assert [receiver.arrive.get(k, -1) for k in range(n)] == flow.arrive.tolist()
    for fate, plain in ((2, sender.dropped), (3, there.full), (4, there.gone)):
        assert np.flatnonzero(flow.fate == fate).tolist() == sorted(plain)
    names = ("sent", "lost", "marked", "acks_sent", "acks_lost", "dropped_sender")
    counts = [there.sent, there.lost, there.marked, back.sent, back.lost, len(sender.dropped)]
    assert [flow.packets[name] for name in names] == counts


def test_a_timeout_is_put_off_sixty_four_times_at_the_most():
    """Nothing arrives: four packets at once, then one at each timeout, 200 ms times 1, 2, 4 … 64, 64."""
    how = Ccid2(buffer=200, rto_min=0.2)
    flow = simulate([Flow([0] * 14, 20, how, Path(5.0, 1.0))], until_s=80).flows[0]
    assert flow.sent[:4].tolist() == [0] * 4
    waited = np.diff(flow.sent[3:]) / SECOND
    assert waited.tolist() == [0.2 * times for times in (1, 2, 4, 8, 16, 32, 64, 64, 64, 64)]
