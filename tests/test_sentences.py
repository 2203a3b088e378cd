"""What README, front pages and help say of the book, where no other test holds it.

A sentence that nothing can hold is not said: no page guesses how many weeks a part takes, or counts claims by hand.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import re
import select
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from importlib import metadata
from pathlib import Path

import pandas as pd
import pytest
import yaml
from matplotlib.colors import rgb_to_hsv, to_rgb

from voicewire import cli
from voicewire._kit import style
from voicewire.echo.recordings.stream import Settings
from voicewire.mqtt import Config
from voicewire.testbed.errors import TestbedError
from voicewire.testbed.hosts import Host
from voicewire.transport import paper
from voicewire_book import paths
from voicewire_book.chapters.emqtt.many_subscribers import Population
from voicewire_book.kit import claims, figures
from voicewire_book.ledger.vocabulary import CONTRADICTED, HANGS, REGISTERED, REPRODUCED, Score

pytestmark = pytest.mark.landing

ROOT = paths.root()
FRONT = [ROOT / "README.md", *sorted((ROOT / "book").glob("*.md")), *sorted((ROOT / "book").glob("*/index.md"))]


@cache
def rows() -> list[Score]:
    return claims.scorecard()


def markdown(path: Path) -> list[str]:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]


@pytest.mark.parametrize("path", paths.chapters(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_chapter_begins_with_what_it_teaches_what_it_needs_and_how_long_it_takes(path):
    """As "How to use this book" and the instructor guide say."""
    first = "\n".join(markdown(path)[:4])
    for words in ("will learn", "You need", "Time"):
        assert re.search(rf"\*+{words}\b|\*+You {words}\b|{words}", first), words
    assert re.search(r"\*Time\*+:? \d+ to \d+ minutes to read", first)


@pytest.mark.parametrize("path", FRONT, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_front_page_guesses_a_time_or_counts_claims_by_hand(path):
    text = path.read_text(encoding="utf-8")
    assert re.findall(r"\b(?:\w+ weeks?|\d+ min\b|judges \d+)\b", text) == []


@pytest.mark.parametrize("study", paths.STUDIES)
def test_the_chapter_that_judges_has_what_the_paper_leaves_open(study):
    judging = {row["notebook"] for row in rows() if row["study"] == study and row["notebook"]}
    headed = [
        path.relative_to(ROOT).as_posix()
        for path in paths.chapters(study)
        if any(re.search(r"^#+ What the paper leaves open", text, re.M) for text in markdown(path))
    ]
    assert set(headed) & judging


def test_a_misprint_that_is_repaired_gives_reproduced_corrected_at_best():
    """As the page of errata says."""
    every = (claim for study in claims.studies() for claim in claims.load(study).claims.values())
    mended = {claim.id for claim in every if claim.correction}
    assert mended
    assert [row["id"] for row in rows() if row["id"] in mended and row["verdict"] == REPRODUCED] == []


def test_what_the_readme_says_of_the_ledgers():
    """A tolerance has its reason; what is read off a text names both places; not every tolerance was chosen blind."""
    every = [claim for study in claims.studies() for claim in claims.load(study).claims.values()]
    assert [claim.id for claim in every if claim.tolerance and not claim.tolerance_reason] == []
    assert [claim.id for claim in every if claim.basis == "by-reading" and len(claim.places) != 2] == []
    assert {study for study in claims.studies() if any(c.chosen for c in claims.load(study).claims.values())} == {
        *claims.studies()
    }
    pages = [ROOT / "README.md", ROOT / "book/index.md", ROOT / "book/how-to-use.md"]
    assert [page.name for page in pages if "under `chosen`" not in page.read_text(encoding="utf-8")] == []


WORDS = {
    "pharyngealized consonants": "pharyngeal",
    "echo": "echo",
    "voice": "voip",
    "transport": "transport",
    "end-to-end MQTT": "emqtt",
    "NFC": "nfc",
}
"""How the page of the foundations names a study."""


def test_the_studies_that_are_said_to_use_a_foundation_link_to_it():
    text = (ROOT / "book/foundations/index.md").read_text(encoding="utf-8")
    text = re.sub(r"\{term\}`([^`<]*?)(?: <[^>`]*>)?`", r"\1", text)
    told = re.findall(r"^- \[.*?\]\(\S*/(\w+)\.ipynb\).*\n  The parts? on (.*) uses? it\.$", text, re.M)
    assert told
    for chapter, named in told:
        for words in re.split(r", | and ", named):
            study = WORDS[words]
            pages = [*paths.chapters(study), ROOT / "book" / study / "index.md"]
            texts = "".join(page.read_text(encoding="utf-8") for page in pages)
            assert f"foundations/{chapter}.ipynb" in texts, f"{study} links nowhere to {chapter}"


def test_the_transport_page_counts_its_recording():
    text = (ROOT / "book/transport/index.md").read_text(encoding="utf-8")
    told = re.search(r"(\d+) configurations of (\d+) iterations each \((\d+) loops each where the gap varies\)", text)
    assert told
    keys = ["network", "transport", "qos", "session", "kind", "size", "gap", "nodelay"]
    sizes = pd.read_csv(ROOT / "data/transport/iterations.csv.gz", usecols=keys).groupby(keys, dropna=False).size()
    whole, often, seldom = map(int, told.groups())
    assert len(sizes) == whole
    assert set(sizes) == {often, seldom}
    gaps = sizes[sizes == seldom].index.get_level_values("gap")
    assert gaps.nunique() > 1


def test_the_assignment_of_emqtt_has_as_many_questions_as_its_page_says():
    assert "four graded questions" in (ROOT / "book/emqtt/index.md").read_text(encoding="utf-8")
    cells = json.loads((ROOT / "notebooks/emqtt/assignment.ipynb").read_text(encoding="utf-8"))["cells"]
    graded = [cell for cell in cells if cell["metadata"].get("nbgrader", {}).get("grade")]
    assert len(graded) == 4


def test_what_lies_where():
    """Each folder of the README's table is there, for every study where it says so."""
    table = (ROOT / "README.md").read_text(encoding="utf-8").partition("## What lies where")[2].partition("\n## ")[0]
    folders = re.findall(r"^\| (`.*?`) \|", table, re.M)
    assert len(folders) >= 5
    for entry in folders:
        for name in re.findall(r"`([^`]+)`", entry):
            wanted = [name.replace("<study>", study) for study in paths.STUDIES] if "<study>" in name else [name]
            assert [each for each in wanted if not (ROOT / each).is_dir()] == []


