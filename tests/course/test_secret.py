"""The instructor's secret: drawn, printed once, in no file, too long to be guessed, and another for each purpose."""

from __future__ import annotations

import hashlib
import importlib
import re
from pathlib import Path
from typing import Any

import pytest

from voicewire import cli
from voicewire_book import paths
from voicewire_book.course import exam, hidden, plan, secret, teach
from voicewire_book.course.key import ASSIGNMENT, GradingError
from voicewire_book.kit.questions import generator

pytestmark = pytest.mark.landing

SECRET = "3f9a04c1d27be85660b8a5e1f74d923c"
#: What somebody would choose.
CHOSEN = ["", "7", "20261123", "2026-11-23", "0x7", "password", "9" * 18, SECRET[:-1], SECRET + "0", f"{20261123:032d}",
          f"{7:032x}", "20261123" * 4, "0" * 32, "deadbeef" * 4, "my grandmother's name, and more",
          "０" * 32, "٣" * 32, " " * 32]  # fmt: skip


def told(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return re.findall(r"\b[0-9a-f]{32}\b", capsys.readouterr().out)


@pytest.mark.parametrize("given", CHOSEN)
def test_what_somebody_would_choose_is_refused_everywhere(given, tmp_path, capsys):
    for use in (exam.questions, hidden.drawn):
        with pytest.raises(GradingError, match="a new one is drawn"):
            use("nfc", given)
    with pytest.raises(GradingError, match="a new one is drawn"):
        plan.listed(paths.root(), ["nfc"], given)
    with pytest.raises(GradingError, match="a new one is drawn"):
        teach.write_course(tmp_path / "course", given, ["nfc"])
    with pytest.raises(SystemExit) as ended:
        cli.main(["teach", str(tmp_path / "course"), "nfc", "--seed", given])
    said = capsys.readouterr().err
    assert ended.value.code == 2 and said.count("\n") == 1 and "a new one is drawn" in said
    assert len(given) < 8 or given not in said.replace("--seed", "")
    assert not list(tmp_path.iterdir())


def test_a_number_is_no_secret_whatever_its_size():
    for given in (7, 20261123, 2**127 + 12345, None, b"3" * 32):
        with pytest.raises(GradingError, match="a seed has 32 hexadecimal digits"):
            exam.questions("nfc", given)  # type: ignore[arg-type]


def test_the_command_draws_one_and_prints_it_once(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(teach, "PIECES", [teach._exams])
    assert cli.main(["teach", str(tmp_path / "one"), "nfc", "--no-pdf"]) == 0
    [first] = told(capsys)
    assert cli.main(["teach", str(tmp_path / "two"), "nfc", "--no-pdf"]) == 0
    [second] = told(capsys)
    assert first != second
    assert cli.main(["teach", str(tmp_path / "again"), "nfc", "--no-pdf", "--seed", f" {first.upper()}"]) == 0
    assert told(capsys) == []

    def papers(name: str) -> dict[str, bytes]:
        files = sorted(path for path in (tmp_path / name).rglob("*") if path.is_file())
        return {path.relative_to(tmp_path / name).as_posix(): path.read_bytes() for path in files}

    assert papers("again") == papers("one") != papers("two")
    assert not [name for name, content in papers("one").items() if first.encode() in content.lower()]


def test_each_purpose_has_a_generator_of_its_own(monkeypatch):
    """What is known of one part's generator says nothing about another's, or about the secret."""
    asked: list[str] = []

    def noted(given: str, purpose: str) -> Any:
        asked.append(purpose)
        return secret.generator(given, purpose)

    monkeypatch.setattr(exam, "generator", noted)
    monkeypatch.setattr(hidden, "generator", noted)
    for part in paths.PARTS:
        exam.questions(part.name, SECRET)
        if (paths.root() / "notebooks" / part.name / ASSIGNMENT).is_file():
            hidden.drawn(part.name, SECRET)
    assert len(asked) == len(set(asked)) > 10
    first = [secret.generator(SECRET, purpose).integers(2**63) for purpose in asked]
    assert len(set(first)) == len(first)
    one = secret.generator(SECRET, asked[0]).bit_generator.state
    assert one == secret.generator(SECRET, asked[0]).bit_generator.state
    assert one != secret.generator(secret.draw(), asked[0]).bit_generator.state


def test_no_example_in_book_or_help_shows_a_seed_that_somebody_could_take(capsys):
    texts = [path.read_text(encoding="utf-8") for path in (paths.root() / "book").rglob("*.md")]
    texts.append((paths.root() / "README.md").read_text(encoding="utf-8"))
    with pytest.raises(SystemExit):
        cli.main(["teach", "--help"])
    texts.append(capsys.readouterr().out)
    for text in texts:
        assert not re.search(r"teach[^\n`]*--seed[ =]['\"]?[0-9]{4,}", text)


@pytest.mark.night
@pytest.mark.slow
def test_a_million_guesses_from_one_paper_find_nothing():
    """Whole numbers, dates among them, as they were once taken, and as digests that pass for a secret."""
    module = importlib.import_module("voicewire_book.chapters.nfc.exam")
    real = secret.draw()
    paper = [question.text for question in exam.questions("nfc", real)]
    first = secret.generator(real, "exam nfc").bit_generator.state["state"]["state"]
    tried = found = 0
    for number in range(500_000):
        digest = hashlib.md5(b"%d" % (20_000_000 + number)).hexdigest()
        guesses = [generator(20_000_000 + number, "exam nfc")]
        if len(set(digest)) >= 8:
            guesses.append(secret.generator(digest, "exam nfc"))
        for rng in guesses:
            tried += 1
            if rng.bit_generator.state["state"]["state"] == first or number % 1000 == 0:
                found += [question.text for question in module.questions(rng)] == paper
    assert tried > 999_000 and found == 0


def test_the_source_of_a_secret_is_the_systems(monkeypatch):
    """Not a clock, not a generator that starts from one."""
    assert "secrets.token_hex" in Path(secret.__file__).read_text(encoding="utf-8")
    assert len({secret.draw() for _ in range(1000)}) == 1000
