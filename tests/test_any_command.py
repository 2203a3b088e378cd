"""Every option of every command, with every kind of nonsense: one line on stderr, exit status 1 or 2, no traceback.

The tree of commands is walked, not listed, and which of the options are paths is found out by trying them. One value
is wrong at a time; all that a command requires besides is right.
"""

from __future__ import annotations

import argparse
import atexit
import datetime
import gzip
import importlib
import io
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519

from voicewire import cli
from voicewire_book import paths
from voicewire_book.kit import claims

pytestmark = pytest.mark.night

NUMBERS = ("", " ", "nonsense", "nan", "inf", "-inf", "-1e300", "1e300", "1e999", "-1", "0x10", "١٢x", "1,5", "None")
NO_PLACE = ("", "\0", "/nowhere/at/all", "/dev/null", "/proc/new", "/sys/new", "{folder}/noise/below", "x" * 300)
NO_FILE = (*NO_PLACE, "{folder}", "{folder}/missing", "{folder}/link")
FORMS = {("icto seal", "part"): "x={}:ann", ("icto key", "name"): "{}"}
"""How a path stands in an option that takes more than a path."""
GROUND = Path(tempfile.mkdtemp(prefix="vw-any-command-"))
atexit.register(shutil.rmtree, GROUND, ignore_errors=True)
(GROUND / "file").write_text("a line\n")
HUGE = 2**30
MOST_MEMORY = 400 * 2**20
"""Bytes for a file of nonsense: an object to seal may have 256 MiB."""


def _walk(
    parser: argparse.ArgumentParser, words: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], argparse.ArgumentParser]]:
    below = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    if not below:
        yield words, parser
    for action in below:
        for name, child in action.choices.items():
            yield from _walk(child, (*words, name))


def _holds_path(value: object) -> bool:
    return isinstance(value, Path) or (isinstance(value, tuple) and any(map(_holds_path, value)))


def _takes(command: str, action: argparse.Action, path: object) -> bool:
    """Whether an option takes a path, and makes a path of it."""
    try:
        return _holds_path(action.type(FORMS.get((command, action.dest), "{}").format(path)))  # type: ignore[operator, misc]
    except (argparse.ArgumentTypeError, ValueError, TypeError):
        return False


TREE = dict(_walk(cli.parser()))
VALUES = [
    (" ".join(words), action)
    for words, parser in TREE.items()
    for action in parser._actions
    if action.nargs != 0 and not isinstance(action, argparse._HelpAction)
]
"""Every option and argument that takes a value."""
READ = [(c, a) for c, a in VALUES if _takes(c, a, GROUND / "file") and not _takes(c, a, GROUND / "new")]
WRITTEN = [(c, a) for c, a in VALUES if _takes(c, a, GROUND / "new")]
PLAIN = [(c, a) for c, a in VALUES if (c, a) not in READ and (c, a) not in WRITTEN]
KEPT = [(c, a) for c, a in WRITTEN if a.dest == "persist"]
"""What is written is read first: a file of another kind is refused and stays as it is."""


def _names(options: list[tuple[str, argparse.Action]]) -> list[str]:
    return [f"{command} {action.dest}" for command, action in options]


def _wave(data: int, channels: int = 2, rate: int = 8000, written: int | None = None) -> bytes:
    """A wave file whose header promises `data` bytes."""
    form = struct.pack("<HHIIHH", 1, channels, rate, 2 * rate * channels, 2 * channels, 16)
    head = b"RIFF" + struct.pack("<I", 36 + data) + b"WAVEfmt " + struct.pack("<I", 16) + form
    return head + b"data" + struct.pack("<I", data) + b"\1" * (data if written is None else written)


