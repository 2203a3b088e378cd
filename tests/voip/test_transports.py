"""What the names of the transports stand for, and what each rule of the rate controls does: by hand, in numbers."""

import numpy as np
import pytest

from voicewire.netsim import Flow, Path, Tfrc, simulate
from voicewire.netsim.reference import LossHistory, TfrcSender, TfrcSender5348
from voicewire.netsim.reference.tfrc_receiver import Report, lose
from voicewire.voip.transports import transport


@pytest.mark.parametrize(("codec", "packets"), [("G.729", 24.0), ("G.711", 10.0)])
def test_md_read_literally_is_a_higher_floor(codec, packets):
    """X >= 8 (s + H)/R in payload bytes: (20 + 40)/20 and (160 + 40)/160 of eight packets a round trip."""
    assert transport("MD literal", codec).floor_packets == packets
    assert transport("TFRC SP FR MD", codec).floor_packets == 8


def test_small_packets_divide_short_loss_intervals():
    """RFC 4828 section 4.4: with three losses in the event, 30 packets within two round trips count as ten."""
    for small, length in ((True, 10.0), (False, 30.0)):
        h = LossHistory(20, small)
        for seq in (100, 101, 102):
            lose(h, seq, seq * 1_000_000, 0.1, 1000.0)
        lose(h, 130, 100_000_000 + 150_000_000, 0.1, 1000.0)
        assert h.closed[0] == length


def test_the_round_trip_keeps_nine_tenths_of_what_it_was():
    s = TfrcSender(20, 0.1)
    s.on_answer(300_000_000, Report(echo=0, counter=0, x_recv=1000.0, p=0.0))
    assert s.rtt == pytest.approx(0.9 * 0.1 + 0.1 * 0.3)


def test_without_feedback_a_quarter_of_the_equation_is_taken_for_received():
    """RFC 3448 section 4.4: where X_calc <= 2 X_recv, X_recv becomes X_calc/4, and so X at most half of X_calc."""
    s = TfrcSender(1000, 0.1)
    s.p, s.x_recv, s.idle = 0.01, 1e9, False
    s.x_calc = 8000.0
    s.no_feedback(0)
    assert s.x_recv == 2000.0
    assert s.x == 4000.0


def test_rfc_5348_halves_its_set_when_a_data_limited_time_brings_losses():
    s = TfrcSender5348(20, 0.1, small=True, initial=4.0)
    s.received = [(0, 5000.0)]
    assert s.receive_limit(0, Report(echo=-1, counter=0, x_recv=1000.0, p=0.1), worse=True) == 2500.0
    assert s.received == [(0, 2500.0)]
    assert s.receive_limit(0, Report(echo=-1, counter=0, x_recv=4000.0, p=0.1), worse=True) == 0.85 * 4000


def test_the_engine_s_round_trip_moves_by_a_tenth():
    """MD's floor of eight packets a round trip shows the estimate: the first report took longer, by the jitter."""
    flow = Flow(np.array([0]), 20, Tfrc(small=True, floor_packets=8), Path(50, jitter_ms=40))
    now, x = simulate([flow], seed=2, log=True).flows[0].rates[0, :2]
    assert now > 105e6
    assert x == pytest.approx(8 * 20 / (0.9 * 0.1 + 0.1 * now / 1e9))
