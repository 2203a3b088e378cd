"""A real bash completes commands, options, choices and files, with the script that the command prints."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path

import pytest

from voicewire import cli

pytestmark = pytest.mark.landing

ASK = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
"$(complete -p voicewire | sed 's/.*-F \\([^ ]*\\).*/\\1/')" 2>/dev/null
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("shell") / "completion.bash"
    with path.open("w", encoding="utf-8") as file, contextlib.redirect_stdout(file):
        assert cli.main(["completion", "bash"]) == 0
    return path


@pytest.mark.needs("bash", "shtab")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["rec"], {"record"}),
        (["record", "trans"], {"transport"}),
        (["run", "n"], {"nfc"}),
        (["scorecard", "--js"], {"--json"}),
        (["transport", "run", "--network", "int"], {"internet"}),
        (["icto", "inspect", "sea"], {"sealed.icto"}),
    ],
    ids=lambda value: " ".join(sorted(value)) if isinstance(value, set) else "",
)
def test_bash_completes(words: list[str], expected: set[str], script: Path, tmp_path: Path) -> None:
    (tmp_path / "sealed.icto").touch()
    command = ["bash", "--norc", "-c", ASK, "bash", str(script), "voicewire", *words]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True)
    assert set(run.stdout.split()) == expected


@pytest.mark.needs("shtab")
@pytest.mark.parametrize("shell", ["zsh", "fish", "tcsh"])
def test_other_shells_have_a_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["completion", shell]) == 0
    assert "voicewire" in capsys.readouterr().out


def test_without_the_extra_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert cli.main(["completion", "bash"]) == 1
    assert "pip install 'voicewire[completion]'" in capsys.readouterr().err
