"""The pages beside the chapters, in a browser with the network off: held to what `test_browser` holds chapters to."""

from __future__ import annotations

import lanes
import pytest
from tests.test_browser import OTHERS, Visit, axe, browser, looked_at, pytestmark

__all__ = ["axe", "browser", "pytestmark"]  # fixtures and needs that pytest finds by their names here


@pytest.mark.parametrize("name", lanes.sampled(OTHERS, 1))
def test_a_page_is_quiet_offline_accessible_and_no_wider_than_a_telephone(browser, axe, name):
    with Visit(browser, name) as visit:
        looked_at(visit, axe)
