"""The house rules that a machine can check: who may import whom, and that each room has what a room has."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from voicewire import claims, paths

ROOT = paths.root()
PACKAGE = ROOT / "src" / "voicewire"
GROUND = ("netsim", "mqtt", "testbed")


def imported(file: Path) -> set[str]:
    """Return the second part of every ``voicewire.…`` that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            names = [f"{base}.{alias.name}" for alias in node.names]
            assert node.level == 0, f"{file.name}: relative import; rooms are named in full"
        else:
            continue
        found |= {name.split(".")[1] for name in names if name.startswith("voicewire.")}
    return found


def files_of(room: str) -> list[Path]:
    return sorted((PACKAGE / room).rglob("*.py"))


@pytest.mark.parametrize("room", [r for r in (*paths.STUDIES, *GROUND) if (PACKAGE / r).is_dir()])
def test_a_room_imports_only_from_its_own_slice_and_the_ground_floor(room):
    for file in files_of(room):
        strangers = imported(file) & (set(paths.STUDIES) - {room})
        assert not strangers, f"{file.relative_to(ROOT)} imports {strangers}"


def test_the_ground_floor_does_not_look_upstairs():
    for file in PACKAGE.glob("*.py"):
        assert not imported(file) & set(paths.STUDIES), file.name


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
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
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


def code_lines(file: Path) -> int:
    """Lines of a file without its docstrings, which grow with what they explain."""
    text = file.read_text("utf-8")
    described = [
        node.body[0]
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and ast.get_docstring(node) is not None
    ]
    return len(text.splitlines()) - sum((doc.end_lineno or 0) - doc.lineno + 1 for doc in described)


def test_files_are_of_a_size_that_can_be_read_at_once():
    long = {f.name: n for f in PACKAGE.rglob("*.py") if (n := code_lines(f)) > 400}
    assert not long


def test_nothing_generated_is_committed():
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    bad = [n for n in listed.splitlines() if n.startswith(("_build/", ".cache/", ".venv/")) or "__pycache__" in n]
    assert not bad