def test_every_verb_of_make_that_the_readme_names_is_there():
    named = set(re.findall(r"`?make ([a-z]+)\b", (ROOT / "README.md").read_text(encoding="utf-8")))
    helped = subprocess.run(
        [sys.executable, "tools/make.py", "--help"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert named <= set(re.findall(r"^    ([a-z]+)\b", helped, re.M)) | {"it"}
    assert {"book", "test", "outputs", "scorecard", "lab", "clean"} <= named


def test_a_registered_claim_is_no_fault_and_the_scorecard_says_what_is(capsys):
    text = next(
        action.choices["scorecard"].format_help()
        for action in cli.parser()._actions
        if getattr(action, "choices", None) and "scorecard" in action.choices
    )
    for word in ("unjudged", "missing", "stale", "contradicts its own numbers", "not what was recorded"):
        assert word in " ".join(text.split())
    assert not [fault for fault in claims.problems() if REGISTERED in fault]


# Running times: what is said is held against one recording, so no test depends on the machine that it runs on


def recorded(what: str = "seconds") -> dict[str, float]:
    record = json.loads((ROOT / "book/times.json").read_text(encoding="utf-8"))
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", record["date"])
    assert record["machine"]
    assert record["python"]
    return dict(record[what])


SAID = {
    "seconds": 10, "a few seconds": 10, "5 seconds": 5, "10 seconds": 10, "ten seconds": 10, "15 seconds": 15,
    "20 seconds": 20, "twenty seconds": 20, "25 seconds": 25, "30 seconds": 30, "half a minute": 30,
    "well under a minute": 45, "a minute": 60,
}  # fmt: skip
"""How many seconds a chapter may take that says this of itself."""


def seconds(words: str) -> int:
    bare = re.sub(r"^(?:about|under) ", "", words)
    assert bare in SAID, f"say it in one of these ways: {', '.join(SAID)}"
    return SAID[bare]


@pytest.mark.parametrize("path", paths.chapters(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_chapter_ran_as_quickly_as_it_says(path):
    said = re.search(r"\*Time\*+:? [^\n]*?([\w ]+?) to run", "\n".join(markdown(path)[:4]))
    if said:
        took = recorded().get(path.relative_to(ROOT).as_posix())
        assert took is not None, "book/times.json does not have it: record it, or say nothing of its time"
        limit = seconds(said[1].strip())
        assert took <= limit, f"{said[1]}, but it took {took} s"
        assert limit <= 10 or limit <= 5 * took, f"{said[1]}, but it took only {took} s"


def test_the_readme_adds_the_running_times_up():
    told = re.search(r"took ([\d.]+) minutes of one core on (\d+ \w+ \d{4})", (ROOT / "README.md").read_text("utf-8"))
    assert told
    assert float(told[1]) == round(sum(recorded().values()) / 60, 1)
    date = json.loads((ROOT / "book/times.json").read_text(encoding="utf-8"))["date"]
    assert datetime.strptime(f"{told[2]} +0000", "%d %B %Y %z").date().isoformat() == date


def test_all_notebooks_of_a_study_keep_to_their_time():
    """And each to its memory, as CONTRIBUTING.md asks for."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    told = re.search(r"All notebooks of the study together: at most (\d+) s on one core, (\d+) GB of memory", text)
    assert told
    assert max(recorded("megabytes").values()) <= 1000 * int(told[2])
    sums: dict[str, float] = {}
    for name, took in recorded().items():
        part = name.split("/")[1]
        sums[part] = sums.get(part, 0.0) + took
    assert max(sums.values()) <= int(told[1])


def test_a_kilobyte_has_1000_bytes_in_prose():
    """As the page on notation says: a power of two is given in bytes."""
    two = r"\b(?:16|32|64|128|256|512) ?(?:kB|MB|GB)\b"
    pages = [*ROOT.glob("[RCS]*.md"), *(ROOT / "book").rglob("*.md"), *(ROOT / "data").rglob("*.md")]
    texts = {page.as_posix(): page.read_text("utf-8") for page in pages if page.name != "CHANGELOG.md"}
    texts |= {f"{path.parent.name}/{path.name}": "\n".join(markdown(path)) for path in paths.chapters()}
    assert {name: re.findall(two, text) for name, text in texts.items() if re.search(two, text)} == {}


def test_the_readme_names_each_benchmark_that_is_not_named_as_its_study():
    told = re.findall(r"benchmark is that of its broker, `(\w+)\.py`", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert told == [part.benchmark for part in paths.PARTS if part.benchmark not in (None, "", part.name)]


def test_make_never_asks_for_root_and_installs_nothing_for_a_gpu():
    for name in ("Makefile", "tools/make.py", "postBuild"):
        assert not re.search(r"\b(?:sudo|doas|pkexec|su -)\b", (ROOT / name).read_text(encoding="utf-8")), name
    names = pinned()
    assert len(names) > 200
    gpu = r"(?:nvidia|cuda|cupy|rocm|pyopencl|torch|tensorflow|jax)"
    assert [name for name in names if re.match(gpu, name)] == []


# How to use this book


def table(page: str, heading: str) -> list[list[str]]:
    """Return the cells of the first table below a heading, without its head."""
    text = (ROOT / page).read_text(encoding="utf-8").partition(f"\n{heading}\n")[2]
    lines = re.findall(r"^\|.*\|$", text.partition("\n## ")[0], re.M)[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_what_the_verdicts_mean():
    told = {name: sign for sign, name, _ in table("book/how-to-use.md", "## What a verdict means")}
    assert list(told.items()) == list(claims.VERDICTS.items())


HUES = {
    "dark blue": (0.6, 0.7), "dark red": (0.0, 0.06), "dark green": (0.35, 0.5), "dark pink": (0.85, 0.95),
    "olive": (0.17, 0.28),
}  # fmt: skip
"""Where a colour lies on the circle of hues."""


def test_what_the_colours_mean():
    told = {name: colour for colour, name, _ in table("book/how-to-use.md", "## What the colours mean")}
    assert set(told) == set(style._ORIGINS.values())
    for name, colour in told.items():
        hue, _, value = rgb_to_hsv(to_rgb(figures.COLOURS[name]))
        if colour == "black":
            assert value < 0.2
        else:
            assert HUES[colour][0] <= hue <= HUES[colour][1] and value < 0.65, name


@pytest.mark.parametrize("path", paths.chapters(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_no_chapter_needs_another_studys(path):
    """Of what a chapter needs, all that it links to is its own part's or the foundations'; the journey needs all."""
    needed = re.findall(r"\]\(\.\./(\w+)/", "\n".join(markdown(path)[:4]))
    part = path.parent.name
    allowed = {"journey": {"foundations", *paths.STUDIES}, "foundations": set()}.get(part, {"foundations"})
    assert set(needed) - {part} <= allowed
    assert part != "journey" or allowed - {"foundations"} <= set(needed), "it is said to send you to all of them"


def test_voice_and_nfc_run_in_virtual_time():
    """Neither asks a clock, or waits."""
    files = [file for room in ("netsim", "voip", "nfc") for file in (ROOT / "src/voicewire" / room).rglob("*.py")]
    assert len(files) > 20
    timed = [
        file.name for file in files if re.search(r"^\s*(?:import time|from time)\b", file.read_text("utf-8"), re.M)
    ]
    assert timed == []


# Papers and verdicts


def test_a_verdict_that_hangs_lists_its_readings_and_a_contradiction_is_shown():
    hanging = [row for row in rows() if row["verdict"] == HANGS]
    assert hanging
    assert [row["id"] for row in hanging if len({one["verdict"] for one in row["readings"]}) < 2] == []
    contradicted = [row for row in rows() if row["verdict"] == CONTRADICTED]
    assert contradicted
    assert [row["id"] for row in contradicted if len(row["reason"].split()) < 4] == []


@pytest.mark.parametrize("study", paths.STUDIES)
def test_each_erratum_says_where_what_and_how_it_is_known(study):
    lines = (ROOT / "book" / study / "_errata.md").read_text(encoding="utf-8").strip().splitlines()
    head, _, *rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    assert [head[0].lower(), len(head)] == ["where", 4]
    assert rows
    assert [row for row in rows if len(row) != 4 or not all(row)] == []


# Machines and licences


def test_everything_is_tested_on_linux():
    """GitHub runs the script that leaves nothing out, and runs it there."""
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))["jobs"]
    whole = [job for job in jobs.values() if any(".ci/run" in step.get("run", "") for step in job["steps"])]
    assert [job["runs-on"].partition("-")[0] for job in whole] == ["ubuntu"]


def test_what_exists_on_linux_only_says_so_elsewhere(monkeypatch):
    monkeypatch.delattr(select, "epoll", raising=False)
    with pytest.raises(OSError, match="needs Linux .*: use WSL 2, a container or Binder"):
        Population(1, 3)
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(TestbedError, match="Linux network namespaces; use the loopback proxy"):
        Host()


def pinned(locks: str = "requirements*.lock") -> set[str]:
    texts = [lock.read_text(encoding="utf-8") for lock in ROOT.glob(locks)]
    return {name for text in texts for name in re.findall(r"^([\w.-]+)==", text, re.M)}


def stricter(name: str) -> bool:
    """Whether a package's own metadata allow no licence but one of the GNU family."""
    about = metadata.metadata(name)
    words = [about.get("License-Expression") or "", *(about.get_all("Classifier") or [])]
    said = [word for word in words if word.startswith("License ::") or word == words[0]]
    gnu = [word for word in said if re.search(r"GPL|GNU", word)]
    free = re.search(r"\bOR\b", words[0]) or any(re.search(r"BSD|MIT|Apache", word) for word in said)
    return bool(gnu) and not free


def test_the_stricter_licences_are_all_named():
    """And none of them is copied into our code."""
    text = (ROOT / "README.md").read_text(encoding="utf-8").partition("stricter licences:")[2].partition("\n")[0]
    named = set(re.sub(r"\(.*?\)", "", text).replace(",", " ").split())
    there = {dist.metadata["Name"].lower() for dist in metadata.distributions()}
    found = pinned() & there
    assert {"praat-parselmouth", "soxr"} <= found
    assert re.search(r"frozendict and enum-tools \(.*?\) and codespell \(.*; these three for the tests only\)", text)
    assert {"frozendict", "enum-tools", "codespell"} & pinned("requirements.lock") == set()
    assert [name for name in sorted(found) if stricter(name) != (name in named)] == []
    ours = [path for path in (ROOT / "src").rglob("*.*") if path.suffix in (".py", ".c", ".js", ".css")]
    assert [path.name for path in ours if "GNU General Public License" in path.read_text(encoding="utf-8")] == []


# What runs where


def test_a_tag_is_released():
    release = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))["jobs"]["release"]
    steps = "\n".join(step.get("run", "") for step in release["steps"])
    assert release["if"] == "startsWith(github.ref, 'refs/tags/v')"
    assert [part for part in ("pip wheel", "zip -qr", "gh release create") if part not in steps] == []


# What the command line says of its own defaults


def options() -> list[tuple[str, argparse.Action]]:
    def walk(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.Action]]:
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                for child in action.choices.values():
                    yield from walk(child)
            else:
                yield f"{parser.prog} {action.dest}", action

    return list(walk(cli.parser()))


def later(name: str) -> list[object]:
    """Return the defaults that come into force behind the parser, for an option without one of its own."""
    words, dest = name.split()[1:-1], name.split()[-1]
    if words == ["broker"]:
        return [getattr(Config() if dest in ("host", "port") else Config().limits, dest)]
    if words == ["echo"]:
        taps, memory = Settings().taps((1, 1), 8000)
        return [{"tail": 1000 * taps / 8000, "memory": memory}[dest]]
    recordings = importlib.import_module(f"voicewire_book.chapters.{words[1]}.record").RECORDINGS.values()
    given = [inspect.signature(run).parameters for run in recordings]
    return [parameters[dest].default or paper.ITERATIONS for parameters in given if dest in parameters]


def test_a_default_that_the_help_names_is_the_default():
    wrong, count = {}, 0
    for name, action in options():
        told = re.search(r"\bdefault:? ([\w.]*\d[\w.]*)\b", (action.help or "") % vars(action))
        if told:
            count += 1
            real = later(name) if action.default is None else [action.default]
            alike = [value if isinstance(value, str) else f"{value:g}" for value in real]
            if told[1] not in alike:
                wrong[name] = (told[1], alike)
    assert count > 25
    assert wrong == {}


# The parts' first pages


def test_the_page_on_emqtt_needs_no_other_program():
    """Its chapters' code starts no broker but ours."""
    assert "no other program is needed." in (ROOT / "book/emqtt/index.md").read_text(encoding="utf-8")
    for path in paths.chapters("emqtt"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        assert not re.search(r"process\.mosquitto\(|subprocess|shutil\.which", code), path.name


def test_the_page_on_vowels_names_a_command_that_its_second_chapter_shows():
    text = (ROOT / "book/pharyngeal/index.md").read_text(encoding="utf-8")
    assert "the second one shows the command `voicewire formants`" in text
    assert "voicewire formants" in "\n".join(markdown(paths.chapters("pharyngeal")[1]))


def test_the_page_on_echo_takes_two_recorded_figures():
    assert "both figures at full size, recorded" in (ROOT / "book/echo/index.md").read_text(encoding="utf-8")
    lines = (ROOT / "data/echo/checksums.sha256").read_text(encoding="utf-8")
    assert {"figure-1.csv", "figure-2.csv"} <= set(lines.split())


@pytest.mark.parametrize(("study", "words"), [("echo", "the third chapter"), ("pharyngeal", "the last chapter")])
def test_the_verdicts_stand_in_the_chapter_that_the_page_sends_to(study, words):
    assert words in (ROOT / "book" / study / "index.md").read_text(encoding="utf-8")
    judged = {row["notebook"] for row in rows() if row["study"] == study and row["notebook"]}
    assert judged == {paths.chapters(study)[-1].relative_to(ROOT).as_posix()}
    assert study != "echo" or len(paths.chapters(study)) == 3


CONTAINS = {
    "echo/01_adaptive_filters": ("gradient", "RLS", r"player\(", "riddle|more than one|no unique|not unique"),
    "echo/02_rls_by_shifts": ("Table I\\b", "Table II\\b"),
    "echo/03_data_reuse": (r"read_curves\(1\)", r"read_curves\(2\)", "What the paper leaves open: equal work"),
    "emqtt/01_packets": ("byte by byte", "QoS 0", "QoS 2", "trace"),
    "emqtt/02_end_to_end": ("by hand", "QoS 3", "know nothing of", "query_packets", r"\*hold\*", "mean_wait"),
    "emqtt/03_reproduction": ("count", "ratio", "contradict"),
    "nfc/01_slow_link": ("timeline", "closed form", "slot"),
    "nfc/02_errors_and_timers": ("bit error", "burst", "wall"),
    "nfc/03_reproduction": ("lwIP", "identifiab|cannot tell|tell apart", "[Aa]ssumption"),
    "nfc/assignment": ("formula|overhead|slots",),
    "pharyngeal/01_tract_to_formants": ("tube", r"slider\.frames", r"player\("),
    "pharyngeal/02_formants": ("two trackers|both trackers|Praat", "refus|clip|error", "test"),
    "pharyngeal/03_articulators": ("height", "opening", "location", "track", "component"),
    "pharyngeal/04_reproduction": ("Table I\\b", "Table II\\b", "cause"),
    "transport/01_sockets_and_segments": ("header", "two .*ways|independent|tshark", "def conversation", "Four tools"),
    "transport/02_measuring_honestly": ("offload", "Nagle", "warm", "depend"),
    "transport/03_tcp_against_mqtt": ("two networks|both networks|private network", "rules"),
    "transport/04_which_transport": (r"\bframes\(", "leaves open", "TLS 1.3"),
    "voip/01_rate_control": ("## The equation", "loss interval", "report", "DCCP"),
    "voip/02_quality_and_playout": ("## The best playout", "Why a convex hull is enough", r"compare\("),
    "voip/03_reproduction": ("[Ss]ensitivity", "hang"),
    "voip/assignment": ("1. The equation", "2. The average loss interval", "3. A floor", "4. One talkspurt"),
    "foundations/01_signals": ("sample", "spectr", "pole", "predict"),
    "foundations/02_filters": ("LMS", "NLMS", "affine projection", "RLS"),
    "foundations/03_tcp": ("segment", "round trip", "timer", "square.root", "queue"),
    "foundations/04_mqtt": ("topic", "packet", "session", "exactly once"),
    "foundations/05_measuring_and_judging": ("interval", "depend", "different verdict"),
    "journey/01_from_mouth_to_kettle": (r"\bsay\(", "echo", r"\bcalled\(", "sealed", "QoS 3", "slots", r"\bframes\("),
}
"""What the parts' first pages say that a chapter takes up, by words that its text or code must have."""


@pytest.mark.parametrize("chapter", CONTAINS)
def test_a_chapter_takes_up_what_the_first_page_says(chapter):
    cells = json.loads((ROOT / f"notebooks/{chapter}.ipynb").read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(cell["source"]) for cell in cells)
    assert [words for words in CONTAINS[chapter] if not re.search(words, text)] == []


def test_every_chapter_of_a_part_is_asked():
    asked = {name for name in CONTAINS if not name.endswith("/assignment")}
    there = {f"{path.parent.name}/{path.stem}" for path in paths.chapters()}
    assert asked == there
