"""A course that can be given: made from the notebooks, whole or not at all, without a solution for students."""

from __future__ import annotations

import importlib.util
import json
import re
import signal
import subprocess
import sys
import time
from html import unescape
from pathlib import Path

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicewire import cli
from voicewire_book import paths
from voicewire_book.course import printing, slides, teach
from voicewire_book.course.handout import student_copy
from voicewire_book.course.key import ASSIGNMENT, GradingError, read_keys
from voicewire_book.course.markup import Markup, blocks, labels

pytestmark = pytest.mark.night

ROOT = paths.root()
SEED = "3f9a04c1d27be85660b8a5e1f74d923c"
CHAPTERS = paths.chapters()


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole course, nothing printed."""
    return teach.write_course(tmp_path_factory.mktemp("course") / "given", SEED, pdf=False, tell=lambda line: None)


def decks(course: Path) -> list[tuple[Path, str]]:
    return [
        (path, (course / "to-students/slides" / path.parent.name / f"{path.stem}.html").read_text(encoding="utf-8"))
        for path in CHAPTERS
    ]


def shown(cell: nbformat.NotebookNode) -> list[str]:
    """The texts that a cell printed, where nothing better than text is shown."""
    found = []
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if not {"text/html", "image/png"} & set(data):
            found.append((output.get("text", "") or data.get("text/plain", "")).strip("\n"))
    return [text for text in found if text]


@pytest.mark.slow
def test_every_number_on_a_slide_is_its_cells_output(course):
    """Nothing shown as an output is anything else, and no output of the story is left out."""
    for path, text in decks(course):
        cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
        printed = [output for cell in cells for output in shown(cell)]
        on_slides = [unescape(part) for part in re.findall(r'<pre class="out">(.*?)</pre>', text, re.DOTALL)]
        strange = [part for part in on_slides if not any(f"\n{part}\n" in f"\n{whole}\n" for whole in printed)]
        assert strange == [], path.name
        drawn = [o["data"]["image/png"] for c in cells for o in c.outputs if "image/png" in o.get("data", {})]
        pictures = {picture.strip() for picture in drawn}
        figures = set(re.findall(r'<figure><img src="data:image/png;base64,([^"]+)"', text))
        assert figures <= pictures, path.name
        told = story(path)
        joined = "\n".join(on_slides)
        assert [line for cell in told for out in shown(cell) for line in out.split("\n") if line not in joined] == []
        assert len(figures) == len({o["data"]["image/png"] for c in told for o in c.outputs if _picture(o)}), path.name


def _picture(output: nbformat.NotebookNode) -> bool:
    return "image/png" in output.get("data", {}) and "text/html" not in output["data"]


def story(path: Path) -> list[nbformat.NotebookNode]:
    """The code cells of a chapter outside exercises and checks."""
    section, found = "", []
    for cell in student_copy(nbformat.read(path, as_version=4)).cells:
        for heading in re.findall(r"^## (.*)", cell.source, re.MULTILINE) if cell.cell_type == "markdown" else []:
            section = heading
        hidden = "check" in cell.metadata.get("tags", []) or section in slides.LEFT_OUT
        if cell.cell_type == "code" and not hidden:
            found.append(cell)
    return found


@pytest.mark.slow
def test_a_deck_asks_for_no_other_file_and_has_figures_sounds_and_notes(course):
    sounds = 0
    for path, text in decks(course):
        page = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)
        assert re.findall(r"""<link\b|@import|<(?:script|img|audio|iframe)[^>]*\bsrc=["'](?!data:)|url\(""", page) == []
        assert "<script src" not in text
        assert page.count('<aside class="notes">') > page.count('<section class="slide"') / 4, path.name
        sounds += page.count("<audio")
    assert sounds > 10


