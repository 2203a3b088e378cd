"""The structure of the package: rooms on floors, imports that only go down, no circle, files that can be read."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from voicewire_book import paths
from voicewire_book.ledger.letter import REPLY

pytestmark = pytest.mark.landing

ROOT = paths.root()
PARTS = [part.name for part in paths.PARTS]
CHAPTERS = "voicewire_book.chapters"

FLOORS: dict[str, list[str]] = {
    "the book's verbs": ["voicewire_book.verbs", "voicewire_book.scorecard"],
    "publish, course": ["voicewire_book.publish", "voicewire_book.course"],
    "journey": [f"{CHAPTERS}.journey"],
    "chapters": [CHAPTERS, *(f"{CHAPTERS}.{name}" for name in PARTS if name != "journey")],
    "the book's kit": ["voicewire_book.kit"],
    "ledger": ["voicewire_book.ledger"],
    "the book's parts": ["voicewire_book.paths", "voicewire_book"],
    "command": ["voicewire.cli", "voicewire.__main__"],
    "studies": [f"voicewire.{name}" for name in paths.STUDIES],
    "engines": ["voicewire.netsim", "voicewire.mqtt", "voicewire.testbed", "voicewire.sweep"],
    "ground": ["voicewire._kit", "voicewire.stats", "voicewire"],
}
"""Rooms of both packages by floor, from the top down. A study comes in by the list of parts."""

LONG_FUNCTION = 60
LONG_FILE = 600
ANY_SHARE = 0.05


def modules() -> dict[str, Path]:
    """Return every file of the packages by its dotted name; a package is its ``__init__``."""
    found = {}
    for path in (path for package in paths.PACKAGES for path in package.rglob("*.py")):
        parts = path.relative_to(paths.TOP).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


@functools.cache
def trees() -> dict[str, ast.Module]:
    """Return every file, parsed: by the worker that runs these tests, not by each that collects them."""
    return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}


def imported(name: str) -> set[str]:
    """Return the files that a file imports, wherever in it: a lazy import is an arrow too, and so is one for types."""
    found = set()
    for node in ast.walk(trees()[name]):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: relative import; rooms are named in full"
            targets = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for target in targets:
            while target and target not in MODULES:
                target = target.rpartition(".")[0]
            found |= {target} - {""}
    return found - {name}


@functools.cache
def every_arrow() -> dict[str, set[str]]:
    return {name: imported(name) for name in MODULES}


def room(name: str) -> str:
    words = name.split(".")
    return ".".join(words[: 3 if name.startswith(f"{CHAPTERS}.") else 2])


def floor(name: str) -> int:
    for level, rooms in enumerate(FLOORS.values()):
        if room(name) in rooms:
            return level
    raise AssertionError(f"{name} stands on no floor: put it into a room, or its room on a floor")


def circle(arrows: dict[str, set[str]]) -> list[str]:
    """Return the files of one circle of arrows, or nothing."""
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def upwards(arrows: dict[str, set[str]]) -> list[str]:
    """Return the arrows that go up, or from one study to another."""
    up = []
    for name, targets in arrows.items():
        for target in targets:
            two = {room(name), room(target)}
            between = len(two) == 2 and any(two <= set(FLOORS[title]) for title in ("studies", "chapters"))
            between &= CHAPTERS not in two
            if floor(target) < floor(name) or between:
                up.append(f"{name} -> {target}")
    return sorted(up)


def test_rooms_arrows_circles_and_arrows_upwards():
    between: dict[str, set[str]] = {room(name): set() for name in MODULES}
    for name, targets in every_arrow().items():
        between[room(name)] |= {room(target) for target in targets} - {room(name)}
    for title, rooms in FLOORS.items():
        for each in (each for each in rooms if each in between):
            print(f"{title:<16} {each:<32} -> {', '.join(sorted(filter(None, between[each])))}")
    going = upwards(every_arrow())
    found = circle(every_arrow())
    arrows = sum(map(len, between.values()))
    print(f"rooms {len(between)}, arrows {arrows}, circles {int(bool(found))}, arrows upwards {len(going)}")
    assert going == []
    assert found == []


def several(arrows: dict[str, set[str]]) -> set[str]:
    """Return the rooms that import more than one study: its engine, or its chapters."""
    used: dict[str, set[str]] = {}
    for name, targets in arrows.items():
        studies = {room(each).rpartition(".")[2] for each in targets} & set(paths.STUDIES)
        used.setdefault(room(name), set()).update(studies)
    return {name for name, studies in used.items() if len(studies - {name.rpartition(".")[2]}) > 1}


def test_the_journey_alone_calls_several_studies():
    assert several(every_arrow()) == {f"{CHAPTERS}.journey"}
    first, second = (f"voicewire.{name}" for name in paths.STUDIES[:2])
    arrows = {"voicewire.cli": {f"{first}.a", f"{second}.b"}, "voicewire.stats": {f"{first}.a", f"{first}.b"}}
    assert several(arrows) == {"voicewire.cli"}


def test_the_library_imports_nothing_of_the_book():
    """Nor do the examples of its docstrings: the wheel holds the library alone."""
    library = [path for path in MODULES.values() if path.is_relative_to(paths.PACKAGES[0])]
    named = {path.name for path in library if re.search(r"import voicewire_book|from voicewire_book", path.read_text())}
    assert named == set()


def test_what_the_structure_test_would_find():
    """The test itself can fail: a circle, an arrow upwards, and one study that calls another."""
    first, second = FLOORS["studies"][:2]
    assert circle({"mqtt.a": {"mqtt.b"}, "mqtt.b": {"mqtt.c"}, "mqtt.c": {"mqtt.a"}})
    up = {"voicewire.stats": {"voicewire_book.paths"}}
    assert upwards(up) == ["voicewire.stats -> voicewire_book.paths"]
    assert upwards({f"{first}.a": {f"{second}.b"}}) == [f"{first}.a -> {second}.b"]
    down = {f"{first}.a": {"voicewire.mqtt.client"}, "voicewire.mqtt.client": {"voicewire.mqtt.raw_socket_client"}}
    assert upwards(down) == []
    with pytest.raises(AssertionError, match="stands on no floor"):
        floor("cellar.rats")


def own_lines(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module, text: str) -> int:
    """Return the lines of a definition without its docstrings, which grow with what they explain."""
    whole = len(text.splitlines()) if isinstance(node, ast.Module) else (node.end_lineno or 0) - node.lineno + 1
    for inner in ast.walk(node):
        if not isinstance(inner, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if ast.get_docstring(inner) is not None:
            doc = inner.body[0]
            whole -= (doc.end_lineno or 0) - doc.lineno + 1
    return whole


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def longest(sizes: dict[str, int]) -> str:
    return ", ".join(f"{name} {sizes[name]}" for name in sorted(sizes, key=sizes.__getitem__, reverse=True)[:3])


def test_files_are_of_a_size_that_can_be_read_at_once():
    sizes = {name: own_lines(trees()[name], path.read_text(encoding="utf-8")) for name, path in MODULES.items()}
    large = {name: size for name, size in sizes.items() if size > LONG_FILE}
    print(f"{len(sizes)} files, the longest: {longest(sizes)}")
    assert large == {}


def test_functions_are_of_a_size_that_can_be_read_at_once():
    sizes = {f"{name}:{f.name}": own_lines(f, "") for name, tree in trees().items() for f in functions(tree)}
    long = {name: size for name, size in sizes.items() if size > LONG_FUNCTION}
    print(f"{len(sizes)} functions, the longest: {longest(sizes)}")
    assert long == {}


def compiled(tree: ast.Module) -> bool:
    """Whether a file holds compiled code, whose arguments numba types by itself."""
    return any(
        isinstance(node, ast.ImportFrom)
        and (node.module or "").startswith(("voicewire._kit._compiled", "numba"))
        and {alias.name for alias in node.names} & {"njit", "vectorize", "intrinsic"}
        for node in ast.walk(tree)
    )


def annotations(tree: ast.Module) -> Iterator[ast.expr]:
    for function in functions(tree):
        given = function.args
        for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg):
            if argument is not None and argument.annotation is not None:
                yield argument.annotation


def test_parameters_have_types():
    plain = [(name, a) for name, tree in trees().items() if not compiled(tree) for a in annotations(tree)]
    loose = [name for name, a in plain if any(isinstance(n, ast.Name) and n.id == "Any" for n in ast.walk(a))]
    share = len(loose) / len(plain)
    print(f"Any in {len(loose)} of {len(plain)} annotated parameters, {100 * share:.1f} %")
    for name in sorted(set(loose), key=loose.count, reverse=True):
        print(f"{loose.count(name):4} {name}")
    assert share < ANY_SHARE


ROLES = ("experiments", "record", "figures", "exercises")
"""The files that the chapters of every study have, by their roles; what else they need has names of its own."""


@pytest.mark.parametrize("study", paths.STUDIES)
def test_a_role_has_the_same_name_in_every_study(study):
    assert [role for role in ROLES if f"{CHAPTERS}.{study}.{role}" not in MODULES] == []
    assert f"voicewire.{study}.reference" in MODULES


@pytest.mark.parametrize("study", paths.STUDIES)
def test_a_studys_experiments_run_by_the_same_call(study):
    """`voicewire run STUDY` calls it, whichever the study."""
    (run,) = (f for f in functions(trees()[f"{CHAPTERS}.{study}.experiments"]) if f.name == "run")
    assert ast.unparse(run.args) == "quick: bool=False"
    assert run.returns is not None
    assert ast.unparse(run.returns) == "dict[str, Plain]"


COMMENTS = ("#", "//", "/*", "{#", "<!--")
COMMENTED = {".yml", ".toml", ".cfg", ".css", ".js", ".c", ".html", ""}
NO_COMMENT_FITS = {"LICENSE", "LICENSE-TEXT", ".gitignore", "codecheck.yml"}  # the last begins as CODECHECK has it


def tracked() -> list[Path]:
    done = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [ROOT / name for name in done.stdout.splitlines() if (ROOT / name).is_file()]


@pytest.mark.needs("git-checkout")
def test_a_files_purpose_is_in_its_first_line():
    silent = []
    for path in tracked():
        if path.name in NO_COMMENT_FITS or path.suffix not in COMMENTED | {".py", ".md"}:
            continue
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".py":
            first = (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
        elif path.suffix == ".md":  # a fragment is put under a heading by the page that gathers it
            heading = next((line for line in text.splitlines() if not line.startswith("(")), "")
            fragment = path.name.startswith("_") or path.name == REPLY  # the authors' own words
            first = "a heading, or a fragment" if heading.startswith("# ") or fragment else ""
        else:
            line = next((line for line in text.splitlines() if not line.startswith("#!")), "")
            first = line if line.startswith(COMMENTS) else ""
        if len(first.split()) < 4:
            silent.append(f"{path.relative_to(ROOT).as_posix()}: {first!r}")
    assert silent == []
