"""What one client may cost, and what it may do: limits, back-pressure, access rules, passwords, TLS."""

from __future__ import annotations

import base64
import contextlib
import datetime
import hashlib
import itertools
import resource
import socket
import ssl
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from waiting import eventually

from voicewire.mqtt import (
    Access,
    BrokerThread,
    Config,
    ConfigError,
    Limits,
    MalformedError,
    MemoryBroker,
    RefusedError,
)
from voicewire.mqtt import packets as p
from voicewire.mqtt.client import Client
from voicewire.mqtt.config import Permissions, covers, load
from voicewire.mqtt.raw_socket_client import Wire, connect, subscribed
from voicewire.mqtt.serving.passwords import SLOW, Passwords, Secret
from voicewire.mqtt.topics import MAX_LEVELS, matches

Start = Callable[..., BrokerThread]


# ---------------------------------------------------------------------- limits
def test_packet_too_large(broker: Start) -> None:
    port = broker(limits=Limits(max_packet=1000)).port
    with connect(port) as wire:
        wire.send(p.Publish("t", bytes(990)))
        wire.quiet()
        wire.send(p.encode(p.Publish("t", bytes(1000)))[:10])
        wire.closed()


@given(st.integers(30, 300), st.integers(-20, 20), st.integers(0, 2))
def test_a_packet_is_taken_up_to_the_limit_and_not_beyond(limit: int, beyond: int, qos: int) -> None:
    """Below 128 bytes, too, where a size has one byte."""
    payload = bytes(limit + beyond - 3 - (2 if qos else 0))
    with MemoryBroker(Config(limits=Limits(max_packet=limit))) as broker, broker.wire() as wire:
        wire.send(p.Connect("c"))
        wire.expect(p.Connack(False, 0))
        wire.send(p.Publish("t", payload, qos, packet_id=1 if qos else 0))
        if beyond > 0:
            wire.closed()
        else:
            wire.expect(*((), (p.Puback(1),), (p.Pubrec(1, 2),))[qos])
            wire.quiet()


def test_strangers_are_not_read_from(port: int) -> None:
    with Wire(port) as wire:
        wire.send(b"\x10\xff\xff\xff\x7f")
        wire.closed()


def test_half_open_sockets(broker: Start) -> None:
    """A connection that never says CONNECT, or half of it, is closed in time."""
    port = broker(limits=Limits(connect_timeout=0.3)).port
    with Wire(port) as silent, Wire(port) as half:
        half.send(b"\x10\x0c\x00\x04MQ")
        silent.closed()
        half.closed()


def test_too_many_connections_and_sessions(broker: Start) -> None:
    b = broker(limits=Limits(max_connections=2))
    with connect(b.port), connect(b.port), Wire(b.port) as third:
        third.send(p.Connect("c"))
        third.expect(p.Connack(False, 3), None)
    b = broker(limits=Limits(max_sessions=1))
    connect(b.port, "kept", clean=False).close()
    with Wire(b.port) as wire:
        wire.send(p.Connect("more", clean=False))
        wire.expect(p.Connack(False, 3), None)
    assert eventually(lambda: b.statistics()["clients/connected"] == 0)
    connect(b.port, "kept", clean=False, present=True).close()


def test_too_many_subscriptions_or_levels(broker: Start) -> None:
    port = broker(limits=Limits(max_subscriptions=2)).port
    with connect(port) as wire:
        wire.send(p.Subscribe(1, (("a", 0), ("b", 0), ("c", 0), ("a", 1), ("/" * MAX_LEVELS, 0))))
        wire.expect(p.Suback(1, (0, 0, 0x80, 1, 0x80)))


def test_retained_limit(broker: Start) -> None:
    port = broker(limits=Limits(max_retained=2), sys_interval=0).port
    with connect(port) as wire:
        wire.send(*(p.Publish(t, b"x", retain=True) for t in ("a", "b", "c")), p.Publish("a", b"y", retain=True))
        wire.quiet()
    with subscribed(port, "#") as wire:
        assert {wire.publication().payload for _ in range(2)} == {b"x", b"y"}
        wire.quiet()


