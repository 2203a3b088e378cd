"""The commands, from outside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from voicewire.cli import main

Capsys = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch


def run(*arguments: str) -> int:
    try:
        return main(list(arguments))
    except SystemExit as end:
        return int(end.code or 0)


def test_icto_from_key_to_refusal(tmp_path: Path, monkeypatch: Patch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("owner", "ann", "bob"):
        assert run("icto", "key", name) == 0
    (tmp_path / "data.txt").write_bytes(b"36.6 C")
    common = ["--owner", "owner.key", "--to", "ann.pub", "--to", "bob.pub"]
    parts = ["--part", "temp=data.txt:ann,bob@2099-01-31T12:00", "--part", "old=data.txt:ann@2001-01-01T00:00"]
    assert run("icto", "seal", *common, *parts, "--out", "x.icto") == 0
    capsys.readouterr()
    assert run("icto", "inspect", "x.icto", "--owner", "owner.pub") == 0
    rules = json.loads(capsys.readouterr().out)
    assert rules["participants"] == ["ann", "bob"]
    assert [p["readers"] for p in rules["parts"]] == [["ann", "bob"], ["ann"]]
    assert run("icto", "open", "x.icto", "--reader", "bob.key", "--owner", "owner.pub", "--out", "opened") == 0
    assert (tmp_path / "opened" / "00-temp").read_bytes() == b"36.6 C"
    capsys.readouterr()
    assert run("icto", "open", "x.icto", "--reader", "ann.key", "--owner", "owner.pub", "--out", "other") == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "too late" in error
    assert not (tmp_path / "other").exists()
    broken = bytearray((tmp_path / "x.icto").read_bytes())
    broken[-1] ^= 1
    (tmp_path / "x.icto").write_bytes(broken)
    assert run("icto", "inspect", "x.icto") == 1
    assert run("icto", "inspect", "none.icto") == 2
    assert run("icto", "key", "ann") == 1  # never overwrites


@pytest.mark.parametrize("part", ["x", "x=data.txt", "x=data.txt:", "x=data.txt:ann@soon", "x=none:ann"])
def test_seal_says_what_is_wrong(part: str, tmp_path: Path, monkeypatch: Patch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.chdir(tmp_path)
    run("icto", "key", "ann")
    (tmp_path / "data.txt").write_bytes(b"1")
    capsys.readouterr()
    assert run("icto", "seal", "--owner", "ann.key", "--to", "ann.pub", "--part", part, "--out", "o") == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "o").exists()


def test_transport_run_and_usage(capsys: Capsys) -> None:
    assert run("transport", "run", "--bed", "proxy", "--transport", "tcp", "--iterations", "2", "--size", "10") == 0
    out = capsys.readouterr().out
    assert "test bed: loopback" in out
    assert "sender_header" in out
    assert "272.00" in out
    assert run("transport", "machine") == 0
    assert "namespaces" in capsys.readouterr().out
    for wrong in (["--size", "0"], ["--qos", "7"], ["--network", "moon"]):
        assert run("transport", "run", *wrong) == 2
