"""The data behind the figures: what a comparison of notebooks cannot see."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from voicewire.nfc import paper
from voicewire.nfc.beyond.ethernet import Ethernet
from voicewire.nfc.beyond.framing import past_sum
from voicewire.nfc.channel import Channel
from voicewire.nfc.exchange import Exchange
from voicewire.nfc.link import Link
from voicewire.nfc.session import Session
from voicewire.nfc.slot_sharing import ShortSession
from voicewire_book.chapters.nfc import figures, link_figures


@pytest.fixture(autouse=True)
def _no_window():
    mpl.use("agg")
    yield
    plt.close("all")


def test_timeline_draws_every_packet_where_it_was():
    result = Session().run(log=True)
    ax = figures.timeline(result)
    bars = [path.get_extents() for collection in ax.collections for path in collection.get_paths()]
    drawn = sorted((round(bar.x0, 6), round(bar.width, 6)) for bar in bars)
    assert drawn == [(round(0.01 * first, 6), round(0.01 * slots, 6)) for first, slots, *_ in result.packets.tolist()]


def test_staircase_climbs_by_one_slot():
    line = figures.slot_staircase(Link()).lines[0]
    assert set(np.diff(line.get_ydata())) == {0, 1}


def test_decomposition_adds_up_to_the_latency():
    sessions = {f"MSS {mss}": Session(mss=mss) for mss in paper.TABLE_72}
    printed = {f"MSS {mss}": value for mss, value in paper.TABLE_72.items()}
    ax = figures.decomposition(sessions, printed)
    right = [
        max(p.get_x() + p.get_width() for p in ax.patches if abs(p.get_y() + 0.3 - row) < 0.01) for row in range(4)
    ]
    assert right == pytest.approx([6.26, 6.26, 6.76, 7.86])


def test_window_delay_is_relative_to_the_largest_window():
    ax = figures.window_delay({0.0: [3.0, 2.0], 1.0: [5.0, 3.5]}, [2048, 8192])
    assert list(ax.lines[0].get_ydata()) == [1.0, 0.0]
    assert list(ax.lines[1].get_ydata()) == [1.5, 0.0]


def test_goodput_ends_at_all_bytes_over_the_last_arrival():
    result = Session(size=50_000).run(log=True)
    line = figures.goodput_curve({"4096": result}).lines[0]
    x, y = line.get_data()
    assert y[-1] * x[-1] == pytest.approx(400)
    assert y.max() < 8


def test_losses_meet_at_low_rates_times_the_burst_length():
    random, burst = (line.get_ydata() for line in figures.losses(4320).lines)
    assert random[0] / burst[0] == pytest.approx(4, rel=0.01)


def test_walls():
    constant, doubling = figures.timer_walls().lines[:2]
    assert constant.get_ydata()[-1] == pytest.approx(49, rel=0.01)
    assert doubling.get_xdata().max() < 0.5


def test_table_73_marks_one_row_each():
    outcomes = {
        key: Exchange(channel=Channel.random(key[1])).run(20, np.random.default_rng(0)) for key in paper.TABLE_73
    }
    assert len(figures.table_73(outcomes).get_yticks()) == 6


def test_slot_figures():
    session = ShortSession()
    lines = figures.slot_latency(session).lines
    assert (lines[0].get_ydata() >= lines[2].get_ydata()).all()
    efficiency = figures.efficiency_map(session)
    assert max(line.get_ydata().max() for line in efficiency.lines[::2]) == pytest.approx(100)
    shares = figures.control_share(session, 848.0).lines
    assert (shares[2].get_ydata() >= shares[0].get_ydata() - 1e-9).all()


def test_the_rest_draws_what_it_is_given():
    result = Session(size=20_000, channel=Channel.periodic(5)).run(log=True)
    assert len(figures.packet_trace({"one in five": result}).lines) == 4
    hits = np.zeros(400, dtype=bool)
    hits[[3, 4, 250]] = True
    assert list(figures.error_raster({"a": hits}, 100).lines[0].get_xdata()) == [3, 4, 50]
    assert len(figures.expected_latency(Exchange()).lines) == 6
    ax = figures.wall_check(np.array([0.1, 0.2]), {"constant timeout": np.ones((2, 5))})
    assert len(ax.containers) == 1


def test_exchanges_show_their_length_and_each_loss():
    trace = np.array([[0.3, 0, 1], [3.3, 0, 0], [3.9, 1, 0]])
    ax = figures.exchange_runs({("random", 1e-4): trace, ("burst", 1e-4): trace[1:]})
    assert [bar.get_width() for bar in ax.patches] == [3.9, 3.9]
    assert [list(line.get_xdata()) for line in ax.lines] == [[0.3], [439.22], [], [199.6]]


def test_lossy_windows_draws_means_and_the_printed_gain():
    times = {(rule, w): np.array([w + i, w + 2.0 + i]) for i, rule in enumerate(("a", "b")) for w in (100, 200)}
    ax = figures.lossy_windows(times)
    means = [container.lines[0].get_ydata().tolist() for container in ax.containers]
    assert means == [[101, 201], [102, 202]]
    assert ax.lines[-1].get_ydata()[0] == pytest.approx(101 * 0.925)


def test_cut_and_uncut_part_where_a_packet_no_longer_fits():
    cut, whole = (line.get_xydata() for line in link_figures.fragment_cost(3000).lines[:2])
    apart = cut[:, 1] - whole[:, 1]
    assert (apart[cut[:, 0] <= 1460] == 0).all()
    assert (apart[cut[:, 0] > 1460] > 0).all()


def test_the_derived_share_past_a_sum_is_the_mean_over_the_places():
    derived = link_figures.past_checks(np.zeros(20)).lines[0].get_ydata()
    assert (derived[:8] == 0).all()
    assert derived[8] == pytest.approx(100 * np.mean([past_sum(9, first) for first in range(8)]))


def test_timeouts_are_drawn_as_given_beside_the_round_trip():
    first, rtt = link_figures.timeouts({"constant": np.array([3.0, 2.0])}, 1.26).lines
    assert list(first.get_ydata()) == [3.0, 2.0]
    assert set(rtt.get_ydata()) == {1.26}


def test_control_runs_and_power_start_and_end_where_the_formulas_do():
    session = ShortSession()
    ax = link_figures.control_runs(session, {"first": np.arange(10.0)})
    assert ax.lines[0].get_ydata()[5] == pytest.approx(session.seconds(848, 1.5, 0.5))
    assert ax.lines[1].get_ydata()[5] == pytest.approx(session.seconds(848, 1.5, 0.5, "section"))
    assert list(ax.lines[2].get_ydata()) == list(range(10))
    x, y = link_figures.power_and_latency(session).lines[0].get_data()
    assert (x[0], x[-1]) == pytest.approx((90, 75))
    assert y[-1] == pytest.approx(session.seconds(212, 2.5))


def test_the_timeouts_of_a_window_are_drawn_over_the_slots_of_their_round_trips():
    ax = link_figures.window_timeouts({"8 kB": [(100, 1.0, 3.0), (300, 2.0, 4.5)]}, 3.0)
    wait, rtt, constant = ax.lines
    assert wait.get_xdata().tolist() == rtt.get_xdata().tolist() == [1.0, 3.0]
    assert wait.get_ydata().tolist() == [3.0, 4.5]
    assert rtt.get_ydata().tolist() == [1.0, 2.0]
    assert set(constant.get_ydata()) == {3.0}


def test_a_window_beyond_the_bridge_s_memory_is_drawn_longer():
    ax = link_figures.congested({"room for 8": Ethernet(load=0.5, room=8), "all": Ethernet(load=0.5)}, 40)
    small, large = ({int(x): y for x, y in line.get_xydata()} for line in (ax.containers[0][0], ax.containers[1][0]))
    alone = Session(50_000, window=3072, window_limit=3072).run().seconds
    assert large[3] == pytest.approx(alone, abs=0.1)  # a slot behind others, now and then
    assert large[32] == pytest.approx(alone, abs=0.1)
    assert small[3] < large[3] + 1.5
    assert min(small[16], small[32]) > small[4] + 5
    assert small[1] > small[3] + 5