def test_offline_queue_is_bounded(broker: Start) -> None:
    b = broker(limits=Limits(max_queued=5))
    subscribed(b.port, "q", qos=1, client_id="away", clean=False).close()
    with connect(b.port) as wire:
        wire.send(*(p.Publish("q", b"%d" % i, 1, packet_id=i + 1) for i in range(9)))
        wire.expect(*(p.Puback(i + 1) for i in range(9)))
    with connect(b.port, "away", clean=False, present=True) as wire:
        assert [wire.publication().payload for _ in range(5)] == [b"%d" % i for i in range(5)]
        wire.quiet()
    assert b.statistics()["publish/messages/dropped"] == 4


def test_offline_queue_is_bounded_in_bytes(broker: Start) -> None:
    b = broker(limits=Limits(max_queued_bytes=10_000))
    subscribed(b.port, "q", qos=1, client_id="away", clean=False).close()
    with connect(b.port) as wire:
        wire.send(*(p.Publish("q", bytes(4000), 1, packet_id=i + 1) for i in range(9)))
        wire.expect(*(p.Puback(i + 1) for i in range(9)))
    assert b.statistics()["publish/messages/dropped"] == 7


def test_window(broker: Start) -> None:
    """No more than max_inflight messages are on the way to one client; the rest follow its acknowledgements."""
    port = broker(limits=Limits(max_inflight=2)).port
    with subscribed(port, "w", qos=2) as wire, connect(port) as other:
        other.send(*(p.Publish("w", b"%d" % i, 1 + i % 2, packet_id=i + 1) for i in range(5)))
        got = [wire.publication(), wire.publication()]
        wire.quiet()
        wire.send(p.Puback(got[0].packet_id))
        got.append(wire.publication())
        wire.send(p.Pubrec(got[1].packet_id))
        wire.expect(p.Pubrel(got[1].packet_id))
        wire.quiet()
        wire.send(p.Pubcomp(got[1].packet_id))
        assert wire.publication().payload == b"3"


def test_packet_ids_do_not_run_out(broker: Start) -> None:
    """65 535 ids come round; those that a client sits on are passed over."""
    b = broker()
    with subscribed(b.port, "i", qos=1) as wire, connect(b.port) as other:
        other.send(p.Publish("i", b"kept", 1, packet_id=1))
        kept = wire.publication().packet_id
        session = next(s for s in b.broker.sessions.values() if s.subscriptions)
        session.next_id = 65535
        other.send(*(p.Publish("i", b"", 1, packet_id=i) for i in range(1, 5)))
        ids = [wire.publication().packet_id for _ in range(4)]
        assert ids == [65535, *[i for i in range(1, 6) if i != kept][:3]]


# ---------------------------------------------------------------------- back-pressure
def test_subscriber_that_stops_reading(broker: Start) -> None:
    """QoS 0: publishers wait for it briefly, then messages for it are dropped; memory stays bounded and others get
    all."""
    # What one read brings (256 kB) is passed on before anybody is held back: the hard limit has room for two of them.
    b = broker(limits=Limits(out_high=1 << 16, out_low=1 << 14, out_hard=1 << 20, stall=0.2))
    stuck = subscribed(b.port, "f", client_id="stuck")
    with subscribed(b.port, "f", client_id="well") as well, connect(b.port, "flood") as flood:
        payload = bytes(1000)
        blob = p.encode(p.Publish("f", payload)) * 64
        total = 20_000_000 // len(blob)
        got, sent = 0, 0
        well.socket.setblocking(False)
        flood.socket.setblocking(False)
        part = memoryview(b"")
        end = time.monotonic() + 30
        while got < total * len(blob) and time.monotonic() < end:
            if not part and sent < total:
                part, sent = memoryview(blob), sent + 1
            with contextlib.suppress(BlockingIOError):
                part = part[flood.socket.send(part) :] if part else part
            with contextlib.suppress(BlockingIOError):
                got += len(well.socket.recv(1 << 20))
        assert got == total * len(blob)
        assert int(b.statistics()["publish/messages/dropped"]) > 0
        session = b.broker.sessions["stuck"]
        assert session.connection is not None
        waiting = session.connection.transport.get_write_buffer_size() + session.connection.out_size
        assert waiting < (1 << 20) + (1 << 19)
    stuck.close()


