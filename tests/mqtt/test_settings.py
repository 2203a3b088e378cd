"""What a broker is told and does not know is refused with its line: keys and values of its file, lines of passwords."""

from __future__ import annotations

import base64
import json
import string
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import assume, given
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
]) | st.builds(
    lambda before, digest, upper, after: before + (digest.upper() if upper else digest) + after,
    st.sampled_from(["", "md5", "sha1", "SHA-256", "*", "0x", "\\\\x", "r:", "two words:", "r:a:", "sha1:ab:"]),
    st.sampled_from([32, 40, 56, 64, 96, 128]).flatmap(lambda n: st.text("0123456789abcdef", min_size=n, max_size=n)),
    st.booleans(), st.sampled_from(["", ":salt", "$salt"]),
).filter(lambda text: not text.startswith(("md5", "sha", "SHA")) or text[-1] not in "lt") | st.builds(
    lambda name, params, rounds, rest: f"{name}{params}${rounds}{rest}",
    st.from_regex(r"[A-Za-z][A-Za-z0-9_-]{1,15}", fullmatch=True), st.sampled_from(["", ":8", ":32768:8"]),
    st.integers(0, 10**9), st.sampled_from(["$c2FsdA==$AAAA", ":c2FsdA==$aaaa=:bbbb=", "$", ",p=1$x", ""]),
) | st.builds(
    lambda name, digest: name + base64.b64encode(digest).decode(),
    st.sampled_from(["sha256-", "sha512:", "name$", "SHA1=", "own.scheme:"]),
    st.sampled_from([16, 20, 28, 32, 48, 64]).flatmap(lambda n: st.binary(min_size=n, max_size=n)),
)  # fmt: skip


@given(st.lists(st.sampled_from(["", "# a:b", "  "]), max_size=4), st.integers(0, 3), HASHES)
def test_no_hash_is_taken_for_the_password(file: Path, above: list[str], users: int, secret: str):
    """Whoever has read the file could log in with it."""
    lines = [*above, *(f"u{i}:a plain one" for i in range(users)), f"ann:{secret}"]
    file.write_text("\n".join(lines))
    with pytest.raises(ConfigError, match=rf", line {len(lines)}, of 'ann': "):
        Passwords(file)


PLAIN = (base64.b64encode(bytes(range(32))).decode(), "12-34-56", "price$5 each", "a:b:c", "0x12", "correct horse",
         "x1", "!secret", "a$b$c", "deadbeef", "pa:ss:word", "md5", "shalom:1", "{", "Sha la", "*a*")


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


# ---------------------------------------------------------------------- lines of passwords, names, rules, hosts
BLANKS = st.text(" \t\u00a0", min_size=1, max_size=4)


@given(st.lists(st.sampled_from(["", "# a:b", "  ", "u:p"]), max_size=3, unique=True), BLANKS, st.integers(0, 2))
def test_blanks_make_no_names(file: Path, above: list[str], blanks: str, where: int):
    """A comment that is moved to the right is no account, and a name has no blanks around it."""
    wrong = (f"{blanks}# bob: disabled until May", f"{blanks}ann:secret", f"ann{blanks}:secret")[where]
    file.write_text("\n".join([*above, wrong]), encoding="utf-8")
    what = ("before '#'", "around the name", "around the name")[where]
    with pytest.raises(ConfigError, match=rf", line {len(above) + 1}: blanks {what}"):
        Passwords(file)


USER = st.text(string.ascii_letters + string.digits + "._-@, ", min_size=1, max_size=9).filter(lambda t: t == t.strip())


@pytest.mark.parametrize(("rule", "above", "at", "words"), [
    ("allow_anonymous = false", "port = 0", 2, "allow_anonymous = false protects nothing"),
    ('[[access]]\ntopic = "#"\nuser = "ann"', '[[access]]\ntopic = "a"', 5, "user = 'ann' protects nothing"),
    ('[[access]]\ntopic = "#"\nuser = ""\nallow = "none"', "", 4, "user = '' protects nothing"),
    ('[[access]]\nallow = "read"\ntopic = "home/%u/#"', "", 4, "%u in topic = 'home/%u/#' protects nothing"),
    ('[[access]]\ntopic = "#"\nuser = "ann, bob"', "", 4, "a list of users is not supported"),
])  # fmt: skip
def test_what_a_name_protects_needs_passwords(
    tmp_path: Path, not_started: Callable[..., str], rule: str, above: str, at: int, words: str
):
    file = tmp_path / "broker.toml"
    file.write_text(f"{above}\n{rule}\n")
    line = not_started("-c", str(file))
    assert f"{file}, line {at}: " in line and words in line and "password_file" in line


