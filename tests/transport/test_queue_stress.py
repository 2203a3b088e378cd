"""The broker's queue for a subscriber that is away, filled beyond what it may keep."""

from __future__ import annotations

import pytest

from voicewire.mqtt import Limits
from voicewire_book.chapters.transport.queue_stress import Queued, filled


def test_within_its_limits_everything_is_kept_in_order() -> None:
    assert filled(250) == Queued(250, 250, 0, tuple(range(250)))


@pytest.mark.parametrize(("limits", "kept"), [(Limits(max_queued=30), 30), (Limits(max_queued_bytes=30 * 200), None)])
def test_beyond_them_the_newest_are_dropped_and_all_are_acknowledged(limits: Limits, kept: int | None) -> None:
    found = filled(120, limits=limits)
    assert found.acknowledged == found.sent == 120
    assert found.received == tuple(range(len(found.received)))
    assert 0 < found.lost == found.dropped < 120
    assert kept is None or len(found.received) == kept


def test_more_than_one_window_comes_through() -> None:
    assert filled(150, limits=Limits(max_inflight=20)).received == tuple(range(150))


def test_a_number_has_four_bytes() -> None:
    with pytest.raises(ValueError, match="size"):
        filled(1, size=3)


def test_order_is_told() -> None:
    assert not Queued(3, 3, 0, (0, 2, 1)).in_order
    assert not Queued(3, 3, 0, (0, 1, 1)).in_order
    assert Queued(3, 3, 1, (0, 2)).in_order