def test_slow_subscriber_loses_nothing(broker: Start) -> None:
    """A subscriber that is slow, but reads, slows its publishers down and gets everything, at QoS 0 too."""
    b = broker(limits=Limits(out_high=1 << 16, out_low=1 << 14, out_hard=1 << 22, stall=2.0))
    count, payload = 3000, bytes(1000)
    with subscribed(b.port, "s") as slow, connect(b.port) as flood:
        slow.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 14)
        flood.socket.setblocking(False)
        part = memoryview(p.encode(p.Publish("s", payload)) * count)
        size, got = len(part), 0
        while got < size:
            with contextlib.suppress(BlockingIOError):
                part = part[flood.socket.send(part) :] if part else part
            got += len(slow.socket.recv(1 << 14))
        assert int(b.statistics()["publish/messages/dropped"]) == 0


def test_publisher_that_never_reads(broker: Start) -> None:
    """A client that sends requests and reads no answers is not read from any more: memory stays bounded."""
    b = broker(limits=Limits(out_high=1 << 14, out_low=1 << 12))
    with connect(b.port, "deaf") as wire:
        wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        wire.socket.setblocking(False)
        pings, sent = p.encode(p.Pingreq()) * 8192, 0
        end = time.monotonic() + 60
        blocked = False
        while time.monotonic() < end and not blocked:
            try:
                sent += wire.socket.send(pings)
            except BlockingIOError:
                time.sleep(0.3)
                try:
                    sent += wire.socket.send(pings)
                except BlockingIOError:
                    blocked = True
        assert blocked and sent < 100_000_000
        connection = b.broker.sessions["deaf"].connection
        assert connection is not None and connection.transport.get_write_buffer_size() < 1_000_000
        with connect(b.port) as other:
            other.quiet()


@pytest.mark.slow
@pytest.mark.needs("open-files")
def test_five_thousand_connections(broker: Start) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 11_000), hard))
    b = broker(limits=Limits(connect_timeout=120.0))  # the first of a batch waits until all of it is connected
    wires = []
    try:
        for start in range(0, 5000, 250):
            batch = [Wire(b.port) for _ in range(250)]
            for i, wire in enumerate(batch):
                wire.send(p.Connect(f"c{start + i}"), p.Subscribe(1, (("all", 0), (f"own/{start + i}", 1))))
            for wire in batch:
                wire.expect(p.Connack(), p.Suback(1, (0, 1)))
            wires += batch
        with connect(b.port) as wire:
            wire.send(p.Publish("all", b"x"), p.Publish("own/4711", b"y", 1, packet_id=1))
            wire.expect(p.Puback(1))
        assert all(w.receive() == p.Publish("all", b"x") for w in wires)
        assert wires[4711].publication().payload == b"y"
    finally:
        for wire in wires:
            wire.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert eventually(lambda: b.statistics()["clients/total"] == 0)
    assert b.statistics()["subscriptions/count"] == 0


# ---------------------------------------------------------------------- access
def test_access_rules(broker: Start, tmp_path: Path) -> None:
    (tmp_path / "users").write_text("ann:secret\nbob:secret\n")
    rules = (
        Access("public/#", "*", "read"), Access("home/%u/#", "*", "readwrite"), Access("public/secret/#", "*", "none"),
        Access("#", "ann", "read"), Access("public/news", "bob", "write"),
    )  # fmt: skip
    port = broker(access=rules, password_file=tmp_path / "users").port
    ann = connect(port, "a", username="ann", password=b"secret")
    bob = connect(port, "b", username="bob", password=b"secret")
    bob.send(p.Subscribe(1, (("#", 0), ("public/#", 1), ("home/ann/x", 0), ("home/bob/#", 0), ("public/secret/x", 0))))
    bob.expect(p.Suback(1, (0x80, 1, 0x80, 0, 0x80)))
    ann.send(p.Subscribe(1, (("#", 0),)))
    ann.expect(p.Suback(1, (0,)))
    bob.send(
        p.Publish("public/news", b"1"), p.Publish("public/other", b"2"), p.Publish("home/ann/x", b"3", 1, packet_id=1)
    )
    bob.send(p.Publish("home/bob/x", b"4", 2, packet_id=2), p.Publish("public/secret/x", b"5"))
    bob.expect(p.Publish("public/news", b"1"), p.Puback(1), p.Publish("home/bob/x", b"4"), p.Pubrec(2))
    ann.expect(p.Publish("public/news", b"1"), p.Publish("home/bob/x", b"4"))
    ann.quiet()
    bob.send(p.Publish("$e2e/1/home/ann/y", b"6", 2, packet_id=3))
    bob.quiet()
    ann.close()
    bob.close()


