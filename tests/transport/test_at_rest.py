"""What waits on a broker can be read in its store, ours and mosquitto's; of a sealed object only its rules can."""

from __future__ import annotations

import json

import pytest

from voicewire_book import paths
from voicewire_book.chapters.transport import broker_store_contents

RECORDED = json.loads((paths.data("transport") / "at_rest.json").read_text())
BROKERS = [
    "embedded",
    pytest.param("mosquitto", marks=pytest.mark.needs("mosquitto")),
]


@pytest.mark.parametrize("which", BROKERS)
def test_what_was_recorded_is_seen_again(which: str) -> None:
    assert broker_store_contents.looked(which) == RECORDED[which]


@pytest.mark.parametrize("which", BROKERS)
def test_a_search_that_finds_nothing_proves_nothing_unless_the_message_is_there(
    which: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert broker_store_contents.seen(b"pulse 71/min", {"a part": b"71/", "another": b"72/"}, which) == {
        "a part": True, "another": False,
    }  # fmt: skip
    monkeypatch.setattr(
        broker_store_contents, "subscribed", lambda *args, **more: broker_store_contents.connect(args[0])
    )  # nobody waits for it
    with pytest.raises(ValueError, match=f"the store of the broker \\({which}\\) does not hold the message"):
        broker_store_contents.seen(b"pulse 71/min", {}, which)


def test_no_other_broker_is_known() -> None:
    with pytest.raises(ValueError, match="embedded or mosquitto, not 'paper'"):
        broker_store_contents.seen(b"x", {}, "paper")
