"""The journey: its numbers are those of the studies where they meet, and of its page; it calls what is public."""

from __future__ import annotations

import ast
import importlib
import re

import nbformat
import numpy as np
import pytest

from voicewire.echo import dcd_uncompiled
from voicewire.emqtt import counting
from voicewire.emqtt.trace import one_message
from voicewire.mqtt import BrokerThread, Config
from voicewire.nfc import latency_formulas
from voicewire.nfc.session import Session
from voicewire.pharyngeal import formants as trackers
from voicewire.pharyngeal.audio_files import Sound
from voicewire.transport import overhead_formulas
from voicewire.transport.secure_objects import icto
from voicewire.transport.secure_objects.icto_format import overhead
from voicewire.voip import emodel, paper
from voicewire.voip.calls import udp_closed_form
from voicewire_book import paths
from voicewire_book.chapters.journey import figures as drawn
from voicewire_book.chapters.journey import sentence, stations
from voicewire_book.chapters.journey.budget import HEADER, PUBREC, budget
from voicewire_book.chapters.pharyngeal import vocal_tract_shapes
from voicewire_book.publish.pages import way

ROOT = paths.root()
CHAPTER = ROOT / "notebooks/journey/01_from_mouth_to_kettle.ipynb"
CELLS = nbformat.read(CHAPTER, as_version=4).cells
PROSE = "\n".join(cell.source for cell in CELLS if cell.cell_type == "markdown")


def printed(cell):
    return "".join(output.get("text", "") for output in cell.get("outputs", []))


def heading(name):
    return PROSE.partition(f"\n## {name}\n")[2].partition("\n## ")[0]


# Where the journey meets the studies


def test_the_sentence_is_three_seconds_of_the_parts_own_shapes():
    spoken = sentence.say()
    assert spoken.sound.duration == 3.0
    assert sum(phone.frames for phone in spoken.phones) * sentence.FRAME_MS == 3000
    at = 2 * spoken.sound.rate  # in the last vowel
    for emphatic, goal in zip((False, True), vocal_tract_shapes.targets(), strict=True):
        said = sentence.say(emphatic)
        kind = "tongue" if emphatic else "plain"
        own = vocal_tract_shapes.formants([vocal_tract_shapes.load()[kind][sentence.LAST_VOWEL]])[0]
        assert np.allclose(said.formants[at], np.minimum(own, 4300), atol=0.01)
        assert np.allclose(said.formants[at][:2], goal[:2], atol=1.0)


def test_a_tracker_of_the_part_finds_the_formants_that_the_tract_was_given():
    for emphatic in (False, True):
        said = sentence.say(emphatic)
        vowel = Sound(said.sound.part(1.9, 2.2), said.sound.rate)
        found = trackers.midpoint(vowel, "lpc")
        assert np.allclose(found[:2], said.formants[round(2.05 * said.sound.rate)][:2], rtol=0.12)


@pytest.mark.parametrize("passes", [1, 3])
def test_the_room_is_that_of_the_reading_version(monkeypatch, passes):
    monkeypatch.setattr(stations, "_ALONE", 0.06)
    monkeypatch.setattr(stations, "_MOVED", 0.02)
    monkeypatch.setattr(stations, "TAPS", 16)
    voice = sentence.telephone(sentence.say().sound)[4000:6000]
    fast = stations.room(voice, passes)
    monkeypatch.setattr(stations, "WLDRRLSDCD", dcd_uncompiled.WLDRRLSDCD)
    assert np.allclose(stations.room(voice, passes).freed, fast.freed, atol=1e-9)


def test_more_passes_help_after_a_change_and_not_at_rest():
    voice = sentence.telephone(sentence.say().sound)
    moved, rest = ([stations.room(voice, n, moved=kind).erle for n in (1, 3, 5)] for kind in (True, False))
    assert moved == sorted(moved) and rest == sorted(rest, reverse=True)


def test_without_losses_the_call_has_the_r_of_the_closed_form():
    done = budget(loss=0.0)
    assert done.heard.call.r == udp_closed_form("G.711", 100.0)
    lossy = budget(loss=0.1).heard
    gone = float(np.mean(~lossy.played))
    assert gone > 0
    assert lossy.call.r == pytest.approx(float(emodel.r_factor(100.0, gone, "G.711")))
    frames = lossy.played.size
    assert budget(loss=0.1).legs[2].size == frames * (paper.CODECS["G.711"].payload + HEADER)
    assert HEADER == paper.HEADER