@given(st.sets(USER, min_size=1, max_size=3), USER, st.booleans())
def test_a_rule_is_for_a_user_who_is_there(file: Path, users: set[str], other: str, listed: bool):
    assume(other not in users)
    rules = [f'[[access]]\ntopic = "{i}"\nuser = {json.dumps(u)}' for i, u in enumerate(["*", "", *sorted(users)])]
    file.write_text("\n".join(["allow_anonymous = false", *rules]), encoding="utf-8")
    load_config(file).check_users(users)
    with pytest.raises(ConfigError, match=r", line 7: access: .* protects nothing without a password file"):
        load_config(file).check_users(None)
    wrong = ", ".join([*sorted(users), other]) if listed else other
    assume(wrong not in users)
    file.write_text("\n".join([*rules, f'[[access]]\ntopic = "x"\nuser = {json.dumps(wrong)}']), encoding="utf-8")
    config = load_config(file)
    with pytest.raises(ConfigError, match=rf", line {3 * len(rules) + 3}: .* is not in the password file") as caught:
        config.check_users(users)
    assert ("a list of users is not supported" in str(caught.value)) is ("," in wrong)
    with pytest.raises(ConfigError, match="is not in the password file"):
        Config(access=(Access("x", wrong),)).check_users(users)


def test_a_password_file_of_the_command_line_counts(tmp_path: Path, not_started: Callable[..., str]):
    """It goes with the rules of the file: what is refused is the rule for a name that it does not have."""
    (tmp_path / "users").write_text("ann:a\n")
    rules = 'allow_anonymous = false\n[[access]]\ntopic = "#"\nuser = "ann"\n[[access]]\ntopic = "a"\nuser = "annna"\n'
    (tmp_path / "b.toml").write_text(rules)
    line = not_started("-c", str(tmp_path / "b.toml"), "--password-file", str(tmp_path / "users"))
    assert ", line 7: access: user = 'annna' is not in the password file" in line


def test_without_names_nothing_is_asked_for():
    for config in (Config(), Config(allow_anonymous=True), Config(access=(Access("a"), Access("%c/#", allow="read")))):
        config.check_users(None)
    Config(allow_anonymous=False).check_users(())
    with pytest.raises(ConfigError, match="allow_anonymous = false protects nothing"):
        Config(allow_anonymous=False).check_users(None)


MARKS = st.sampled_from(["${username}", "${clientid}", "${{clientid}}", "{username}", "{client_id}"]) | st.from_regex(
    r"%[A-Za-z]{1,9}", fullmatch=True).filter(lambda mark: mark not in ("%u", "%c"))  # fmt: skip


@given(FILLERS, MARKS, st.sampled_from(["{}", "home/{}/#", "{}/+", "a/x-{}"]))
def test_marks_of_other_brokers_are_not_taken_for_topics(file: Path, above: list[str], mark: str, where: str):
    topic = where.replace("{}", mark)
    said = refused(file, "\n".join([*above, "[[access]]", f"topic = {json.dumps(topic)}", 'user = "*"']))
    assert f", line {len(above) + 2}: access: " in said and f"{mark!r} in a topic is not supported" in said
    said = refused(file, "\n".join([*above, "[[access]]", 'topic = "a"', f"user = {json.dumps(mark)}"]))
    assert f", line {len(above) + 3}: access: user = {mark!r} is not supported" in said
    for first in ("$share/g/a", "$queue/a", "$exclusive/a", "$share"):
        said = refused(file, "\n".join([*above, "[[access]]", f"topic = {json.dumps(first)}"]))
        assert f", line {len(above) + 2}: access: topic = {first!r} is not supported" in said
    assert Access("home/%u/%c/50%/100% {/$").topic


LABEL = st.from_regex(r"[a-z]([a-z0-9-]{0,20}[a-z0-9])?", fullmatch=True)
NO_HOSTS = st.one_of(
    st.builds("{}..{}".format, LABEL, LABEL), st.just("."), st.builds(".{}".format, LABEL),
    st.integers(64, 200).map(lambda n: "a" * n + ".example"), st.builds("{}:{}".format, LABEL, st.integers(0, 70000)),
    st.builds("127.0.0.1:{}".format, st.integers(0, 70000)), st.builds("mqtt://{}".format, LABEL), st.just("[::1]"),
    st.just("[::1]:1883"), st.builds("{} {}".format, LABEL, LABEL), st.sampled_from(["a\tb", "a\x1b[31m", "a/b"]),
)  # fmt: skip
HOSTS = LABEL | st.ip_addresses().map(str) | st.builds("{}.{}".format, LABEL, LABEL) | st.sampled_from(
    ["tést.example", "my_host", "fe80::1%eth0", "localhost.", "a" * 63])  # fmt: skip


@given(FILLERS.map(lambda lines: [x for x in lines if not x.startswith("host")]), NO_HOSTS, HOSTS)
def test_what_is_no_host_is_refused_with_its_line(file: Path, above: list[str], wrong: str, right: str):
    said = refused(file, "\n".join([*above, f"host = {json.dumps(wrong)}"]))
    assert f", line {len(above) + 1}: " in said and f"host = {wrong!r:.90}" in said and said.isprintable()
    assert Config(host=right).host == right
