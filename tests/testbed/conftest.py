"""Beds for tests: two linked hosts, wherever privileges allow."""

from __future__ import annotations

import pytest

from voicewire.testbed.hosts import may_make_namespaces

WHY_NOT = may_make_namespaces()


@pytest.fixture
def privileged() -> None:
    """Skip, with the reason, where no namespace can be made."""
    if WHY_NOT is not None:
        pytest.skip(f"needs network namespaces: {WHY_NOT}")