def test_the_books_numbers_stand_behind_equations_and_figures():
    """The seventh part's equations and figures run on through its chapters, as Sphinx numbers them."""
    found = labels(ROOT)
    order = [part.name for part in paths.PARTS]
    part = str(order.index("nfc") + 1)
    text = "".join(path.read_text(encoding="utf-8") for path in paths.chapters("nfc"))
    names = re.findall(r"\$\$ \((eq-nfc-[\w-]+)\)", text)
    assert len(names) > 10
    assert [found[name] for name in names] == [f"{part}.{n}" for n in range(1, len(names) + 1)]
    markup = Markup(ROOT, ROOT / "notebooks" / "nfc", found)
    slots = found["eq-nfc-slots"]
    assert f"\\tag{{{slots}}}" in markup.html("$$ n = 1 $$ (eq-nfc-slots)")
    assert markup.html("{eq}`eq-nfc-slots`, {numref}`fig-nfc-staircase`") == f"<p>({slots}), Fig. {part}.1</p>"
    built = ROOT / "_build" / "html" / "notebooks" / "nfc" / "01_slow_link.html"
    if built.is_file():
        page = built.read_text(encoding="utf-8")
        for name in re.findall(r'id="equation-(eq-[\w-]+)"', page):
            assert re.search(rf'id="equation-{name}".{{0,200}}?eqno">\({found[name]}\)', page, re.DOTALL), name


@given(st.lists(st.sampled_from(["One is short.", "It costs $a. B$ here.", "Fig. 3 shows `x. Y`.", "So?"]), min_size=1))
def test_a_point_is_the_beginning_of_its_paragraph(parts):
    paragraph = " ".join(parts)
    assert paragraph.startswith(slides.leading(paragraph))
    assert " ".join(slides.sentences(paragraph)) == paragraph
    assert all(sentence.count("$") % 2 == 0 for sentence in slides.sentences(paragraph))


def test_exercises_are_named_on_slides_and_not_answered():
    found = blocks("```{exercise} Count (by hand, easy)\n:label: ex\nHow many?\n```\n\n1. one\n2. two")
    assert [(block.kind, block.name) for block in found] == [("directive", "exercise"), ("item", "1"), ("item", "2")]
    cells = [
        nbformat.v4.new_markdown_cell("# Title\n\nFirst."),
        nbformat.v4.new_markdown_cell("## Exercises"),
        nbformat.v4.new_markdown_cell("```{exercise} Count (by hand, easy)\n:label: ex\nHow many?\n```"),
        nbformat.v4.new_markdown_cell("```{solution-start} ex\n```"),
        nbformat.v4.new_markdown_cell("Secretly four."),
        nbformat.v4.new_markdown_cell("```{solution-end}\n```"),
    ]
    made = slides.slides(nbformat.v4.new_notebook(cells=cells), Markup(ROOT, ROOT, {}))
    text = "".join(part for slide in made for part in (slide.title, *slide.parts, *slide.notes))
    assert "Count" in text and "Secretly" not in text and "by hand" not in text


def secrets() -> dict[str, str]:
    """Every line of a worked solution, of an assignment's solution and of a hidden test that stands nowhere else."""
    found, open_lines = {}, set()
    for path in CHAPTERS:
        cells = nbformat.read(path, as_version=4).cells
        kept = {cell.id for cell in student_copy(nbformat.read(path, as_version=4)).cells}
        for cell in cells:
            lines = {line.strip() for line in cell.source.split("\n")}
            if cell.id in kept and "solution" not in cell.metadata.get("tags", []):
                open_lines |= lines
            else:
                found |= dict.fromkeys((line for line in lines if not line.startswith(("```", ":"))), path.name)
    for study, key in read_keys(ROOT).items():
        for cell in key.cells:
            open_lines |= {line.strip() for line in cell.visible.split("\n")}
            found |= dict.fromkeys((line.strip() for line in cell.source.split("\n")), f"assignment of {study}")
    public = "\n".join(open_lines)  # a line that is part of one that everybody reads tells nothing
    return {line: where for line, where in found.items() if line not in public and len(line) > 15}


@pytest.mark.slow
def test_no_solution_is_in_anything_that_a_student_gets(course):
    given_out = []
    for path in sorted((*(course / "to-students").rglob("*"), *(course / "exam").rglob("*"))):
        if path.suffix == ".ipynb":
            given_out.append("\n".join(cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
                                       for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]))  # fmt: skip
        elif path.suffix in {".html", ".csv", ".md"}:
            text = path.read_text(encoding="utf-8")
            text = re.sub(r"base64,[A-Za-z0-9+/=\s]+|<script>.*?</script>", "", text, flags=re.DOTALL)
            given_out.append(unescape(re.sub(r"<[^>]+>", "", text)))
    everything = "\n".join(given_out)
    known = secrets()
    assert len(known) > 1000  # it looks for something
    leaked = {line: where for line, where in known.items() if line in everything}
    assert leaked == {}


