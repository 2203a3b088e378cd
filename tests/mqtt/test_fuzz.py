"""Mutated byte streams: the broker neither crashes nor leaks, and other clients don't notice.

The bounded run is here; `python tests/helpers/fuzz.py --streams 1000000` is the long one.
"""

from __future__ import annotations

import fuzz
import pytest

pytestmark = pytest.mark.night


def test_mutated_streams() -> None:
    result = fuzz.run(streams=4000, seed=7)
    assert result.streams == 4000 and result.restarts == 2
    assert result.errors == []
    assert result.witness_lost == 0 and result.denied == 0
    assert result.connections_left == result.tasks_left == result.jobs_left == result.clean_sessions_left == 0
    assert result.bytes_left == result.miscounted == 0
    assert result.clean
    assert result.lines > 500  # the mutations reach most of the broker, not only its front door
