"""The reading versions on the pages are those of the package: same text, whole, in order, and they run."""

from __future__ import annotations

import ast
import doctest
import functools
from pathlib import Path

import nbformat
import pytest
import rooms

from voicewire_book import paths
from voicewire_book.publish import lengths, weave

pytestmark = pytest.mark.landing

READINGS = set(Path(__file__).parent.glob("*/readings/*.txt"))
"""Examples of the reading versions: a file for each of theirs, in the room of its part."""


@functools.cache
def chapter(path):
    return nbformat.read(path, as_version=4)


def woven_pieces(path):
    return [weave.split(piece) for _, pieces in weave.woven(chapter(path)) for piece in pieces]


WOVEN = [path for path in paths.chapters() if woven_pieces(path)]
SOURCES = sorted({module.name for path in WOVEN for module, _ in woven_pieces(path)})


def test_every_reading_version_is_woven():
    kept = {path.relative_to(root).as_posix() for root in weave.ROOTS for path in root.rglob("reference.py")}
    assert kept and not kept - set(SOURCES)


@pytest.mark.parametrize("path", WOVEN, ids=lambda path: path.stem)
def test_each_woven_cell_is_its_source(path):
    assert weave.check(path) == []


@pytest.mark.parametrize("source", SOURCES)
def test_a_reading_version_stands_whole_in_the_chapters_of_its_part(source):
    public = weave.Module(source).public
    on_a_page = {name for path in WOVEN for module, name in woven_pieces(path) if module.name == source}
    assert public and not set(public) - on_a_page


@pytest.mark.parametrize("source", SOURCES)
def test_lines_of_a_reading_version_fit_the_page(source):
    lines = weave.Module(source).path.read_text(encoding="utf-8").splitlines()
    assert not [line for line in lines if len(line) > weave.WIDEST]


@functools.cache
def told(source):
    """The examples of a file's functions and classes, by name: those of its room in tests, and of docstrings."""
    module, found, written = rooms.module(dotted(source)), {}, reading(source)
    for part in written.read_text(encoding="utf-8").split("## ")[1:] if written.is_file() else ():
        name, _, text = part.partition("\n")
        found[name] = [doctest.DocTestParser().get_doctest(text, {}, name, str(written), 0)]
    for name, node in weave.Module(source).definitions.items():
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            tests = doctest.DocTestFinder(recurse=False).find(getattr(module, name), name, module=module)
            found.setdefault(name, []).extend(test for test in tests if test.examples)
    return found


def dotted(source):
    return source[:-3].replace("/", ".")


def reading(source):
    room, _, rest = dotted(source).removeprefix("chapters.").partition(".")
    return Path(__file__).parent / room / "readings" / f"{rest}.txt"


@pytest.mark.parametrize("path", WOVEN, ids=lambda path: path.stem)
def test_put_together_the_pieces_run_as_the_package_does(path):
    """The cells alone, run in their order; then the examples of what they define, with what the cells made."""
    spaces: dict[str, dict[str, object]] = {}
    for cell, pieces in weave.woven(chapter(path)):
        file = weave.split(pieces[0])[0].name
        if file not in spaces:  # the source's imports, and what the chapter takes from the source by name
            module = rooms.module(dotted(file))
            source = ast.parse(weave.Module(file).path.read_text(encoding="utf-8"))
            imports = [n for n in source.body if isinstance(n, ast.Import | ast.ImportFrom)]
            spaces[file] = {}
            exec(compile(ast.Module(imports, []), file, "exec"), spaces[file])
            own = {name for other, name in woven_pieces(path) if other.name == file}
            spaces[file] |= {name: getattr(module, name) for name in weave.Module(file).definitions if name not in own}
        exec(compile(cell.source, f"cell of {', '.join(pieces)}", "exec"), spaces[file])
    tried = 0
    for file, name in [(module.name, name) for module, name in woven_pieces(path)]:
        for test in told(file).get(name, ()):
            test.globs = dict(spaces[file])
            result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, clear_globs=False)
            assert result.failed == 0, f"{file}:{name}"
            tried += result.attempted
    assert tried


