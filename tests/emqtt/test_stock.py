"""What a broker that knows nothing of E-MQTT was asked, and what it said."""

from __future__ import annotations

import json

import pytest

from voicewire.mqtt import BrokerThread, Config
from voicewire.mqtt.serving import broker_process
from voicewire_book import paths
from voicewire_book.chapters.emqtt import interrupted_exchanges, record, stock_broker
from voicewire_book.ledger import evidence

OURS = {"SUBSCRIBE": True, "PUBLISH": False, "PUBREL": True, "PUBREC": True}
"""Whether our broker goes on at QoS 3; a PUBLISH needs a client that has asked for QoS 3 first."""


def test_our_broker_goes_on_where_it_should():
    with BrokerThread(Config(port=0)) as broker:
        found = stock_broker.asked(broker.port)
    silent = found.pop("silent subscriber")
    assert found == {name: {"QoS 2": True, "QoS 3": goes_on} for name, goes_on in OURS.items()}
    assert silent == {"PUBREC at QoS 2": True}


@pytest.mark.needs("mosquitto")
def test_mosquitto_says_what_is_recorded(tmp_path):
    record.record_stock(tmp_path, tell=str)
    new, kept = (json.loads((folder / "stock.json").read_text()) for folder in (tmp_path, paths.data("emqtt")))
    assert new["goes on"].keys() == kept["goes on"].keys()
    if new["provenance"]["versions"]["mosquitto"] == kept["provenance"]["versions"]["mosquitto"]:
        assert new["goes on"] == kept["goes on"]


def test_nothing_is_recorded_without_mosquitto(tmp_path, monkeypatch):
    monkeypatch.setattr(broker_process, "mosquitto_version", lambda: None)
    with pytest.raises(FileNotFoundError, match="mosquitto is not installed"):
        record.record_stock(tmp_path / "out", tell=str)
    assert not (tmp_path / "out").exists()


def test_at_qos_1_each_message_is_taken_once_or_more():
    with BrokerThread(Config(port=0)) as broker:
        taken = interrupted_exchanges.delivered(broker.port, 1)
    assert min(taken) == 1
    assert max(taken) == 2  # the receiver was cut before its PUBACK, and takes the repetition for a new message


def test_the_readme_lists_every_recording():
    folder = paths.data("emqtt")
    listed = (folder / "README.md").read_text("utf-8")
    assert [name for name in evidence.known(folder) if f"`{name}`" not in listed] == []