@pytest.mark.slow
def test_no_file_holds_the_seed(course):
    for path in course.rglob("*"):
        assert str(SEED) not in path.name
        if path.is_file():
            assert str(SEED).encode() not in path.read_bytes(), path


@pytest.mark.slow
def test_all_that_was_written_is_listed(course):
    links = set(re.findall(r'<a href="([^"]+)"', (course / "index.html").read_text(encoding="utf-8")))
    written = {path.relative_to(course).as_posix() for path in course.rglob("*") if path.is_file()}
    assert links == written - {"index.html"}
    assert not [path for path in course.parent.iterdir() if path != course]


def test_what_fails_on_the_way_leaves_nothing(tmp_path, monkeypatch):
    def fails(course: teach.Course) -> None:
        course.place("to-students", "half").write_text("half", encoding="utf-8")
        raise KeyboardInterrupt

    monkeypatch.setattr(teach, "PIECES", [fails])
    with pytest.raises(KeyboardInterrupt):
        teach.write_course(tmp_path / "new" / "course", tell=lambda line: None)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.needs("posix")
def test_interrupted_at_the_shell_it_leaves_nothing_that_looks_done(tmp_path):
    # whoever runs the tests in the background may ignore the signal, and hand that down
    begin = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code = f"{begin}from voicewire import cli; sys.exit(cli.main(sys.argv[1:]))"
    words = [sys.executable, "-c", code, "teach", str(tmp_path / "course"), "nfc"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        until = time.monotonic() + 120
        while not list(tmp_path.glob(".*-unfinished-*/*")) and time.monotonic() < until and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=120)
    finally:
        process.kill()
    assert said == "voicewire: interrupted\n"
    assert process.returncode == 130
    assert list(tmp_path.iterdir()) == []


def test_wrong_words_are_one_line_and_write_nothing(tmp_path, capsys):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "work.txt").write_text("mine", encoding="utf-8")
    assert cli.main(["teach", str(tmp_path / "full")]) == 1
    assert capsys.readouterr().err.endswith("holds something: choose a folder that is new or empty\n")
    assert cli.main(["teach", str(tmp_path / "new"), "piano"]) == 1
    assert "there is no part 'piano': choose from foundations" in capsys.readouterr().err
    for words in (["--seed", "-1"], ["--seed", "x"], ["--seed", "20261123"], ["--seed"]):
        with pytest.raises(SystemExit) as ended:
            cli.main(["teach", str(tmp_path / "new"), *words])
        assert ended.value.code == 2
        assert capsys.readouterr().err.count("\n") == 1
    assert [path.name for path in tmp_path.rglob("*")] == ["full", "work.txt"]


def test_what_is_missing_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(teach, "PIECES", [])
    monkeypatch.setattr(printing, "browser", lambda: None)
    told: list[str] = []
    teach.write_course(tmp_path / "course", tell=told.append)
    assert told[0] == "no PDF: no Chromium was found; any browser prints the HTML files"
    monkeypatch.setattr(teach, "needs", lambda: None)
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "nbgrader" else real(name))
    monkeypatch.setattr(teach, "PIECES", [teach._handouts])
    teach.write_course(tmp_path / "other", None, ["nfc"], pdf=False, tell=told.append)
    assert any("pip install 'voicewire[grading]'" in line for line in told)
    assert not list((tmp_path / "other").rglob(ASSIGNMENT))
    monkeypatch.undo()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(GradingError, match=r"pip install 'voicewire\[book\]'"):
        teach.write_course(tmp_path / "third")
    assert not (tmp_path / "third").exists()


@pytest.mark.needs("chromium")
def test_a_pdf_has_a_page_for_each_slide(tmp_path):
    chapter = paths.chapters("transport")[-1]
    deck = tmp_path / "deck.html"
    made = slides.write_deck(chapter, deck, Markup(ROOT, chapter.parent, labels(ROOT)))
    (pdf,) = printing.print_pages([deck], printing.browser() or "")
    assert len(re.findall(rb"/Type /Page\b(?!s)", pdf.read_bytes())) == len(made)
    with pytest.raises(GradingError, match="--no-pdf"):
        printing.print_pages([deck], "false")