CONTENTS: dict[str, bytes] = {
    "empty": b"", "noise": bytes(range(256)) * 64, "nul": b"\0" * 1000, "words": b"nonsense\n",
    "latin": b"gr\xfc\xdfe=1\n",
    "utf16": "a = 1\n".encode("utf-16"), "line": b"x" * 10_000_000, "object": b"{}", "list": b"[]",
    "deep": b"[" * 100_000,
    "png": b"\x89PNG\r\n\x1a\n" + b"\0" * 100, "zip": b"PK\5\6" + b"\0" * 18, "gzip": gzip.compress(b"text"),
    "sqlite": b"SQLite format 3\0" + b"\0" * 2000,
    "certificate": b"-----BEGIN CERTIFICATE-----\nbm9uc2Vuc2U=\n-----END CERTIFICATE-----\n",
    "key": b"-----BEGIN PRIVATE KEY-----\nbm9uc2Vuc2U=\n-----END PRIVATE KEY-----\n",
    "avi": b"RIFF\x10\0\0\0AVI LIST", "no-samples": _wave(0), "cut": _wave(2**20, written=2),
    "no-channels": _wave(80, 0),
    "no-rate": _wave(80, rate=0), "huge-wave": _wave(2**31 - 100, written=0), "huge": b"",
    "port": b"port = 'x'\n", "rule": b"access = 3\n", "rules": b"access = [3]\n", "topic": b"[[access]]\ntopic = 5\n",
    "limits": b"limits = []\n", "limit": b"[limits]\nmax_packet = 'x'\n", "denied": b"deny_subscribe = [5]\n",
    "denied-number": b"deny_subscribe = 5\n", "store": b"persist = 5\n", "host": b"host = 5\n",
    "time": b"port = 12:00:00\n",
    "notebook": b'{"cells": 3, "nbformat": 4, "nbformat_minor": 4, "metadata": {}}',
    "grid": b'File type = "ooTextFile"\nObject class = "TextGrid"\n\nxmin = 0\nxmax = nonsense\n',
}  # fmt: skip
FITTING = {
    ("broker", "config"): {"empty"}, ("broker", "password_file"): {"empty", "time", "notebook"},
    ("broker", "persist"): {"empty"}, ("pub", "file"): set(CONTENTS) - {"huge", "huge-wave"},
    ("icto seal", "part"): set(CONTENTS) - {"huge", "huge-wave"},
}  # fmt: skip
"""Contents that are right: no settings; no user, or name:hash; a store to begin; and anything small can be sealed."""


BESIDE = {
    **{(name, "tls_cert"): ("tls_key",) for name in ("broker", "pub", "sub")},
    **{(name, "tls_key"): ("tls_cert",) for name in ("broker", "pub", "sub")},
    ("echo", "far"): ("microphone", "residual"), ("echo", "microphone"): ("residual",),
    ("echo", "residual"): ("microphone",),
}  # fmt: skip
"""Options that mean something together only."""


def _certificate() -> tuple[bytes, bytes]:
    key = ed25519.Ed25519PrivateKey.generate()
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    begin = datetime.datetime(2026, 1, 1)
    made = x509.CertificateBuilder(name, name, key.public_key(), 1, begin, begin.replace(year=2036)).sign(key, None)
    how = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return made.public_bytes(how[0]), key.private_bytes(*how)


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A right value for each path that a command requires beside a spoilt one, by its word in the usage."""
    place = tmp_path_factory.mktemp("right")
    for name in ("ann", "bob"):
        assert cli.main(["icto", "key", str(place / name)]) == 0
    (place / "data").write_text("36.6 C")
    (place / "sound.wav").write_bytes(_wave(64_000))
    (place / "notes.ipynb").write_bytes(CONTENTS["notebook"])
    keys = {"KEY": str(place / "ann.key"), "PUB": str(place / "ann.pub")}
    part = f"x={place / 'data'}:ann"
    sealed = str(place / "sealed.icto")
    words = ["--owner", keys["KEY"], "--to", keys["PUB"], "--part", part, "--out", sealed]
    assert cli.main(["icto", "seal", *words]) == 0
    certificate, key = _certificate()
    (place / "certificate").write_bytes(certificate)
    (place / "private").write_bytes(key)
    keys |= {"tls_cert": str(place / "certificate"), "tls_key": str(place / "private")}
    sounds = dict.fromkeys(("FAR.wav", "MIC.wav", "FILE"), str(place / "sound.wav"))
    return {**keys, **sounds, "part": part, "object": sealed, "SUBMITTED": str(place / "notes.ipynb")}


@pytest.fixture(scope="module")
def busy_port() -> Iterator[int]:
    """A port that is taken: no broker begins to serve there, and no client is answered."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    from voicewire_book.publish import new_study

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(new_study, "create", lambda *words: new_study.rooms(*words[:3]) and [])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    (tmp_path / "empty").touch()
    (tmp_path / "noise").write_bytes(CONTENTS["noise"])
    (tmp_path / "link").symlink_to("nothing")
    return tmp_path