def test_the_seal_is_as_long_as_the_parts_formula_says_and_opens_for_one_reader():
    phone, kettle, stranger = stations.identities()
    for content in (b"", bytes(320), b"x" * 24_960):
        sealed = stations.sealed(content)
        assert len(sealed) - len(content) == overhead([kettle.name], {stations.PART: 1})
        assert sealed == stations.sealed(content)
        assert icto.open_object(sealed, kettle, phone.public) == {stations.PART: content}
        with pytest.raises(icto.NotPermittedError):
            icto.open_object(sealed, stranger, phone.public)


def test_what_is_published_has_the_parts_sizes():
    for size in (0, 320, 25_262):
        assert len(stations.publication(bytes(size))) == overhead_formulas.packet_bytes(size, 2, stations.TOPIC) + 2
    assert counting.publish_size(3) - counting.publish_size(2) == 2
    with BrokerThread(Config(port=0)) as broker:
        steps = one_message(broker.port, 3).steps
    assert len(steps) == counting.messages("all", 1)
    assert {step.size for step in steps if step.label.startswith("PUBREC")} == {PUBREC}


def test_without_errors_the_slots_are_those_of_the_closed_form():
    for mss in (256, 1024, 1460):
        done = budget(ber=0.0, mss=mss)
        (crossed,) = done.crossings
        assert crossed.slots == latency_formulas.latency(Session(done.legs[4].size, mss=mss)).total
        kettle, publish = done.legs[5], done.legs[4]
        assert kettle.ends - publish.ends == pytest.approx(crossed.seconds)


def test_each_knob_moves_what_the_chapter_says():
    base = budget(ber=0.0)
    sizes, ends = ([getattr(leg, name) for leg in base.legs] for name in ("size", "ends"))
    lost = budget(ber=0.0, loss=0.1)
    assert [leg.size for leg in lost.legs] == sizes and [leg.ends for leg in lost.legs] == ends
    assert lost.heard.played.sum() < base.heard.played.sum()
    once = budget(ber=0.0, passes=1)
    assert [leg.ends for leg in once.legs] == ends and once.erle < base.erle
    for changed in (budget(ber=0.0, mss=256), budget()):
        assert [leg.ends for leg in changed.legs[:-1]] == ends[:-1]
        assert changed.legs[-1].ends > ends[-1]
    later = budget(ber=0.0, delay_ms=400.0)
    assert later.heard.call.r < base.heard.call.r - 20
    assert later.legs[-1].ends - ends[-1] < 0.1 * ends[-1]


# The page


def test_the_chapters_budget_is_that_of_the_package():
    (cell,) = [cell for cell in CELLS if "print(done.table())" in cell.source]
    assert printed(cell).strip() == budget().table()


def test_the_small_case_is_as_the_prose_has_it():
    sealed = stations.sealed(bytes(320))
    wire = stations.publication(sealed)
    slots = latency_formulas.latency(Session(len(wire), mss=256)).total
    said = heading("Two frames by hand")
    for number in (len(sealed), len(wire), len(sealed) - 320, len(wire) - len(sealed), slots):
        assert re.search(rf"\b{number}\b", said), number


def test_the_tables_of_the_stations_are_the_budgets():
    named = dict(zip(("throat", "room", "call", "seal", "publish", "kettle"), budget().legs, strict=True))
    for name, leg in named.items():
        (row,) = re.findall(rf"^\| {name} \|(.*)$", PROSE, re.M)
        assert f"{leg.size:,}".replace(",", "\u202f") in row, name
    assert f"{named['kettle'].ends - named['publish'].ends:.1f} s" in heading("Kettle")


def test_it_is_heard_at_every_station_where_it_is_a_sound():
    heard = {"Throat": 0, "Room": 0, "Call": 0, "Seal": 0, "Kettle": 0}
    station = ""
    for cell in CELLS:
        if cell.cell_type == "markdown" and (found := re.findall(r"^## (.+)$", cell.source, re.M)):
            station = found[-1]
        for output in cell.get("outputs", []):
            if "vw-audio" in output.get("data", {}).get("text/html", ""):
                heard[station] += 1
    assert min(heard.values()) >= 1


