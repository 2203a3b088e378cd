"""Each test says what it needs by the marker of tests/helpers/needs.py, and no other way; the marks are complete."""

from __future__ import annotations

import ast
import functools
import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import lanes
import needed
import needs
import pytest

from voicewire_book import paths

pytestmark = pytest.mark.landing

pytest_plugins = ["pytester"]

TESTS = needs.ROOT / "tests"
FILES = sorted(TESTS.rglob("*.py"))
PROJECT = tomllib.loads((needs.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SKIPS = ("skip", "skipif", "importorskip", "SkipTest", "skipUnless", "skipIf")
APART = {"ns3", "pesq", "amqp"}
"""Extras that are in no lock: what uses them asks first whether they are there."""


TEXTS = {path: path.read_text(encoding="utf-8") for path in FILES}


@functools.cache
def read(path: Path) -> needed.Source:
    return needed.Source(path.stem, TEXTS[path])


def marked(source: needed.Source, *nodes: ast.AST) -> set[str]:
    """The names in each ``needs(...)`` of decorators, through the names of the file that stand for marks."""
    named = {
        target.id: node.value
        for node in source.tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    found: set[str] = set()
    waiting = [each for node in nodes for each in ast.walk(node)]
    while waiting:
        each = waiting.pop()
        if isinstance(each, ast.Name) and each.id in named:
            waiting += ast.walk(named.pop(each.id))
        elif isinstance(each, ast.Call) and getattr(each.func, "attr", "") == "needs":
            found |= {str(ast.literal_eval(word)) for word in each.args if isinstance(word, ast.Constant)}
    return found


def unmarked(source: needed.Source) -> Iterator[str]:
    """Tests of a file that need what they don't say."""
    whole = marked(source, ast.Name("pytestmark"))
    for name, node in source.functions.items():
        if name.startswith("test_"):
            lacking = source.of(node) - whole - marked(source, *node.decorator_list)
            if lacking:
                yield f"{source.name}::{name} needs {sorted(lacking)}"


def test_who_needs_an_extra_or_a_browser_says_so():
    """Nor is one imported by a module, which can't be collected without it, or needed by a fixture for all tests."""
    sources = {path.relative_to(TESTS).as_posix(): read(path) for path in FILES}
    assert {name: found for name, source in sources.items() if (found := source.to_import)} == {}
    assert {name: found for name, source in sources.items() if (found := list(unmarked(source)))} == {}
    shared = {name: source.of(source.tree) for name, source in sources.items() if name.endswith("conftest.py")}
    assert {name: found for name, found in shared.items() if found} == {}


def test_examples_that_need_something_are_marked(tmp_path, monkeypatch):
    text = '''def page():\n    """Look at a page.\n\n    >>> import axe_playwright_python\n    """\n'''
    (tmp_path / "looked_at.py").write_text(text, encoding="utf-8")
    monkeypatch.setattr(needed, "PLACES", (*needed.PLACES, tmp_path))
    assert needed.examples("looked_at") == ["axe"]
    readings = (needs.ROOT / "src").rglob("reference.py")
    assert {
        need
        for path in readings
        for need in needed.examples(".".join(path.relative_to(needs.ROOT / "src").with_suffix("").parts))
    } == set(), "tests/test_reading.py runs them everywhere"


def test_what_is_not_said_is_noticed():
    told = list(
        unmarked(
            needed.Source(
                "a",
                """
import pytest, sys
from live_pages import chromium
from voicewire_book.publish import access
BROWSER = pytest.mark.needs("chromium")

@pytest.fixture
def cluster():
    import distributed

def helper():
    return [sys.executable, "-m", "repo2docker"]

def test_by_a_fixture(cluster): ...
def test_by_a_function(): helper()
@BROWSER
def test_by_a_helper():
    with chromium(): ...
@pytest.mark.needs("axe")
@pytest.mark.parametrize("a", [pytest.param(1, marks=pytest.mark.needs("chromium", "playwright"))])
def test_marked(a): access.axe(), access.browsing()
def test_by_the_package(): access.browsing()
def test_asks_first(monkeypatch): monkeypatch.setitem(sys.modules, "distributed", None)
""",
            )
        )
    )
    assert told == [
        "a::test_by_a_fixture needs ['distributed']",
        "a::test_by_a_function needs ['repo2docker']",
        "a::test_by_a_helper needs ['playwright']",
        "a::test_by_the_package needs ['chromium', 'playwright']",
    ]


def test_examples_need_what_they_do_whatever_holds():
    """What stands behind an `if` isn't asked of a reader."""
    source = needed.Source(
        "a",
        """
def one():
    from playwright.sync_api import sync_playwright

def two(asked=False):
    if not asked:
        return
    import distributed

def three():
    return one() if False else two()

def four():
    with open("a"):
        one()
""",
    )
    found = [source.surely(ast.parse(f"{name}()").body) for name in ("one", "two", "three", "four")]
    assert found == [{"chromium", "playwright"}, set(), set(), {"chromium", "playwright"}]


def test_nothing_is_skipped_in_other_words():
    said = [
        f"{path.relative_to(TESTS)}:{node.lineno}: {ast.unparse(node)}"
        for path in FILES
        if "skip" in TEXTS[path].lower()
        for node in ast.walk(read(path).tree)
        if isinstance(node, ast.Attribute) and node.attr in SKIPS and ast.unparse(node) != "needs.skip"
    ]
    assert [re.sub(r":\d+", "", each) for each in said] == ["helpers/needs.py: pytest.skip"], said


def test_every_package_of_the_extras_is_known():
    extras = dict(PROJECT["optional-dependencies"])
    [readers] = [each for each in extras["book"] if each.startswith("voicewire[")]
    for name in ("book", "test", *readers.removeprefix("voicewire[").removesuffix("]").split(",")):
        del extras[name]
    assert set(extras) >= APART
    listed = {
        (name, re.split(r"[^\w-]", each)[0])
        for name, packages in extras.items()
        if name not in APART
        for each in packages
        if not each.startswith("voicewire[")
    }
    assert listed == {(each.extra, each.distribution) for each in needs.PACKAGES.values()}


def test_what_tests_import_is_locked_or_known():
    """Also what only comes with a package of an extra."""
    lock = "".join((needs.ROOT / f"requirements{layer}.lock").read_text(encoding="utf-8") for layer in ("", "-test"))
    locked = {name.lower().replace("_", "-") for name in re.findall(r"^([\w.-]+)==", lock, re.MULTILINE)}
    brought = packages_distributions()
    own = {*(path.name for path in paths.PACKAGES), "tests", "__future__", *sys.stdlib_module_names}
    own |= {path.stem for path in FILES} | {path.parent.name for path in FILES if path.stem == "__init__"}
    own |= {path.stem for path in (needs.ROOT / "tools").glob("*.py")}
    strange = set()
    for path in FILES:
        for node in ast.walk(read(path).tree):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            for name in {name.partition(".")[0] for name in names} - own - set(needed.OWNERS):
                here = brought.get(name, ["praat-parselmouth"] if name == "parselmouth" else [])
                if not {each.lower().replace("_", "-") for each in here} & locked:
                    strange.add(f"{path.relative_to(TESTS)}: {name}")
    assert strange == set()


def test_marks_are_seen_in_the_text_of_the_file_whose_tests_carry_them():
    """By it a lane leaves files out that it need not import."""
    found = {path: marked(source, source.tree) for path in FILES if "needs" in TEXTS[path] for source in [read(path)]}
    assert [path.name for path, names in found.items() if names and not path.name.startswith("test_")] == []
    for path, names in found.items():
        assert [name for name in names if not lanes.may_need(TEXTS[path], [name])] == [], path.name


def test_every_need_is_some_tests():
    used = {
        name
        for path in FILES
        if "needs" in TEXTS[path]
        for source in [read(path)]
        for name in marked(source, source.tree)
    }
    assert used - set(needs.NEEDS) == set()
    assert set(needs.NEEDS) - set(needs.PACKAGES) - used == set()


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Callable[..., pytest.RunResult]:
    """Run two tests of which one needs what is missing, with the hooks and settings of all tests."""
    monkeypatch.setattr(needs, "there", lambda name: name not in ("node", "bash"))
    monkeypatch.delenv("VOICEWIRE_STRICT", raising=False)
    pytester.makeconftest(TEXTS[TESTS / "conftest.py"])
    settings = (needs.ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (pytester.path / "pyproject.toml").write_text(settings.replace('testpaths = ["tests"]\n', ""), encoding="utf-8")
    pytester.makepyfile(
        "import pytest\n@pytest.mark.needs('node', 'bash')\ndef test_one(): ...\n"
        "@pytest.mark.needs('posix')\ndef test_other(): ...\n"
    )
    return pytester.runpytest_inprocess


@pytest.mark.parametrize("strict", ["0", "1"])
def test_what_is_missing_is_skipped_with_its_sentence_and_counted(run, monkeypatch, strict):
    monkeypatch.setenv("VOICEWIRE_STRICT", strict)
    done = run()
    if strict == "1":
        done.assert_outcomes(passed=1, errors=1)
        assert "skipped where nothing may be skipped: " in (said := done.stdout.str())
        assert "no Node: apt-get install nodejs; no bash: apt-get install bash" in said
    else:
        done.assert_outcomes(passed=1, skipped=1)
        done.stdout.fnmatch_lines(["*1 skipped, by what they need*", "*1 node: no Node*", "*1 bash: no bash*"])


def test_those_that_need_something_are_selected_and_a_strange_name_is_refused(run):
    run("--needing", "bash,java").assert_outcomes(skipped=1, deselected=1)
    run("--needing", "posix").assert_outcomes(passed=1, deselected=1)
    done = run("--needing", "basch")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert "--needing names ['basch'], which tests/helpers/needs.py doesn't know" in done.stderr.str()


def test_a_list_says_what_is_there_and_what_is_missing(capsys, monkeypatch):
    monkeypatch.setattr(needs, "there", lambda name: name != "node")
    assert needs.main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(needs.NEEDS) and [line for line in lines if not line.endswith(" there")] == [
        f"{'node':18} no Node: apt-get install nodejs"
    ]
    assert needs.main(["--lacking"]) == 0
    assert capsys.readouterr().out == "node\n"