@pytest.mark.parametrize("source", SOURCES)
def test_every_function_of_a_reading_version_has_an_example(source):
    definitions = weave.Module(source).definitions
    functions = [n for n in weave.Module(source).public if isinstance(definitions[n], ast.FunctionDef)]
    assert [name for name in functions if not told(source)[name]] == []


def test_each_file_of_examples_is_of_a_woven_source():
    assert {reading(source) for source in SOURCES} >= READINGS
    gone = {s: names for s in SOURCES if (names := set(told(s)) - set(weave.Module(s).definitions))}
    assert gone == {}


# --- the machinery itself ------------------------------------------------------------------------------------------

SOURCE = '''"""A module."""

import math

SCALE = 2


def double(x):
    """Twice x.

    More words.
    """
    return SCALE * x


@decorated
def long(x):
    return [
{lines}
    ]


def wide(x):
    return x  # {wide}
'''


@pytest.fixture
def package(tmp_path, monkeypatch):
    text = SOURCE.format(lines="\n".join(f"        {i}," for i in range(lengths.WOVEN)), wide="x" * 78)
    (tmp_path / "reference.py").write_text(text, encoding="utf-8")
    monkeypatch.setattr(weave, "ROOTS", (tmp_path,))
    return tmp_path


def notebook(path, *cells):
    book = nbformat.v4.new_notebook()
    for pieces, text in cells:
        metadata = {"voicewire": {"weave": [f"reference.py:{name}" for name in pieces]}} if pieces else {}
        book.cells.append(nbformat.v4.new_code_cell(text, metadata=metadata))
    nbformat.write(book, path)
    return path


def test_a_piece_is_its_source_with_the_first_line_of_its_docstring(package):
    assert weave.text_of(["reference.py:SCALE"]) == "SCALE = 2"
    assert weave.text_of(["reference.py:double"]) == 'def double(x):\n    """Twice x."""\n    return SCALE * x'
    assert weave.Module("reference.py").text("long").startswith("@decorated\ndef long")


@pytest.mark.parametrize(
    ("piece", "message"),
    [
        ("reference.py:long", f"at most {lengths.WOVEN}"),
        ("reference.py:wide", "columns"),
        ("reference.py:none", "defines no 'none'"),
        ("none.py:double", "no file of the package"),
        ("reference.py", "names no piece"),
    ],
)
def test_what_cannot_be_woven_is_refused(package, piece, message):
    with pytest.raises(weave.WeaveError, match=message):
        weave.text_of([piece])


def test_weaving_fills_the_cells_once_and_leaves_the_others(package):
    path = notebook(package / "a.ipynb", (["SCALE"], ""), (None, "SCALE = 3"), (["double"], "old"))
    assert weave.check(path) and weave.weave(path) and not weave.check(path)
    assert nbformat.read(path, 4).cells[1].source == "SCALE = 3"
    before = path.read_bytes()
    assert not weave.weave(path) and path.read_bytes() == before


@pytest.mark.parametrize("edit", ["return SCALE * x + 0", "return  SCALE * x", "return SCALE * x  # note"])
def test_a_cell_that_was_edited_is_found(package, edit):
    path = notebook(package / "a.ipynb", (["SCALE"], ""), (["double"], ""))
    weave.weave(path)
    book = nbformat.read(path, 4)
    book.cells[1].source = book.cells[1].source.replace("return SCALE * x", edit)
    nbformat.write(book, path)
    assert weave.check(path) == ["a.ipynb: the cell of reference.py:double is not as in the source"]


def test_pieces_out_of_order_twice_or_missing_are_found(package):
    for names in (["double"], ["double", "SCALE"], ["SCALE", "SCALE", "double"]):
        path = notebook(package / "a.ipynb", *[([name], "") for name in names])
        weave.weave(path)
        assert len(weave.check(path)) == 1
    path = notebook(package / "a.ipynb", (None, "%pylab\nfrom voicewire.reference import SCALE"), (["double"], ""))
    weave.weave(path)
    assert weave.check(path) == []


def test_the_command_says_what_differs(package, capsys):
    path = notebook(package / "a.ipynb", (["SCALE"], ""))
    assert weave.main(["--check", str(path)]) == 1
    assert "not as in the source" in capsys.readouterr().err
    assert weave.main([str(path)]) == 0 and weave.main(["--check", str(path)]) == 0
    assert weave.main([str(package / "none.ipynb")]) == 1
