"""`voicewire broker`, `pub` and `sub` from the shell's side: output, exit status, one line for each error."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from voicewire.cli import main
from voicewire.mqtt.raw_socket_client import connect


def test_pub_and_sub(port: int, capfd: pytest.CaptureFixture[str]) -> None:
    listen = ["sub", "--port", str(port), "-t", "cli", "-q", "3", "-n", "1", "-v", "--id", "ann", "--answer", "yes"]
    # a process of its own: two threads that print to one stream cut each other's lines
    with subprocess.Popen(
        [sys.executable, "-m", "voicewire", *listen, "--timeout", "60"], stdout=subprocess.PIPE, text=True
    ) as listener:
        command = ["pub", "--port", str(port), "-t", "cli", "-m", "hello", "--subscriber", "ann", "--timeout", "1"]
        for _ in range(500):  # a busy machine takes its time to start the listener
            if main(command) == 0:
                break
            time.sleep(0.1)
        heard, _ = listener.communicate(timeout=70)
    assert heard == "cli hello\n" and listener.returncode == 0
    out = capfd.readouterr().out
    assert "ann  " in out and "ms  yes" in out


def test_errors_are_one_line(port: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for command, words in (
        (["pub", "--port", str(port), "-t", "nobody", "-m", "x", "--wait-for", "1"], "0 of 1 subscribers"),
        (["pub", "--port", "1", "-t", "a", "-m", "x"], "no broker at"),
        (["pub", "--port", str(port), "-t", "a/#", "-m", "x"], "wildcard"),
        (["sub", "--port", str(port), "-t", "test/nosubscribe"], "refuses the subscription"),
        (["sub", "--port", str(port), "-t", "a", "-n", "1", "--timeout", "0.1"], "did not come"),
        (["sub", "--port", str(port), "-t", "a", "--keep-session"], "needs --id"),
        (["broker", "--port", str(port)], "ddress already in use"),
    ):
        assert main(command) == 1
        error = capfd.readouterr().err.strip().splitlines()
        assert len([line for line in error if line.startswith("voicewire")]) == 1 and words in error[-1]


@pytest.mark.parametrize(
    "command", [["pub"], ["pub", "-t", "a", "--wait-for", "x"], ["sub", "-t", "a", "--port", "99999"],
                ["broker", "--port", "x"],
                ["broker", "--config", "missing"], ["broker", "--port", "0", "--user-share", "2"],
                ["pub", "-t", "a", "--timeout", "0"]],
)  # fmt: skip
def test_usage(command: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(command)
    assert caught.value.code == 2


def test_help_names_every_option(capsys: pytest.CaptureFixture[str], port: int) -> None:
    with pytest.raises(SystemExit):
        main(["broker", "--help"])
    text = capsys.readouterr().out
    for option in ("--port", "--host", "--config", "--deny-subscribe", "--password-file", "--user-share",
                   "--tls-cert", "--persist"):  # fmt: skip
        assert option in text
    connect(port).close()