def test_a_will_needs_permission(broker: Start) -> None:
    port = broker(access=(Access("in/#", "*", "write"), Access("#", "*", "read"))).port
    with subscribed(port, "in/#", "out/#") as listener:
        connect(port, will=p.Will("out/x", b"no")).close()
        connect(port, will=p.Will("in/x", b"yes")).close()
        listener.expect(p.Publish("in/x", b"yes"))
        listener.quiet()


@pytest.mark.parametrize(
    ("rule", "pattern", "expected"),
    [("#", "a/#", True), ("a/#", "a", True), ("a/#", "a/+/b", True), ("a/+", "a/#", False), ("a/+", "a/b", True),
     ("a/b", "a/+", False), ("+", "#", False), ("#", "$SYS/x", False),
     ("+/#", "#", True), ("a/+/c", "a/b", False), ("+/+", "a/+", True)],
)  # fmt: skip
def test_one_filter_within_another(rule: str, pattern: str, expected: bool) -> None:
    assert covers(rule, pattern) is expected
    if expected:
        for topic in ("a", "a/b", "a/b/b", "a/c", "a/x/b", "$SYS/x"):
            assert not matches(pattern, topic) or matches(rule, topic)


def test_names_with_wildcards_gain_nothing() -> None:
    mine = Permissions((Access("home/%u/#"), Access("id/%c")), "+", "#")
    assert not mine.may_write("home/ann/x") and not mine.may_read("id/x")
    with pytest.raises(ConfigError, match="allow"):
        Access("a", allow="all")
    with pytest.raises(MalformedError):
        Access("a#")


def test_passwords(broker: Start, tmp_path: Path) -> None:
    salt = b"salt" * 3
    seven = base64.b64encode(hashlib.pbkdf2_hmac("sha512", b"seven", salt, 101)).decode()
    six = base64.b64encode(hashlib.sha512(b"six" + salt).digest()).decode()
    text = base64.b64encode(salt).decode()
    path = tmp_path / "users"
    path.write_text(f"# users\nann:$7$101${text}${seven}\n\nbob:$6${text}${six}\ncid:plain:text\n")
    port = broker(password_file=path).port
    for user, password, code in (
        ("ann", b"seven", 0), ("bob", b"six", 0), ("cid", b"plain:text", 0), ("ann", b"six", 4),
        ("nobody", b"x", 4), ("ann", None, 4), (None, None, 5),
    ):  # fmt: skip
        with Wire(port) as wire:
            wire.send(p.Connect("c", username=user, password=password))
            wire.expect(p.Connack(False, code))
            if code:
                wire.closed()
    for lines in ("no colon here\n", ":empty\n"):
        path.write_text(lines)
        with pytest.raises(ConfigError, match="line 1"):
            Passwords(path)
    with pytest.raises(ConfigError, match="cannot read"):
        Passwords(tmp_path / "missing")


B64 = base64.b64encode(bytes(64)).decode()


@pytest.mark.parametrize(
    ("secret", "seen"),
    [
        ("", "empty"),
        ("$2b$12$abcdefghijklmnopqrstuv", "unknown scheme"),
        ("$argon2id$v=19$m=65536", "unknown scheme"),
        ("$", "unknown scheme"),
        ("$7$x", "rounds"),
        (f"$7$0$c2FsdA==${B64}", "rounds"),
        (f"$7$-5$c2FsdA==${B64}", "rounds"),
        (f"$7$1000001$c2FsdA==${B64}", "rounds"),
        (f"$7$99999999999999999999$c2FsdA==${B64}", "rounds"),
        (f"$7$101$${B64}", "damaged"),
        (f"$7$101$c2FsdA==${B64[:-4]}", "damaged"),
        ("$7$101$c2FsdA==$", "damaged"),
        ("$7$101$c2FsdA==", "damaged"),
        (f"$7$101$c2FsdA==${B64}$more", "damaged"),
        (f"$6$c2FsdA==${B64[:20]}!{B64[20:]}", "damaged"),
        ("$6$", "damaged"),
        ("$6", "damaged"),
        ("$7", "damaged"),
    ],
)
def test_a_hash_that_is_not_understood_is_refused_with_its_line(tmp_path: Path, secret: str, seen: str) -> None:
    """Taken for a password, whoever has read the file could log in with it."""
    path = tmp_path / "users"
    path.write_text(f"# users\nann:plain\nbob:{secret}\n")
    with pytest.raises(ConfigError, match=f"line 3, of 'bob': .*{seen}"):
        Passwords(path)


