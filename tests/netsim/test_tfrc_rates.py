"""What TFRC remembers: rates, being limited by data (RFC 5348, 4.3 and 8.2.1), short intervals (RFC 4828, 4.4)."""

from __future__ import annotations

import pytest

from voicewire._kit._records import table
from voicewire.netsim import tfrc_receiver, tfrc_sender
from voicewire.netsim.flow_state import SECOND, FlowState


def a_flow(**fields):
    flow = table(FlowState, 1)
    for name, value in fields.items():
        flow[name] = value
    return flow[0]


def test_rates_older_than_two_round_trips_leave_the_set_with_their_times():
    flow = a_flow(rtt=1.0, set_size=3)
    flow["set_value"][:3] = 5, 7, 6
    flow["set_time"][:3] = 0, 5 * SECOND, 6 * SECOND
    assert tfrc_sender._receive_limit(flow, int(6.5 * SECOND), 1.0, False, False) == 14.0
    assert list(flow["set_value"][:3]) == [7, 6, 1]
    assert list(flow["set_time"][:3]) == [5 * SECOND, 6 * SECOND, int(6.5 * SECOND)]
    assert tfrc_sender._receive_limit(flow, int(7.5 * SECOND), 1.0, False, False) == 12.0


def test_a_second_moment_without_limit_is_noted_once_a_report_has_come_since():
    flow = a_flow(rtt=1e-9, limited1=10, limited2=20, set_size=0)
    tfrc_sender._modern_limit(flow, 30, 5, 1.0, False)  # the report answers a packet of time 5
    tfrc_sender.limited(flow, 40)
    assert (flow["limited1"], flow["limited2"]) == (10, 40)


@pytest.mark.parametrize(("when", "interval"), [(2 * SECOND, 5.0), (2 * SECOND + 1, 10.0)])
def test_an_interval_of_two_round_trips_is_short_and_one_longer_is_not(when, interval):
    flow = a_flow(small=True, events=1, closed=1, event_losses=2, least_discount=1.0)
    assert tfrc_receiver._loss(flow, 10, when, when, 1.0, 20)
    assert flow["intervals"][1] == interval
