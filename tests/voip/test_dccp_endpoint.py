"""Feature negotiation, cookie, sequence windows and the ECN nonce against their sections of RFC 4340."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicewire.voip.dccp import features, init_cookie, nonce, sequence_numbers
from voicewire.voip.dccp.header import Packet, Type, ack_vector, decode, encode, read_ack_vector
from voicewire.voip.dccp.rules import SPACE
from voicewire.voip.errors import VoipError

NUMBER = st.integers(0, SPACE - 1)
SHORT = 1 << 24


# Sequence numbers: sections 7.5 and 7.6


def packet(kind: Type, seq: int, ack: int) -> Packet:
    extra = {"service": 1} if kind in (Type.REQUEST, Type.RESPONSE) else {}
    extra |= {"reset": (1, 0, 0, 0)} if kind is Type.RESET else {}
    return Packet(kind, 1, 2, seq, None if kind in (Type.REQUEST, Type.DATA) else ack, **extra)


def by_table(kind: Type, seq: int, ack: int, gsr: int, gss: int, gar: int) -> bool:
    """The table of section 7.5.3 for a window of 100, numbers far from any wrap."""
    swl, swh, awl, awh = gsr - 24, gsr + 75, gss - 99, gss
    if kind in (Type.SYNC, Type.SYNC_ACK):
        return swl <= seq and awl <= ack <= awh
    if kind in (Type.CLOSE_REQ, Type.CLOSE, Type.RESET):
        return gsr < seq <= swh and gar <= ack <= awh
    return swl <= seq <= swh and (kind in (Type.REQUEST, Type.DATA) or awl <= ack <= awh)


@pytest.mark.parametrize("kind", list(Type))
def test_each_row_of_the_table_of_windows(kind):
    seqs = [1000 + d for d in (-26, -25, -24, -23, 0, 1, 74, 75, 76, 9999)]
    acks = [500 + d for d in (-101, -100, -99, -98, -11, -10, -9, 0, 1)]
    for seq, ack in itertools.product(seqs, acks):
        n = sequence_numbers.Numbers(isr=0, gsr=1000, iss=0, gss=500, gar=490)
        fits = by_table(kind, seq, ack, 1000, 500, 490)
        refused = "drop" if kind in (Type.SYNC, Type.SYNC_ACK) else "sync"
        assert sequence_numbers.met(n, packet(kind, seq, ack)) == ("take" if fits else refused)
        assert n.gsr == (max(1000, seq) if fits else 1000)
        told = fits and kind not in (Type.REQUEST, Type.DATA, Type.SYNC)
        assert n.gar == (max(490, ack) if told else 490)


@given(gsr=NUMBER, gss=NUMBER, ahead=st.integers(-200, 200))
def test_windows_go_round_with_the_numbers(gsr, gss, ahead):
    far = {"isr": (gsr - 10**6) % SPACE, "iss": (gss - 10**6) % SPACE}
    n = sequence_numbers.Numbers(gsr=gsr, gss=gss, gar=gss, **far)
    found = sequence_numbers.met(n, Packet(Type.DATA, 1, 2, (gsr + ahead) % SPACE))
    assert found == ("take" if -24 <= ahead <= 75 else "sync")


def test_nothing_from_before_the_connection_is_taken():
    n = sequence_numbers.Numbers(isr=1000, gsr=1001, iss=50, gss=51, gar=50)
    assert sequence_numbers.windows(n) == (1000, 1076, 50, 51)


def test_a_burst_of_losses_is_healed_by_a_sync_that_only_the_other_end_can_answer():
    assert sequence_numbers.resynchronise(74) == ["Data: take"]
    assert sequence_numbers.resynchronise(10**6)[-1] == "Data: take"
    n = sequence_numbers.Numbers(isr=0, gsr=1000, iss=0, gss=500, gar=490)
    forged = Packet(Type.SYNC_ACK, 1, 2, seq=10**6, ack=10**6)  # of a stranger, who has not seen the Sync
    assert sequence_numbers.met(n, forged) == "drop"
    assert n.gsr == 1000


@given(near=NUMBER, short=st.integers(0, SHORT - 1))
def test_short_numbers_are_lengthened_as_in_the_procedure_of_section_7_6(near, short):
    low, high = near % SHORT, near // SHORT
    before = (short - low) % SHORT < SHORT // 2 and short != low  # REF_low (<) S
    if before and short < low:
        high = (high + 1) % SHORT
    elif not before and short > low:
        high = (high - 1) % SHORT
    assert sequence_numbers.lengthen(short, near) == high * SHORT + short


def test_short_numbers_must_be_lengthened_first():
    n = sequence_numbers.Numbers(isr=0, gsr=1000, iss=0, gss=500, gar=490)
    with pytest.raises(VoipError, match="lengthen"):
        sequence_numbers.met(n, Packet(Type.DATA, 1, 2, 5, extended=False))
    with pytest.raises(VoipError, match="peer window is 31"):
        sequence_numbers.Numbers(isr=0, gsr=1000, iss=0, gss=500, gar=490, peer_window=31)


# Init Cookie: section 8.1.4

SECRET = bytes(range(16))
ASKS = Packet(Type.REQUEST, 5004, 5006, seq=2**47, service=42)


def came(option, ack=7, kind=Type.ACK, ports=(5004, 5006)):
    """What the client sends next, over the wire."""
    return decode(encode(Packet(kind, *ports, seq=2**47 + 1, ack=ack, options=(option,))))


def test_a_connection_opens_though_the_server_kept_nothing():
    server = init_cookie.Listener(SECRET, 42)
    answer = server.on_packet(b"client", ASKS, iss=7, now=0)
    assert (answer.type, answer.seq, answer.ack) == (Type.RESPONSE, 7, ASKS.seq)
    assert server.__slots__ == ("secret", "service")  # there is no room for more
    for kind in (Type.ACK, Type.DATA_ACK):
        again = init_cookie.Listener(SECRET, 42)  # another process with the same secret will do
        found = again.on_packet(b"client", came(answer.options[0], kind=kind), iss=99, now=100)
        assert found == init_cookie.Opened(iss=7, isr=2**47, service=42)


@given(at=st.integers(0, 39), bit=st.integers(0, 7))
def test_a_cookie_with_one_bit_changed_opens_nothing(at, bit):
    value = bytearray(init_cookie.bake(SECRET, b"client", ASKS, iss=7, now=0))
    value[at] ^= 1 << bit
    assert init_cookie.opened(SECRET, b"client", came((36, bytes(value))), now=0) is None


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"peer": b"another"}, "another's address"),
        ({"ports": (5005, 5006)}, "another port"),
        ({"ack": 8}, "acknowledges nothing that was sent"),
        ({"now": 60_001}, "too old"),
        ({"now": -1}, "from the future"),
    ],
)
def test_a_cookie_of_another_or_of_another_time_opens_nothing(change, why):
    option = 36, init_cookie.bake(SECRET, b"client", ASKS, iss=7, now=0)
    sent = came(option, ack=change.get("ack", 7), ports=change.get("ports", (5004, 5006)))
    server = init_cookie.Listener(SECRET, 42)
    answer = server.on_packet(change.get("peer", b"client"), sent, iss=9, now=change.get("now", 0))
    assert answer.reset[0] == init_cookie.BAD_COOKIE, why


def test_what_opens_nothing_gets_a_reset_and_a_reset_gets_nothing():
    server = init_cookie.Listener(SECRET, 42)
    other = Packet(Type.REQUEST, 5004, 5006, seq=1, service=43)
    assert server.on_packet(b"c", other, iss=9, now=0).reset[0] == 8  # Bad Service Code
    stray = server.on_packet(b"c", Packet(Type.ACK, 1, 2, seq=5, ack=8), iss=9, now=0)
    assert (stray.reset[0], stray.seq, stray.ack) == (3, 9, 5)  # No Connection; section 8.3.1
    assert server.on_packet(b"c", packet(Type.RESET, 5, 8), iss=9, now=0) is None
    with pytest.raises(VoipError, match="16 bytes"):
        init_cookie.Listener(b"short", 42)
    with pytest.raises(VoipError, match="Request"):
        init_cookie.bake(SECRET, b"c", packet(Type.ACK, 5, 8), iss=9, now=0)


# Features: section 6


@given(
    server=st.lists(st.integers(0, 255), min_size=1, max_size=6),
    client=st.lists(st.integers(0, 255), min_size=1, max_size=6),
)
def test_both_ends_come_to_the_first_of_the_servers_list_that_the_client_has(server, client):
    shared = [v for v in server if v in client]
    assert features.agree(client, server) == (((shared or [2])[0],) * 2)


def test_the_example_of_section_6_5_crosses_the_wire():
    client, server = features.Negotiator("client"), features.Negotiator("server")
    server.likes[True, 1] = [3, 2]
    asks = client.change(False, 1, [2, 3, 4])
    assert asks == (features.CHANGE_R, bytes([1, 2, 3, 4]))
    there = decode(encode(Packet(Type.REQUEST, 1, 2, 5, service=9, options=(asks,))))
    answers = server.on_options(there.options)
    assert answers == [(features.CONFIRM_L, bytes([1, 3, 3, 2]))]
    back = decode(encode(Packet(Type.RESPONSE, 2, 1, 5, 5, service=9, options=tuple(answers))))
    assert client.on_options(back.options) == []
    assert client.value(False, 1) == server.value(True, 1) == 3
    assert client.value(True, 1) == server.value(False, 1) == 2  # the other half-connection has its own
    assert not client.asked


def test_a_number_is_its_owners_to_set():
    client, server = features.Negotiator("client"), features.Negotiator("server")
    option = client.change(True, 3, [1000])
    assert option == (32, b"\x03" + (1000).to_bytes(6, "big"))
    client.on_options(server.on_options([option]))
    assert client.value(True, 3) == server.value(False, 3) == 1000
    with pytest.raises(VoipError, match="owner"):
        client.change(False, 3, [1000])
    assert server.on_options([(features.CHANGE_R, b"\x05\x00\x04")]) == [(features.CONFIRM_L, b"\x05")]


def test_unknown_features_change_nothing_unless_they_are_mandatory():
    end = features.Negotiator("server")
    assert end.on_options([(features.CHANGE_R, b"\x63\x01")]) == [(features.CONFIRM_L, b"\x63")]
    with pytest.raises(features.FeatureError) as failed:
        end.on_options([(features.MANDATORY, b""), (features.CHANGE_R, b"\x63\x01")])
    assert failed.value.code == 6
    asker = features.Negotiator("client")
    asker.change(False, 1, [3])
    asker.on_options([(features.CONFIRM_L, b"\x01")])
    assert asker.value(False, 1) == 2


@pytest.mark.parametrize(
    "option",
    [
        (features.CONFIRM_L, bytes([1, 2, 2, 3])),  # the server's own list gives 3
        (features.CONFIRM_L, b"\x03" + bytes(5) + b"\x64"),  # a number of the other end's, which is not asked for
        (features.CHANGE_L, bytes([2, 7])),  # a flag is 0 or 1
        (features.CHANGE_L, b"\x03\x00\x05"),  # below 32
        (features.CONFIRM_L, b""),
    ],
)
def test_what_cannot_be_ends_the_connection(option):
    client = features.Negotiator("client")
    client.change(False, 1, [3])
    with pytest.raises(features.FeatureError) as failed:
        client.on_options([option])
    assert failed.value.code == 5
    assert client.value(False, 1) == 2


def test_a_change_is_sent_again_until_it_is_confirmed_at_doubled_distances_up_to_64_s():
    """Section 6.6.3: a timer of at least a round trip, which backs off to 64 s; it never gives up by itself."""
    end = features.Negotiator("client", rtt=100)
    option = end.change(False, 1, [3], now=0)
    sent = [0]
    while len(sent) < 15:
        assert end.again(end.next_at - 1) == []
        sent.append(end.next_at)
        assert end.again(sent[-1]) == [option]
    waits = np.diff(sent)
    assert waits[:3].tolist() == [100, 200, 400] and (waits[-3:] == 64_000).all()
    assert ((waits[1:] == 2 * waits[:-1]) | (waits[1:] == 64_000)).all()
    end.on_options([(features.CONFIRM_L, bytes([1, 3, 3]))])
    assert end.next_at is None and end.again(10**9) == [] and end.value(False, 1) == 3


def test_the_confirm_of_a_change_that_was_sent_twice_is_ignored_the_second_time():
    """Section 6.6.2: in the state STABLE a Confirm changes nothing, and resets nothing."""
    client, server = features.Negotiator("client"), features.Negotiator("server")
    server.likes[True, 1] = [3, 2]
    first = client.change(False, 1, [2, 3], now=0)
    (second,) = client.again(client.next_at)
    for change in (first, second):
        client.on_options(server.on_options([change]))
    assert client.value(False, 1) == server.value(True, 1) == 3
    client.on_options([(features.CONFIRM_L, bytes([6, 1, 1]))])  # nobody asked: ignored, too
    assert client.value(False, 6) == 0
    with pytest.raises(features.FeatureError) as failed:
        client.on_options([(features.MANDATORY, b""), (features.CONFIRM_L, b"\x63\x01")])
    assert failed.value.code == 6


@given(lost=st.sets(st.integers(0, 12)), client=st.permutations([2, 3]), server=st.permutations([2, 3]))
def test_both_ends_agree_whatever_is_lost(lost, client, server):
    told = features.settle(client, server, sorted(lost), rtt=100)
    assert told[-1][1] == f"CCID {server[0]}"
    changes = [at for at, what in told if what.startswith("Change")]
    assert np.diff([0, *np.diff(changes)]).min(initial=0) >= 0  # each wait at least as long as the one before
    confirmed = sum(what.startswith("Confirm") for _, what in told)
    arrived = sum(what.startswith("Change") and not what.endswith("lost") for _, what in told)
    assert confirmed == arrived  # a Confirm for each Change that comes, and none by itself


@pytest.mark.parametrize("values", [[], [300], [-1], [2.5]])
def test_impossible_wishes_are_refused(values):
    with pytest.raises(VoipError):
        features.Negotiator("client").change(True, 1, values)
    with pytest.raises(VoipError):
        features.Negotiator("both")


@given(st.lists(st.tuples(st.integers(0, 255), st.binary(max_size=20)), max_size=5))
def test_rubbish_is_answered_or_refused(options):
    end = features.Negotiator("server")
    try:
        answers = end.on_options(options)
    except features.FeatureError as error:
        assert error.code in (5, 6)
    else:
        assert all(kind in (33, 35) for kind, _ in answers)


# The nonce: section 12.2


@given(st.text("RMN", min_size=1, max_size=200))
def test_ack_vectors_are_read_back(states):
    assert read_ack_vector(ack_vector(states)) == states


@given(st.lists(st.tuples(st.sampled_from("RMN"), st.integers(0, 1)), min_size=1, max_size=100), st.data())
def test_honest_receivers_are_believed_and_liars_found_by_the_parity_of_what_they_hide(rows, data):
    states = "".join(s for s, _ in rows)
    drawn = [n for _, n in rows]
    seen = [n if s == "R" else 0 for s, n in rows]  # a mark has written over it
    assert nonce.honest(nonce.report(states, seen), drawn)
    guess = [n if s == "R" else data.draw(st.integers(0, 1)) for s, n in rows]
    lie = nonce.report("R" * len(rows), guess)
    wrong = sum(g != n for g, n in zip(guess, drawn, strict=True))
    assert nonce.honest(lie, drawn) == (wrong % 2 == 0)


def test_many_liars_at_once_are_those_of_the_reading_version():
    """Half of the reports that hide something are wrong: `found_after` against reports made one by one."""
    rng, never, first = np.random.default_rng(3), 0, []
    for _ in range(2000):
        for k in range(1, 11):
            states = "".join("M" if rng.random() < 0.1 else "R" for _ in range(10))
            drawn = rng.integers(0, 2, 10).tolist()
            guess = [n if s == "R" else int(rng.integers(2)) for s, n in zip(states, drawn, strict=True)]
            if not nonce.honest(nonce.report("R" * 10, guess), drawn):
                first.append(10 * k)
                break
        else:
            never += 1
    quick = nonce.found_after(np.random.default_rng(4), 100, 0.1, lies=np.ones(2000, bool))
    hides = 1 - 0.9**10
    for found in (never / 2000, float(np.isinf(quick).mean())):
        assert abs(found - (1 - hides / 2) ** 10) < 0.02  # four standard errors of 2000
    assert abs(np.mean(first) - quick[np.isfinite(quick)].mean()) < 3


def test_honest_receivers_are_never_accused():
    assert np.isinf(nonce.found_after(np.random.default_rng(1), 10_000, 0.2, lies=np.zeros(50, bool))).all()


def test_a_vector_and_nonces_go_together():
    with pytest.raises(VoipError, match="2 nonces"):
        nonce.honest(nonce.report("RRR", [1, 1, 1]), [1, 1])
    with pytest.raises(VoipError, match="Ack Vector"):
        nonce.honest((40, b"\x00"), [1])
    with pytest.raises(VoipError, match="reserved"):
        nonce.honest((38, b"\x80"), [1])


@pytest.mark.parametrize("wrong", [{"packets": 0}, {"marked": 1.5}, {"each": 0}, {"rng": 5}, {"lies": "yes"}])
def test_impossible_receivers_are_refused(wrong):
    given_ = {"rng": np.random.default_rng(1), "packets": 100, "marked": 0.1} | wrong
    with pytest.raises(VoipError):
        nonce.found_after(**given_)