def test_a_byte_order_mark_and_ends_of_lines_belong_to_no_name(tmp_path: Path) -> None:
    path = tmp_path / "users"
    path.write_bytes("\ufeffann:a b \r\n\r\nbob:\x0bc\u2028d\r\n".encode())
    passwords = Passwords(path)
    assert passwords.check("ann", b"a b ") and passwords.check("bob", "\x0bc\u2028d".encode())
    path.write_text("ann:a\nann:b\n")
    with pytest.raises(ConfigError, match="line 2: 'ann' has a password already"):
        Passwords(path)


def test_a_password_that_takes_long_keeps_nobody_waiting(
    broker: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is checked beside the loop, and what follows CONNECT in the same breath waits for it."""
    salt, asked, go_on = b"salt", [], threading.Event()
    wanted = base64.b64encode(hashlib.pbkdf2_hmac("sha512", b"long", salt, SLOW)).decode()
    (tmp_path / "users").write_text(f"ann:$7${SLOW}${base64.b64encode(salt).decode()}${wanted}\nbob:b\n")
    check = Secret.check

    def slowly(self: Secret, password: bytes) -> bool:
        if self.rounds:
            asked.append(password)
            assert go_on.wait(60)
        return check(self, password)

    monkeypatch.setattr(Secret, "check", slowly)
    b = broker(password_file=tmp_path / "users", sys_interval=0)
    with connect(b.port, "bob", username="bob", password=b"b") as bob:
        wires = [Wire(b.port) for _ in range(4)]
        for i, wire in enumerate(wires):
            wire.send(p.Connect(f"ann{i}", username="ann", password=b"long" if i else b"wrong"), p.Pingreq())
        assert eventually(lambda: asked == [b"wrong"])
        for _ in range(5):  # while the first is being checked, and the others wait for that
            bob.send(p.Pingreq())
            bob.expect(p.Pingresp())
        go_on.set()
        wires[0].expect(p.Connack(False, 4), None)
        for wire in wires[1:]:
            wire.expect(p.Connack(), p.Pingresp())
            wire.close()
        wires[0].close()


def test_a_name_with_a_mark_in_it_is_replaced_once() -> None:
    mine = Permissions((Access("home/%u/#"), Access("id/%c/%u")), "%c", "secret")
    assert mine.may_write("home/%c/x") and not mine.may_write("home/secret/x")
    assert mine.may_read("id/secret/%c") and not mine.may_read("id/secret/secret")


LEVELS = st.lists(st.sampled_from(["a", "b", "+", ""]), min_size=1, max_size=4)
FILTERS = st.builds(lambda levels, end: "/".join(levels + ["#"] * end), LEVELS, st.booleans()) | st.just("#")
TOPICS = ["/".join(levels) for n in range(1, 7) for levels in itertools.product(["a", "b", "", "c"], repeat=n)]


@given(FILTERS, FILTERS)
def test_one_filter_within_another_is_decided_exactly(rule: str, pattern: str) -> None:
    """Against all topics of up to six levels of three names and one that no filter has: enough for four levels."""
    assert covers(rule, pattern) == all(matches(rule, topic) for topic in TOPICS if matches(pattern, topic))


def test_a_session_belongs_to_its_user(broker: Start, tmp_path: Path) -> None:
    (tmp_path / "users").write_text("ann:a\nbob:b\n")
    port = broker(password_file=tmp_path / "users").port
    with connect(port, "shared", clean=False, username="ann", password=b"a") as wire:
        wire.send(p.Subscribe(1, (("x", 1),)))
        wire.expect(p.Suback(1, (1,)))
    with connect(port, "shared", clean=False, present=True, username="ann", password=b"a") as ann:
        for clean in (True, False):  # neither taken over nor ended by another user, present or away
            with Wire(port) as wire:
                wire.send(p.Connect("shared", clean=clean, username="bob", password=b"b"))
                wire.expect(p.Connack(False, 2), None)
        ann.quiet()
    with Wire(port) as wire:
        wire.send(p.Connect("shared", username="bob", password=b"b"))
        wire.expect(p.Connack(False, 2), None)
    connect(port, "shared", clean=False, present=True, username="ann", password=b"a").close()


# ---------------------------------------------------------------------- TLS
def certificate(path: Path) -> Path:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    import ipaddress

    cert = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(cert.public_bytes(pem) + secret)
    return path


async def test_tls(broker: Start, tmp_path: Path) -> None:
    pem = certificate(tmp_path / "cert.pem")
    port = broker(tls_cert=pem).port
    context = ssl.create_default_context(cafile=str(pem))
    async with Client(port=port, tls=context, client_id="a") as a, Client(port=port, tls=context) as b:
        await a.subscribe("t", qos=3)
        big = bytes(300_000)
        assert list((await b.publish("t", big, wait_for=1, timeout=10)).acknowledged) == ["a"]
        assert (await a.receive(5)).payload == big
    with Wire(port) as plain:
        plain.socket.sendall(p.encode(p.Connect("plain")))
        plain.socket.settimeout(5)
        assert b"\x20\x02" not in plain.socket.recv(100)


def test_bad_certificate(tmp_path: Path) -> None:
    from voicewire.mqtt import Config

    (tmp_path / "cert.pem").write_text("not a certificate")
    with pytest.raises(ConfigError, match="certificate"), BrokerThread(Config(port=0, tls_cert=tmp_path / "cert.pem")):
        pass


# ---------------------------------------------------------------------- configuration and statistics
def test_config_file(tmp_path: Path) -> None:
    path = tmp_path / "broker.toml"
    path.write_text(
        'host = "127.0.0.1"\nport = 0\npersist = "store"\ndeny_subscribe = ["a"]\n[limits]\nmax_packet = 100\n'
        '[[access]]\ntopic = "x/#"\nuser = "ann"\nallow = "read"\n'
    )
    config = load(path)
    assert (config.port, config.persist, config.deny_subscribe) == (0, tmp_path / "store", ("a",))
    assert config.limits.max_packet == 100 and config.access == (Access("x/#", "ann", "read"),)
    for text, why in (
        ("prot = 1", "unknown key 'prot'"), ("[limits]\nmax_packets = 1", "limits: unknown key"),
        ("port =", "broker.toml"),
        ("[limits]\nmax_packet = -1", "not a whole number from 1"), ('port = "x"', "not a port"),
        ('[[access]]\ntopic = "a"\nallow = "x"', "allow"),
    ):  # fmt: skip
        path.write_text(text)
        with pytest.raises(ConfigError, match=why):
            load(path)
    with pytest.raises(ConfigError, match="cannot read"):
        load(tmp_path / "missing.toml")


def test_statistics(broker: Start) -> None:
    b = broker(sys_interval=0.1)
    with subscribed(b.port, "$SYS/#") as wire:
        wire.send(p.Publish("x"))
        seen: dict[str, bytes] = {}
        while seen.get("$SYS/broker/publish/messages/received") != b"1":
            got = wire.publication()
            seen[got.topic] = got.payload
        assert seen["$SYS/broker/clients/connected"] == b"1"
        assert seen["$SYS/broker/version"].startswith(b"voicewire")


async def test_refusal_reaches_the_client(broker: Start, tmp_path: Path) -> None:
    (tmp_path / "users").write_text("ann:secret\n")
    port = broker(password_file=tmp_path / "users").port
    with pytest.raises(RefusedError, match="bad user name or password"):
        await Client(port=port, username="ann", password=b"wrong").connect()


def test_port_in_use(broker: Start) -> None:
    from voicewire.mqtt import Config

    taken = broker().port
    with pytest.raises(OSError), BrokerThread(Config(port=taken)):
        pass