def _all_of(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    capfd.readouterr()
    try:
        status = cli.main(arguments)
    except SystemExit as end:
        status = int(end.code or 0)
    out, err = capfd.readouterr()
    return status, err, out


def _run(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> tuple[int, str]:
    return _all_of(arguments, capfd)[:2]


def _words(command: str, spoilt: argparse.Action, value: str, right: dict[str, str], port: int) -> list[str]:
    """The words of a command with one wrong value: whatever else it requires is right."""
    words = command.split()
    for action in TREE[tuple(words)]._actions:
        if action is spoilt:
            given = value
        elif action.dest == "port":
            given = str(port)
        elif not action.required and action.dest not in BESIDE.get((command, spoilt.dest), ()):
            continue
        elif known := right.get(action.dest) or right.get(str(action.metavar)):
            given = known
        else:
            given = str(next(iter(action.choices))) if action.choices else "new"
        words += [f"{action.option_strings[-1]}={given}"] if action.option_strings else [given]
    return words


@pytest.mark.parametrize(("command", "action"), VALUES, ids=_names(VALUES))
def test_every_value_is_checked_by_a_type_that_says_what_is_asked_for(command: str, action: argparse.Action) -> None:
    assert action.choices is not None or action.type not in (None, str, int, float, Path, open)
    if str(action.metavar).strip("[]") in ("FILE", "DIR", "FOLDER", "OUTDIR", "PATH", "PEM", "PUB", "KEY"):
        assert (command, action) in READ + WRITTEN


@pytest.mark.parametrize(("command", "action"), PLAIN, ids=_names(PLAIN))
def test_a_wrong_value_is_one_line(
    command: str, action: argparse.Action, folder: Path, capfd: pytest.CaptureFixture[str], right: dict[str, str],
    busy_port: int,
) -> None:  # fmt: skip
    wrong = []
    for value in (*NUMBERS, "\udcff"):
        if not _fits(action, value):
            status, err = _run(_words(command, action, value, right, busy_port), capfd)
            if status not in (1, 2) or err.count("\n") != 1 or "Traceback" in err:
                wrong.append(f"{value!r}: exit {status}, {err[-300:]!r}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("command", "action"), READ + WRITTEN, ids=_names(READ + WRITTEN))
def test_a_path_that_cannot_be_is_wrong_usage(
    command: str, action: argparse.Action, folder: Path, capfd: pytest.CaptureFixture[str], right: dict[str, str],
    busy_port: int,
) -> None:  # fmt: skip
    wrong = []
    before = _listing(folder)
    for text in NO_FILE if (command, action) in READ else (*NO_PLACE, "{folder}/link"):
        path = text.format(folder=folder)
        if _takes(command, action, path):  # root may make any folder, and a name with an ending is another name
            assert path in (str(folder), "/nowhere/at/all") or (command, action.dest) in FORMS, path
            continue
        value = FORMS.get((command, action.dest), "{}").format(path)
        status, err = _run(_words(command, action, value, right, busy_port), capfd)
        if status != 2 or err.count("\n") != 1 or "Traceback" in err:
            wrong.append(f"{path!r}: exit {status}, {err[-300:]!r}")
    assert not wrong, "\n".join(wrong)
    assert _listing(folder) == before


@pytest.mark.parametrize(("command", "action"), READ + KEPT, ids=_names(READ + KEPT))
def test_a_file_of_nonsense_is_refused_by_its_name(
    command: str, action: argparse.Action, folder: Path, capfd: pytest.CaptureFixture[str], right: dict[str, str],
    busy_port: int,
) -> None:  # fmt: skip
    """Empty, binary noise, other formats under the expected suffix, and a gigabyte of nothing."""
    suffix = Path(right.get(action.dest) or right.get(str(action.metavar), "")).suffix
    files = []
    for kind in sorted(CONTENTS.keys() - FITTING.get((command, action.dest), set())):
        files.append(folder / "given" / f"{kind}{suffix}")
        files[-1].parent.mkdir(exist_ok=True)
        files[-1].write_bytes(CONTENTS[kind])
        if kind.startswith("huge"):
            os.truncate(files[-1], HUGE)
    before = _listing(folder)
    wrong = []
    for file in [folder / "given"] if _takes(command, action, folder) else files:
        value = FORMS.get((command, action.dest), "{}").format(file)
        words = _words(command, action, value, right, busy_port)
        if large := file.stem.startswith("huge"):
            tracemalloc.start()
        status, err, out = _all_of(words, capfd)
        peak = tracemalloc.get_traced_memory()[1] if large else 0
        tracemalloc.stop()
        if file.is_dir():  # of many files, each has its line in the report
            wrong += [each.name for each in files if status != 1 or out.count(each.name) < 2 or err]
        elif status not in (1, 2) or err.count("\n") != 1 or "Traceback" in err or file.name not in err:
            wrong.append(f"{file.stem}: exit {status}, {err[-300:]!r}")
        if peak > MOST_MEMORY:
            wrong.append(f"{file.stem}: {peak / 2**20:.0f} MiB")
    assert not wrong, "\n".join(wrong)
    assert _listing(folder) == before


def _listing(folder: Path) -> list[tuple[str, int, bytes]]:
    """Every file, its size, and the beginning of what it holds."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    found = []
    for path in files:
        with path.open("rb") as file:
            found.append((str(path), path.stat().st_size, file.read(4096)))
    return found


def _fits(action: argparse.Action, value: str) -> bool:
    """Whether an option takes this value."""
    if action.choices is not None:
        return value in action.choices
    try:
        action.type(value)  # type: ignore[operator, misc]
    except (argparse.ArgumentTypeError, ValueError, TypeError):
        return False
    return True


WORDS = [(c, a) for c, a in PLAIN if a.choices is None and a.dest != "host" and _fits(a, "no-such-word")]


@pytest.fixture(scope="module")
def opened(right: dict[str, str], busy_port: int) -> dict[str, list[str]]:
    """Files called "no-such-word" that each command opens when it is given that word, and one that opens some."""
    words = {
        name: _words(*each, "no-such-word", right, busy_port) for name, each in zip(_names(WORDS), WORDS, strict=True)
    }
    words["a file"] = ["icto", "key", "no-such-word"]
    helper = Path(__file__).parent / "helpers" / "opened.py"
    run = subprocess.run(
        [sys.executable, helper, "no-such-word"], input=json.dumps([*words.values()]), capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    return dict(zip(words, json.loads(run.stdout), strict=True))


@pytest.mark.parametrize("name", _names(WORDS))
def test_a_word_is_never_a_path(name: str, opened: dict[str, list[str]]) -> None:
    """A path that has slipped in as text would be opened, and then its type is the wrong one."""
    assert opened[name] == []


def test_a_path_is_seen_to_be_opened(opened: dict[str, list[str]]) -> None:
    assert opened["a file"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["formants", "{folder}"], ["formants", "/dev/null"], ["formants", "empty"], ["formants", "noise"],
        ["formants", "none.wav"], ["nfc", "session", "--rto", "1e18"], ["nfc", "session", "--latency", "1e300"],
        ["nfc", "session", "--bytes", "1e300"], ["voip", "call", "udp", "--seconds", "1e9"],
        ["voip", "call", "nonsense"], ["voip", "call", "UDP", "G.999"], ["record", "voip", "--out", "/proc/new"],
        ["echo", "noise", "noise", "out.wav"], ["echo", "empty", "empty", "out.wav"],
        ["echo", "none.wav", "none.wav", "out.wav"], ["scorecard", "chess"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_what_was_seen_to_fail_is_one_line(
    arguments: list[str], folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    status, err = _run([word.format(folder=folder) for word in arguments], capfd)
    assert status in (1, 2)
    assert err.count("\n") == 1
    assert not list(folder.glob("out*"))


@pytest.mark.parametrize(
    "arguments",
    [["voip", "call", "udp", "g729", "--seconds", "5"], ["nfc", "exchange", "--runs", "10", "--ber", "0.01"]],
)
def test_what_is_possible_works(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    status, err = _run(arguments, capfd)
    assert (status, err) == (0, "")


def test_nothing_is_recorded_among_the_books_data_unless_told_so() -> None:
    for parser in TREE.values():
        for action in parser._actions:
            default = str(action.default)
            assert "data" not in Path(default).parts, f"{parser.prog} {action.dest}: {default}"


@pytest.mark.parametrize("arguments", [["scorecard"], ["scorecard", "nfc"], ["--help"], ["voip", "call", "--help"]])
def test_ascii_is_enough(arguments: list[str]) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "voicewire", *arguments], capture_output=True, check=False,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0"},
    )  # fmt: skip
    assert b"Traceback" not in run.stderr
    assert run.stdout.isascii()
    assert run.returncode in (0, 1)


def test_every_study_that_records_does_so_by_one_verb(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for part in paths.PARTS:
        if part.ledger:
            module = importlib.import_module(f"voicewire_book.chapters.{part.name}.record")
            assert module.RECORDINGS and all(callable(run) for run in module.RECORDINGS.values())
            status, err = _run(["record", part.name, "no-such-name"], capfd)
            assert status == 2
            assert all(name in err for name in module.RECORDINGS)
    assert not (folder / "recorded").exists()


def test_recordings_go_where_they_are_told(
    folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from voicewire_book.chapters.nfc import record

    monkeypatch.setitem(record.RECORDINGS, "lwip", lambda place: (place / "lwip.csv").write_text("x"))
    assert _run(["record", "nfc"], capfd) == (0, "")
    assert (folder / "recorded" / "nfc" / "lwip.csv").exists()
    assert _run(["record", "nfc", "lwip", "--out", "there"], capfd) == (0, "")
    assert (folder / "there" / "lwip.csv").exists()


def test_a_claim_is_printed_with_its_verdict(capfd: pytest.CaptureFixture[str]) -> None:
    row = claims.scorecard(study="nfc")[0]
    assert cli.main(["claim", row["id"], "--json"]) == 0
    (found,) = json.loads(capfd.readouterr().out)
    assert found == json.loads(json.dumps(row))
    assert cli.main(["claim", row["id"]]) == 0
    out = capfd.readouterr().out
    assert row["verdict"] in out
    assert row["statement"] in out
    assert _run(["claim", "no-such-claim"], capfd)[0] == 1
    built_in = next(row for row in claims.scorecard(study="nfc") if row["implements"] and row["statistic"])
    assert cli.main(["claim", built_in["id"]]) == 0
    out = capfd.readouterr().out
    assert f"built in    {built_in['implements']}" in out
    assert built_in["statistic"] in out
