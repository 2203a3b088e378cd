"""The tools of a seal in small numbers are the libraries' in large ones; segments lie between their bounds."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.poly1305 import Poly1305
from hypothesis import assume, given
from hypothesis import strategies as st

from voicewire.transport import measurement_runs, paper
from voicewire.transport.reference import header_bytes
from voicewire.transport.toy_examples import agreed, conversation, loop_headers, response, tag, vouched
from voicewire_book import paths
from voicewire_book.chapters.foundations.tcp import small_writes
from voicewire_book.chapters.transport import captured_sessions, readings

PRIME = 2**255 - 19
WRITES = {"tcp": ">", "mqtt-qos0": "><>>", "mqtt-qos1": "><><>", "mqtt-qos2": "><><><>"}
"""CONNECT, CONNACK, PUBLISH with its answers, DISCONNECT; the message alone over bare TCP."""


@given(st.binary(max_size=70), st.binary(min_size=32, max_size=32))
def test_the_tag_is_poly1305(message: bytes, key: bytes) -> None:
    """RFC 8439, section 2.5: blocks of 16 bytes with a bit behind each, and some bits of h always 0."""
    blocks = [int.from_bytes(message[i : i + 16] + b"\x01", "little") for i in range(0, len(message), 16)]
    h = int.from_bytes(key[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
    ours = tag(blocks, h, int.from_bytes(key[16:], "little"), 2**130 - 5, 2**128)
    assert ours.to_bytes(16, "little") == Poly1305.generate_tag(key, message)


@given(st.integers(0, PRIME), st.integers(0, 2**255))
def test_agreed_numbers_are_pythons_powers(theirs: int, own: int) -> None:
    assert agreed(theirs, own, PRIME) == pow(theirs, own, PRIME)


@given(st.integers(2, PRIME - 2), st.integers(2, PRIME - 2))
def test_both_ends_agree(mine: int, yours: int) -> None:
    assert agreed(agreed(2, yours, PRIME), mine, PRIME) == agreed(agreed(2, mine, PRIME), yours, PRIME)


@given(st.integers(0, 10), st.integers(0, 10), st.integers(1, 10), st.integers(1, 10))
def test_a_signature_holds_for_its_challenge_alone(k: int, challenge: int, secret: int, off: int) -> None:
    s, r, public = response(k, challenge, secret, 11), agreed(2, k, 23), agreed(2, secret, 23)
    assert vouched(s, r, challenge, public, 2, 23)
    assert not vouched((s + off) % 11, r, challenge, public, 2, 23)
    assert not vouched(s, r, challenge + off, public, 2, 23)


@pytest.mark.parametrize("name", list(WRITES))
def test_recorded_conversations_lie_between_the_bounds(name: str) -> None:
    """Who says what in which order, as captured; and the segments of each."""
    example = captured_sessions.load(paths.data("transport"), name)
    said = "".join("><"[not s.outgoing] for s in example.segments if s.length)
    assert said == WRITES[name]
    few, many = (conversation(said, riding) for riding in (True, False))
    assert len(few) == len(said) + 4 and len(many) == 2 * len(said) + 7
    assert len(few) <= len(example.segments) <= len(many)


def test_all_fresh_messages_lie_between_the_bounds() -> None:
    """Of a payload that fits a segment, on both networks, whatever the broker's setting; a loss adds segments."""
    rows = measurement_runs.load_iterations(paths.data("transport"))
    whole = rows[(rows.session == "fresh") & (rows["size"] <= 1000) & (rows.kind != "icto")]
    for (transport, qos), some in whole.groupby(["transport", "qos"]):
        end = "sender" if transport == "tcp" else "publisher"
        kept = some[some[f"{end}_retransmitted"] == 0][f"{end}_header"]
        writes = WRITES["tcp" if transport == "tcp" else f"mqtt-qos{qos}"]
        low, high = (header_bytes(conversation(writes, riding)) for riding in (True, False))
        assert len(kept) > 1000
        assert kept.between(low, high).all(), (transport, qos, kept.describe())


def test_the_least_ratio_of_headers_is_found_by_hand() -> None:
    """Figure 4, at the sending end: means of each configuration with one payload, over TCP's of the same kind."""
    rows = measurement_runs.load_iterations(paths.data("transport"))
    some = rows[(rows.network == "lan") & (rows.session == "fresh") & (rows["size"] == 100) & rows.nodelay]
    tcp = some[some.transport == "tcp"].groupby("kind").sender_header.mean()
    mqtt = some[some.transport == "mqtt"].groupby(["qos", "kind"]).publisher_header.mean()
    ratios = [mqtt[qos, kind] / tcp[kind] for qos in (0, 1, 2) for kind in ("bytes", "file")]
    found = readings.header_ratio(readings.Recorded(rows), ["lan"], [100])
    assert found["sending end"] == pytest.approx(min(ratios))
    assert readings.header_ratio(readings.Recorded(rows), ["lan"], [100], transport="tcp")["sending end"] == 1.0


@given(st.integers(1, 60), st.integers(1, 400), st.integers(1, 100))
def test_a_loop_has_the_segments_that_following_each_write_gives(n: int, gap: int, answer: int) -> None:
    """In whole milliseconds; where an answer comes just when a message is written, either may be first."""
    assume(all(k * gap % answer for k in range(1, n)))
    segments = len(small_writes([float(k * gap) for k in range(n)], float(answer)))
    assert loop_headers(n, gap, answer) == 400 + 64 * (segments - 1)


def test_recorded_loops_lie_between_a_prompt_and_a_delayed_acknowledgement() -> None:
    """To four segments, which closing and jitter make of it."""
    rows = measurement_runs.load_iterations(paths.data("transport"))
    loops = rows[(rows.session == "loop") & (rows.qos == 0) & (rows["size"] <= 10) & (rows.gap > 0)]
    loops = loops[(loops.transport == "mqtt") & (loops.publisher_retransmitted == 0)]
    assert len(loops) > 200
    for (network, gap), some in loops.groupby(["network", "gap"]):
        rtt = 1e3 * paper.NETWORKS[network].rtt
        low, high = (loop_headers(paper.LOOP, gap * rtt, rtt + delay) for delay in (40.0, 0.0))
        assert some.publisher_header.between(low - 128, high + 128).all(), (network, gap)
