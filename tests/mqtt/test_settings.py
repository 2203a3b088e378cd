"""What a broker is told and does not know is refused with its line: keys and values of its file, lines of passwords."""

from __future__ import annotations

import base64
import json
import string
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicewire.mqtt import Access, Config, ConfigError, Limits, load_config
from voicewire.mqtt.serving.passwords import Passwords, read_secret

KNOWN = {kind: {f.name for f in fields(kind)} for kind in (Config, Limits, Access)}
NAMES = st.text(string.ascii_lowercase + "_-", min_size=1, max_size=12)
FILLERS = st.lists(
    st.sampled_from(["", "# port = 1", "  ", "#[limits]", "favours = true", "qos3 = false", "port = 1", 'host = "h"']),
    max_size=6, unique=True,
)  # fmt: skip
SEVERAL = 'deny_subscribe = [\n  "a",  # one\n  "b",\n\n]'


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("settings") / "file"


def refused(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    return str(caught.value)


@given(FILLERS, NAMES, st.sampled_from([Config, Limits, Access]), st.booleans())
def test_an_unknown_key_is_refused_with_its_line(file: Path, above: list[str], key: str, kind: type, long: bool):
    if key in KNOWN[kind] | {"limits", "access"}:
        key += "_x"
    lines = [*above, *(SEVERAL.split("\n") if long else [])]
    if kind is not Config:
        lines += ["[limits]", "max_packet = 100"] if kind is Limits else ["[[access]]", 'topic = "a"', "[[access]]",
                                                                           'topic = "b"']  # fmt: skip
    at = len(lines) + 1
    lines += [f"{key} = [", " 1,", "]"] if long else [f'"{key}"   = 1']
    lines += ["", "stall = 3.0" if kind is Limits else 'user = "u"' if kind is Access else "sys_interval = 1"]
    said = refused(file, "\n".join(lines))
    assert f"{file}, line {at}: " in said and f"unknown key {key!r}" in said


@given(FILLERS, st.sampled_from([
    ("port = 70000", "port"), ("port = true", "port"), ("sys_interval = true", "sys_interval"),
    ("sys_interval = -1", "sys_interval"), ("host = 5", "host"), ('qos3 = "no"', "qos3"), ("limits = 3", "limits"),
    ("access = [3]", "access"), ("persist = 5", "persist"), ("deny_subscribe = [5]", "deny_subscribe"),
    ('deny_subscribe = ["a#"]', "deny_subscribe"), ("limits.max_packet = 0", "max_packet"),
    ('[[access]]\ntopic = "a#"', "a#"), ('[[access]]\nallow = "read"', "topic"), ("[limits]\nstall = 0", "stall"),
    ('[[access]]\ntopic = "a"\nallow = "x"', "allow"), ("[limits]\nmin_rate = 1\nmax_holds = nan", "max_holds"),
]))  # fmt: skip
def test_a_wrong_value_is_refused_with_its_line(file: Path, above: list[str], wrong: tuple[str, str]):
    text, what = wrong
    above = [line for line in above if line.partition(" =")[0] != text.partition(" =")[0]]
    lines = [*above, *text.split("\n")]
    said = refused(file, "\n".join(lines))
    at = len(lines) - (what == "topic")  # a rule without one: its first line
    assert f", line {at}: " in said and what in said


def test_two_that_fit_together_only_are_taken_and_two_that_do_not_are_named(file: Path):
    file.write_text("[limits]\nmax_packet = 100_000_000\nmax_partial_bytes = 1_000_000_000\nout_high = 1\nout_low = 1")
    assert load_config(file).limits.out_high == 1
    said = refused(file, "port = 0\n[limits]\nout_high = 800_000\nout_low = 900_000\n")
    assert ", line 2: limits: out_low may not be above out_high" in said


HASHES = st.sampled_from([
    "$argon2id$v=19$m=47104,t=1,p=1$c2FsdA$AAAA", "$2b$12$abcdefghijklmnopqrstuv", "$apr1$x$y", "$1$x$y", "$5$x$y",
    "$y$j9T$x$y", "$sha512$x", " $7$101$c2FsdA==$AA==", "\t$6$x$y", "{SSHA}c2FsdA==", "{SHA512-CRYPT}x", "{plain}x",
    "PBKDF2$sha512$100000$c2FsdA==$AAAA", "pbkdf2_sha256$600000$x$y", "pbkdf2:sha256:600000$x$y",
    "scrypt:32768:8:1$x$y", "argon2$argon2i$v=19$x", "bcrypt$$2b$12$x", "sha256$x$y", "sha1:x", "md5$x", "*", "!", "!!",
    "!:19000:0:99999:7:::", "*:19000:0:99999:7:::", "x:1000:1000::/home/u:/bin/sh",
]) | st.sampled_from([32, 40, 56, 64, 96, 128]).flatmap(
    lambda n: st.text("0123456789abcdef", min_size=n, max_size=n)
)  # fmt: skip


@given(st.lists(st.sampled_from(["", "# a:b", "  "]), max_size=4), st.integers(0, 3), HASHES)
def test_no_hash_is_taken_for_the_password(file: Path, above: list[str], users: int, secret: str):
    """Whoever has read the file could log in with it."""
    lines = [*above, *(f"u{i}:a plain one" for i in range(users)), f"ann:{secret}"]
    file.write_text("\n".join(lines))
    with pytest.raises(ConfigError, match=rf", line {len(lines)}, of 'ann': "):
        Passwords(file)


PLAIN = ("correct horse", "x1", "!secret", "a$b$c", "deadbeef", "pa:ss:word", "md5", "shalom:1", "{", "Sha la", "*a*")


@pytest.mark.parametrize("secret", PLAIN)
def test_a_plain_password_stays_one(secret: str):
    assert read_secret(secret).check(secret.encode())


SCHEMES = st.text(string.ascii_letters + string.digits + "-_,=+./$", max_size=60)


@given(SCHEMES)
def test_a_secret_that_begins_with_a_dollar_is_no_password(text: str):
    """It is a hash that is known, whole, or it is refused."""
    salt, wanted = base64.b64encode(b"salt").decode(), base64.b64encode(bytes(64)).decode()
    assert read_secret(f"$7$101${salt}${wanted}").rounds == 101
    with pytest.raises(ValueError, match=r"scheme|rounds|damaged"):
        read_secret(f"${text}")


@given(st.text(max_size=30).map(lambda t: t.replace("\0", "")))
def test_a_file_of_any_text_is_read_or_refused(file: Path, text: str):
    """Never another exception."""
    file.write_text(text, encoding="utf-8")
    for read in (load_config, Passwords):
        try:
            read(file)
        except ConfigError as error:
            assert str(file) in str(error)
    file.write_text(f"host = {json.dumps('h')}\n{text}", encoding="utf-8")
    try:
        load_config(file)
    except ConfigError as error:
        assert "line" in str(error)
