"""Parts that stay closed until some time has come: version 2 of the cipher object; version 1 is what it was."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicewire.cli import main
from voicewire.transport import reference as r
from voicewire.transport.secure_objects.icto import (
    ExpiredError,
    Identity,
    NotPermittedError,
    Rule,
    TooEarlyError,
    inspect,
    open_object,
    seal,
)
from voicewire.transport.secure_objects.icto_format import IctoError, MalformedError, decode, encode
from voicewire.transport.secure_objects.icto_roles import assume, grant


class Counter:
    """Bytes that look random and are the same every time."""

    def __init__(self, name: str) -> None:
        self.name, self.n = name, 0

    def __call__(self, size: int) -> bytes:
        self.n += 1
        return hashlib.shake_256(f"{self.name} {self.n}".encode()).digest(size)


OWNER, ANN, BOB = (Identity.create(name, Counter(name)) for name in ("owner", "ann", "bob"))
NOW = 1_800_000_000


def sealed(rule: Rule, other: Rule | None = None) -> bytes:
    rules = {"result": rule, "bill": other or Rule(("bob",))}
    return seal(
        {"result": b"negative", "bill": b"17.20"}, rules, [ANN.public, BOB.public], OWNER,
        created=NOW, random=Counter("seal"),
    )  # fmt: skip


DATA = sealed(Rule(("ann",), NOW + 100, NOW))


def opens(data: bytes, now: float) -> bool:
    try:
        return open_object(data, ANN, OWNER.public, now=now) == {"result": b"negative"}
    except (TooEarlyError, ExpiredError, IctoError):
        return False


@settings(max_examples=100, deadline=None)
@given(st.floats(allow_nan=True, allow_infinity=True), st.integers(1, 2**53 - 1), st.integers(0, 2**53 - 1))
def test_open_only_from_since_until_until(now: float, since: int, more: int) -> None:
    """Over all floats, in the package and in the steps on the page."""
    until = min(since + more, 2**53 - 1)
    data = sealed(Rule(("ann",), until, since))
    assert opens(data, now) == (since <= now <= until)
    try:
        by_hand = r.open_part(data, ANN.sealing, OWNER.public.signing, "result", now) == b"negative"
    except ValueError:
        by_hand = False
    assert by_hand == (since <= now <= until)


def test_the_second_before_and_the_second_itself() -> None:
    with pytest.raises(TooEarlyError, match="too early to open 'result'"):
        open_object(DATA, ANN, OWNER.public, now=NOW - 1)
    assert open_object(DATA, ANN, OWNER.public, now=NOW) == {"result": b"negative"}
    with pytest.raises(ExpiredError):
        open_object(DATA, ANN, OWNER.public, now=NOW + 101)
    with pytest.raises(NotPermittedError):  # who may not read is told that, whatever the time
        open_object(DATA, BOB, OWNER.public, parts=["result"], now=NOW - 1)
    assert open_object(DATA, BOB, OWNER.public, now=NOW - 1) == {"bill": b"17.20"}


def test_known_answer_and_layout() -> None:
    """The format of version 2 never changes either; a rule has eight bytes more, before its last second."""
    assert DATA[:6] == b"ICTO\x02\x01"
    assert hashlib.sha256(DATA).hexdigest() == "56f77d6965df8d8b5b384792602144698416534ff98e6854630a69e30081dff9"
    plain = sealed(Rule(("ann",), NOW + 100))
    assert plain[:5] == b"ICTO\x01" and len(DATA) == len(plain) + 2 * 8
    at = DATA.index(b"\x06result") + 7
    assert DATA[at : at + 16] == NOW.to_bytes(8) + (NOW + 100).to_bytes(8)
    assert encode(decode(DATA)) == DATA
    parts = inspect(DATA, OWNER.public)["parts"]
    assert isinstance(parts, list)
    assert [part.get("since") for part in parts] == [NOW, None]
    assert inspect(DATA)["version"] == 2 and inspect(plain)["version"] == 1


def test_every_byte_counts() -> None:
    for at in range(len(DATA)):
        broken = bytearray(DATA)
        broken[at] ^= 0x41
        with pytest.raises(IctoError):
            open_object(bytes(broken), ANN, OWNER.public, now=NOW)


def test_there_is_one_way_to_write_an_object() -> None:
    o = decode(DATA)
    zero = encode(replace(o, parts=tuple(replace(p, since=0) for p in o.parts)))
    assert zero[4] == 1
    # version 2 without a first second anywhere, signed by its owner: it has another spelling, in version 1
    at = DATA.index(b"\x06result") + 7
    body = DATA[:at] + bytes(8) + DATA[at + 8 : -64]
    with pytest.raises(MalformedError, match="it is version 1"):
        decode(body + OWNER.signing.sign(body))


@pytest.mark.parametrize("since", [math.nan, math.inf, -1, 0, 1.5, True, "2030", 2**53, 2**64])
def test_no_time_is_sealed(since: object) -> None:
    with pytest.raises(IctoError, match="whole seconds since 1970"):
        sealed(Rule(("ann",), None, since))  # type: ignore[arg-type]


def test_what_could_never_be_opened_is_not_sealed() -> None:
    with pytest.raises(MalformedError, match="could never be opened"):
        sealed(Rule(("ann",), NOW, NOW + 1))
    assert opens(sealed(Rule(("ann",), NOW, NOW)), NOW)


def test_a_role_is_taken_up_from_its_first_second_on() -> None:
    role = Identity.create("nurse")
    granted = grant(role, ANN.public, OWNER, since=NOW, until=NOW + 10)
    assert assume(granted, ANN, OWNER.public, now=NOW).public == role.public
    for now, error in ((NOW - 1, TooEarlyError), (NOW + 11, ExpiredError)):
        with pytest.raises(error):
            assume(granted, ANN, OWNER.public, now=now)


@pytest.mark.parametrize(
    ("times", "since", "until"),
    [("2030-01-01T00:00..2031-01-01T00:00", 1893456000, 1924992000), ("2030-01-01T00:00..", 1893456000, None),
     ("2031-01-01T00:00", None, 1924992000), ("..2031-01-01T00:00", None, 1924992000)],
)  # fmt: skip
def test_the_command_takes_both_ends(
    times: str, since: int | None, until: int | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ANN.public.save(tmp_path / "ann.pub")
    OWNER.save(tmp_path / "owner.key")
    (tmp_path / "a.txt").write_bytes(b"negative")
    command = ["icto", "seal", "--part", f"result={tmp_path}/a.txt:ann@{times}", "--to", str(tmp_path / "ann.pub")]
    assert main([*command, "--owner", str(tmp_path / "owner.key"), "--out", str(tmp_path / "o.icto")]) == 0
    capsys.readouterr()
    assert main(["icto", "inspect", str(tmp_path / "o.icto")]) == 0
    part = json.loads(capsys.readouterr().out)["parts"][0]
    assert (part.get("since"), part["until"]) == (since, until)


def test_the_command_tells_which_end_is_no_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_bytes(b"negative")
    for times, what in (("soon..", "SINCE"), ("2030-01-01..late", "UNTIL")):
        with pytest.raises(SystemExit):
            main(["icto", "seal", "--part", f"result={tmp_path}/a.txt:ann@{times}", "--to", "x", "--owner", "x",
                  "--out", str(tmp_path / "o")])  # fmt: skip
        assert f"{what} must be a time such as" in capsys.readouterr().err
