"""AMQP and HTTP beside MQTT: the recorded captures are whole sessions, and what they are counted by counts alike."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from voicewire.testbed import Host, TestbedError, capture, rabbitmq
from voicewire.testbed.rabbitmq import RabbitMQ
from voicewire.transport import paper
from voicewire.transport.linear_topology import Bed
from voicewire_book import paths
from voicewire_book.chapters.transport import amqp_http

DATA = paths.data("transport")
GREETS = {
    "amqp-0-9-1": b"AMQP\x00\x00\x09\x01", "amqp-1.0": b"AMQP\x03\x01\x00\x00",
    "http": b"POST ", "http-least": b"POST ",
}  # fmt: skip
ACCEPTED = {"amqp-0-9-1": b"\x00\x3c\x00\x50", "amqp-1.0": b"\x00\x53\x24", "http": b" 204 ", "http-least": b" 204 "}


def file_of(protocol: str, session: str) -> Path:
    return DATA / "captures" / f"{protocol}-{session}.pcap"


@pytest.mark.parametrize("session", ["fresh", "persistent"])
@pytest.mark.parametrize("protocol", amqp_http.PROTOCOLS)
def test_a_capture_holds_one_session_whole_and_each_message_once(protocol: str, session: str) -> None:
    segments = list(capture.read_pcap(file_of(protocol, session)))
    client, server = segments[0].source, segments[0].target
    assert {s.source for s in segments} == {client, server}
    assert [s.flags for s in segments[:3]] == ["S", "SA", "A"]
    assert any("F" in s.flags for s in segments[-3:])
    said, told = capture.stream(segments, client, server), capture.stream(segments, server, client)
    assert said.startswith(GREETS[protocol])
    messages = amqp_http.MESSAGES if session == "persistent" else 1
    assert [said.count(amqp_http.message(n)) for n in range(messages + 1)] == [1] * messages + [0]
    assert told.count(ACCEPTED[protocol]) >= (1 if protocol == "amqp-0-9-1" else messages)  # a word may confirm several


@pytest.mark.parametrize("protocol", amqp_http.PROTOCOLS)
def test_the_overhead_of_a_whole_session_is_all_its_packets_less_the_message(protocol: str) -> None:
    packets = [packet for _, packet in capture.read_packets(file_of(protocol, "fresh"))]
    assert amqp_http.recorded_overhead(DATA, protocol, "fresh") == sum(map(len, packets)) - amqp_http.SIZE


@pytest.mark.parametrize("protocol", amqp_http.PROTOCOLS)
def test_a_message_in_an_open_session_is_the_mean_of_those_between_the_second_and_the_last(protocol: str) -> None:
    packets = [packet for _, packet in capture.read_packets(file_of(protocol, "persistent"))]
    first, last = (
        next(i for i, packet in enumerate(packets) if amqp_http.message(n) in packet)
        for n in (1, amqp_http.MESSAGES - 1)
    )
    mean = sum(map(len, packets[first:last])) / (amqp_http.MESSAGES - 2) - amqp_http.SIZE
    assert amqp_http.recorded_overhead(DATA, protocol, "persistent") == pytest.approx(mean)
    assert 104 < mean < amqp_http.recorded_overhead(DATA, protocol, "fresh")  # a segment and its acknowledgement


def test_what_was_counted_while_recording_is_what_the_captures_say() -> None:
    about = json.loads((DATA / "amqp.json").read_text())
    for protocol, sessions in about["overhead"].items():
        for session, octets in sessions.items():
            assert amqp_http.recorded_overhead(DATA, protocol, session) == pytest.approx(octets)


def test_a_message_that_is_not_in_the_capture_is_told() -> None:
    segments = [replace(s, payload=b"") for s in capture.read_pcap(file_of("http", "fresh"))]
    with pytest.raises(ValueError, match="message 0 is not in the capture"):
        amqp_http.overhead(segments, 1)


@pytest.mark.needs("namespaces")
@pytest.mark.parametrize("protocol", ["http", "http-least"])
def test_http_captured_anew_is_the_session_that_was_recorded(protocol: str, tmp_path: Path) -> None:
    with Bed(("sender", "receiver"), paper.LAN) as bed, amqp_http._http(bed) as address:
        amqp_http._captured(bed, address, protocol, 1, tmp_path / "one.pcap")
    streams = []
    for file in (tmp_path / "one.pcap", file_of(protocol, "fresh")):
        segments = list(capture.read_pcap(file))
        ends = segments[0].source, segments[0].target
        said, told = capture.stream(segments, *ends), capture.stream(segments, *ends[::-1])
        streams.append((len(said), told.split(b"\r\n")[0]))
    assert abs(streams[0][0] - streams[1][0]) <= 4  # the Host header has an address and a port of its own
    assert streams[0][1] == streams[1][1]


@pytest.mark.needs("namespaces")
def test_rabbitmq_that_is_not_installed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rabbitmq, "_PROGRAM", "/nowhere/rabbitmq-server")
    with Host("broker") as host, pytest.raises(TestbedError, match=r"not installed.*data/transport"):
        RabbitMQ(host)


def test_rabbitmq_opens_no_port_outside_a_host_of_its_own() -> None:
    with pytest.raises(TestbedError, match="a host of its own"):
        RabbitMQ(None)


def test_a_client_that_is_not_installed_is_named() -> None:
    with pytest.raises(TestbedError, match="pika is not installed"):
        amqp_http._library("voicewire.no_such_module", "pika")