def test_each_station_links_to_its_study():
    stops = zip(("Throat", "Room", "Call", "Seal", "Publish", "Kettle"), paths.STUDIES, strict=False)
    for name, study in stops:
        assert f"](../{study}/" in heading(name), name


def test_the_home_page_shows_the_way_in_small():
    assert "```{gather} journey\n```" in (ROOT / "book/index.md").read_text(encoding="utf-8")
    shown = way.small(ROOT, lambda target: target)
    assert "vw-audio" in shown
    assert shown.count('type="range"') == 2  # transport and delay, with the sound of each
    for leg in budget().legs:
        assert f"| {leg.station} | {leg.size:,} | {leg.ends:.2f} s | {leg.lost} |".replace(",", "\u202f", 1) in shown
    assert way.small(ROOT, lambda target: None).startswith("The journey does not")


def test_a_chapter_without_its_budget_is_refused(tmp_path):
    folder = tmp_path / "notebooks" / "journey"
    folder.mkdir(parents=True)
    nbformat.write(nbformat.v4.new_notebook(), folder / "01_a.ipynb")
    with pytest.raises(ValueError, match="execute it"):
        way.small(tmp_path, lambda target: target)


# Doors


def imports(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)


def attributes(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield node.value.id, node.attr


SOURCES = {path.name: path.read_text("utf-8") for path in (ROOT / "src/voicewire_book/chapters/journey").glob("*.py")}
SOURCES["chapter"] = "\n".join(cell.source for cell in CELLS if cell.cell_type == "code")


def hidden(source):
    """Names of the studies that are used, and that their module does not list as public."""
    tree = compile(source, "source", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    modules, found = {}, []
    for module, name in imports(tree):
        if module.split(".")[:1] != ["voicewire"]:
            continue
        try:
            modules[name] = importlib.import_module(f"{module}.{name}")
        except ModuleNotFoundError:
            loaded = importlib.import_module(module)
            found += [f"{module}.{name}"] if name not in getattr(loaded, "__all__", [name]) or name[0] == "_" else []
    for name, attribute in attributes(tree):
        if name in modules and attribute not in getattr(modules[name], "__all__", [attribute]):
            found.append(f"{name}.{attribute}")
    return found


@pytest.mark.parametrize("name", SOURCES)
def test_only_public_functions_of_the_studies_are_called(name):
    assert hidden(SOURCES[name]) == []


def test_what_is_not_public_would_be_seen():
    assert hidden("from voicewire.nfc.session import NEVER") == ["voicewire.nfc.session.NEVER"]
    assert hidden("from voicewire.voip.codecs import listening\nlistening._samples") == ["listening._samples"]


# What goes wrong


def test_what_no_station_can_have_is_refused():
    with pytest.raises(ValueError, match="silent"):
        stations.room(np.zeros(800))
    with pytest.raises(ValueError, match="all zero"):
        stations.loud(np.zeros(8))
    with pytest.raises(ValueError, match="samples a second"):
        sentence.telephone(Sound(np.ones(8), 8000, "a"))


# Figures


def test_the_figures_show_what_they_are_given():
    done = budget(ber=0.0)
    bars = drawn.way(done).patches
    assert [round(bar.get_x(), 6) for bar in bars] == [round(leg.begins, 6) for leg in done.legs]
    assert bars[-1].get_width() == pytest.approx(done.legs[-1].ends - done.legs[-1].begins)
    line = drawn.crossing({0.0: {256: [3.0, 1.0, 2.0], 512: [5.0]}}).lines[-1]
    assert line.get_ydata().tolist() == [2.0, 5.0]
    voice = sentence.telephone(sentence.say().sound)
    room = stations.room(voice)
    near, echo, left = (line.get_ydata() for line in drawn.microphones({"left": room}, voice).lines)
    assert np.isclose(10 * np.log10(np.mean(10 ** (near / 10))), 0, atol=0.1)
    gained = 10 * np.log10(np.mean(10 ** (echo / 10)) / np.mean(10 ** (left / 10)))
    assert gained == pytest.approx(room.erle, abs=1.5)  # one microphone of two
    assert len(drawn.formants(sentence.say()).lines) == 3
