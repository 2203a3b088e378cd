"""The house rules that a machine can check: each part has all its rooms, and one list names the parts."""

from __future__ import annotations

import ast
import contextlib
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from voicewire_book import paths
from voicewire_book.kit import claims

pytestmark = pytest.mark.landing

ROOT = paths.root()


def tree(path: Path) -> ast.Module:
    """Return a file's syntax tree.

    CPython 3.11 may raise SystemError here while a thread of an earlier test formats a traceback (gh-106905); the next
    try is another moment.
    """
    text = path.read_text(encoding="utf-8")
    for _ in range(3):
        with contextlib.suppress(SystemError):
            return ast.parse(text)
    return ast.parse(text)


def test_no_audit_hook_stays_in_a_process_that_starts_threads():
    """It would run while a thread installs its trace function, and coverage then ends another one at its start.

    A reviewed notebook has a kernel of its own, which no coverage traces.
    """
    folders = ("src", "tests", "benchmarks", "tools")
    name = "add" + "audithook"
    hooked = [path for folder in folders for path in (ROOT / folder).rglob("*.py") if name in path.read_text("utf-8")]
    alone = ["src/voicewire_book/publish/review/dependencies.py", "tests/helpers/opened.py"]
    assert [path.relative_to(ROOT).as_posix() for path in hooked] == alone


@pytest.mark.parametrize("part", [p for p in paths.PARTS if p.ledger], ids=lambda part: part.name)
def test_a_study_has_its_name_in_every_room(part):
    study = part.name
    wanted = [
        f"src/voicewire/{study}/paper.py",
        f"data/{study}/claims.yml",
        f"data/{study}/README.md",
        f"book/{study}/index.md",
        f"tests/{study}",
        f"benchmarks/{part.benchmark or study}.py",
        f"notebooks/{study}/assignment.ipynb",
    ]
    missing = [name for name in wanted if not (ROOT / name).exists()]
    assert not missing
    assert 1 <= len(paths.chapters(study)) <= 4


@pytest.mark.parametrize("part", paths.PARTS, ids=lambda part: part.name)
def test_a_parts_title_is_the_first_heading_of_its_introduction(part):
    introduction = (ROOT / "book" / part.name / "index.md").read_text(encoding="utf-8")
    assert re.search(r"^# +(.+?) *$", introduction, re.M).group(1) == part.title
    assert part.question.endswith("?")


def test_no_prose_and_no_code_counts_the_parts():
    """What one list knows is typed nowhere else: a seventh study would make each such sentence wrong."""
    numbers = "five|six|seven|eight|nine|ten"
    counted = re.compile(rf"\b(?:{numbers})\s+(?:\w+\s+)?(?:studies|papers|parts of the book|research groups)\b", re.I)
    files = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CITATION.cff", "pyproject.toml", "_config.yml")]
    for folder, ends in (("book", "*.md"), ("src", "*.py"), ("tests", "*.py"), ("benchmarks", "*.py")):
        files += [p for p in (ROOT / folder).rglob(ends) if p != Path(__file__)]
    found = {}
    for path in files:
        if hits := counted.findall(path.read_text(encoding="utf-8")):
            found[path.relative_to(ROOT).as_posix()] = hits
    assert not found
    names = {part.name for part in paths.PARTS}
    listed = [
        path.relative_to(ROOT).as_posix()
        for path in files
        if path.suffix == ".py"
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Tuple | ast.List | ast.Set)
        and names <= {item.value for item in node.elts if isinstance(item, ast.Constant)}
    ]
    assert not listed


def test_each_chapter_is_in_the_table_of_contents():
    contents = (ROOT / "book" / "_toc.yml").read_text(encoding="utf-8")
    for path in paths.chapters():
        assert path.relative_to(ROOT).with_suffix("").as_posix() in contents, path.name


@pytest.mark.parametrize("study", claims.studies())
def test_no_claim_carries_a_verdict_or_a_computed_result(study):
    ledger = yaml.safe_load((paths.data(study) / "claims.yml").read_text(encoding="utf-8"))
    for claim in ledger["claims"]:
        assert not {"verdict", "reproduced", "result"} & set(claim)


@pytest.mark.needs("git-checkout")
def test_nothing_generated_is_committed():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    bad = [n for n in listed.splitlines() if n.startswith(("_build/", ".cache/", ".venv/")) or "__pycache__" in n]
    assert not bad
