"""TextGrids by Praat's grammar: read as Praat reads them, or refused with the line; times from the sound's start."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import parselmouth
import pytest
import soundfile
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from parselmouth.praat import call

from voicewire import cli
from voicewire.pharyngeal import textgrid, textgrid_format
from voicewire.pharyngeal.textgrid import Interval, TextGridError

HEAD = 'File type = "ooTextFile"\nObject class = "TextGrid"\n\n'
LABELS = ["a", "", 'say ""ah""', "xmin = 3", "é", "طا", "two\nlines", "! none", "<exists>", "😀", "5", "\\ae", " "]
NOTES = ["", "", " ! by ann", ' ! "x" 5 <exists>', " (sic)", " [7]:", " = ok"]


def praats(path: Path):
    grid = parselmouth.read(str(path))
    tiers = []
    for k in range(1, call(grid, "Get number of tiers") + 1):
        points = not call(grid, "Is interval tier", k)
        what = "point" if points else "interval"
        asks = ["Get time of point"] * 2 if points else ["Get start time of interval", "Get end time of interval"]
        numbers = range(1, call(grid, f"Get number of {what}s", k) + 1)
        marks = [(*(call(grid, ask, k, i) for ask in asks), call(grid, f"Get label of {what}", k, i)) for i in numbers]
        tiers.append((call(grid, "Get tier name", k), points, marks))
    return grid.xmin, grid.xmax, tiers


def ours(path: Path):
    start, end, tiers = textgrid_format.parsed(path.read_bytes())
    return start, end, [(t.name, t.points, [(m.start, m.end, m.label) for m in t.marks]) for t in tiers]


def read_or_refused_as_by_praat(file: Path):
    try:
        theirs = praats(file)
    except parselmouth.PraatError:
        with pytest.raises(TextGridError, match=r"x\.TextGrid: (line \d+|this is no TextGrid)"):
            textgrid.read(file)
    else:
        assert ours(file) == theirs


@st.composite
def numbers(draw, value: float) -> str:
    forms = [f"{value:.17g}", f"{value:.17e}", f"{value:.17E}", f"{value!r}/1", "+" * (value >= 0) + repr(value)]
    return draw(st.sampled_from([repr(value), *forms]))


@st.composite
def files(draw) -> bytes:
    """A TextGrid in one of Praat's forms of text, with comments, exponents and words that mean nothing."""
    start = draw(st.sampled_from([0.0, 1.0, -2.0, 0.04, 3600.5]))
    end = start + draw(st.sampled_from([1.0, 2.5, 600.0]))
    note = st.sampled_from(NOTES)
    form = draw(st.sampled_from(["long", "short", "chronological"]))
    tiers = []
    for _ in range(draw(st.integers(1, 3))):
        cuts = sorted(draw(st.sets(st.floats(start + 1e-6, end - 1e-6), max_size=5)))
        points = draw(st.booleans())
        edges = [start, *cuts, end]
        spans = [(t, t) for t in cuts] if points else list(itertools.pairwise(edges))
        marks = [(a, b, draw(st.sampled_from(LABELS))) for a, b in spans]
        tiers.append((draw(st.sampled_from(["v", "phones é", 'v"" x', ""])), points, marks))

    def n(value: float) -> str:
        return draw(numbers(value))

    kind = ("IntervalTier", "TextTier")
    if form == "long":
        text = HEAD + f"xmin = {n(start)}{draw(note)}\nxmax = {n(end)}\ntiers? <exists> \n"
        text += f"size = {len(tiers)} \nitem []: \n"
        for k, (name, points, marks) in enumerate(tiers, 1):
            text += f'    item [{k}]:\n        class = "{kind[points]}" \n        name = "{name}"{draw(note)}\n'
            text += f"        xmin = {n(start)} \n        xmax = {n(end)} \n        intervals: size = {len(marks)} \n"
            for i, (a, b, label) in enumerate(marks, 1):
                times = f"number = {n(a)}{draw(note)}\n" if points else f"xmin = {n(a)}{draw(note)}\nxmax = {n(b)}\n"
                text += f'        intervals [{i}]:\n{times}            text = "{label}"{draw(note)}\n'
    elif form == "short":
        parts = [n(start), n(end), "<exists>", str(len(tiers))]
        for name, points, marks in tiers:
            parts += [f'"{kind[points]}"', f'"{name}"', n(start), n(end), str(len(marks))]
            for a, b, label in marks:
                parts += [n(a), *[n(b)] * (not points), f'"{label}"']
        head = draw(st.sampled_from([HEAD, '"ooTextFile"\n"TextGrid"\n']))
        text = head + draw(st.sampled_from([" ", "\n"])).join(parts)
    else:
        text = f'"Praat chronological TextGrid text file"\n{n(start)} {n(end)} ! Time domain.\n{len(tiers)}\n'
        text += "".join(f'"{kind[points]}" "{name}" {n(start)} {n(end)}\n' for name, points, _ in tiers)
        rows = [(a, k, b, label, t[1]) for k, t in enumerate(tiers, 1) for a, b, label in t[2]]
        for a, k, b, label, points in sorted(rows):
            text += f"\n{k} {n(a)}" + ("" if points else f" {n(b)}") + f'{draw(note)}\n"{label}"\n'
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n", "\r"])))
    encodings = ["utf-8", "utf-16"] + ["utf-8-sig"] * (form != "chronological")
    if all(ord(c) < 256 for c in text):
        encodings.append("latin-1")
    return text.encode(draw(st.sampled_from(encodings)))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)
@given(files(), st.booleans())
def test_a_file_of_praats_grammar_is_read_as_praat_reads_it(tmp_path, raw, binary):
    file = tmp_path / "x.TextGrid"
    file.write_bytes(raw)
    if binary:
        call(parselmouth.read(str(file)), "Save as binary file", str(file))
    assert ours(file) == praats(file)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)
@given(files(), st.data())
def test_a_cut_file_is_refused_with_its_line_where_praat_refuses_it(tmp_path, raw, data):
    file = tmp_path / "x.TextGrid"
    file.write_bytes(raw[: data.draw(st.integers(60, max(60, len(raw) - 1)))])
    read_or_refused_as_by_praat(file)


@pytest.mark.parametrize("comment", ["", "! " + 70 * "x" + "\n"])
@pytest.mark.parametrize("behind", ["", "words\n", '1 0 1\n"a"\n', '"a"\n', "0\n"])
def test_a_chronological_file_of_no_tiers_is_read_where_praat_reads_it(tmp_path, comment, behind):
    """Praat recognises none that is shorter than 100 bytes, and passes over no label of a tier that is not there."""
    file = tmp_path / "x.TextGrid"
    file.write_text(f'"Praat chronological TextGrid text file"\n0 1\n0\n{comment}{behind}')
    read_or_refused_as_by_praat(file)


GOOD = HEAD + '0\n1\n<exists>\n1\n"IntervalTier"\n"v"\n0\n1\n2\n0\n0.5\n"x"\n0.5\n1\n"y"\n'


@pytest.mark.parametrize(("old", "new", "said"), [
    ("\n0.5\n\"x\"", "\n0,5\n\"x\"", "line 14: '0,5' is not the number that the end of interval 1 of tier 1"),
    ("\n0.5\n\"x\"", "\n1/0\n\"x\"", "line 14: '1/0' is no finite number, which the end of interval 1 of tier 1 must"),
    ("\n0.5\n\"x\"", "\n1e999/1\n\"x\"", "line 14: '1e999/1' is no finite number"),
    ("\n0.5\n\"x\"", "\n\"x\"", "line 14: there is a text in quotes where the end of interval 1"),
    ("\"x\"\n", "\"x\"y\n", "line 15: 'y' follows a closing quote"),
    ("<exists>", "<absent>", "line 6: <absent>: the TextGrid has no tiers"),
    ("\"IntervalTier\"", "\"PitchTier\"", "line 8: tier 1 is a 'PitchTier'"),
    ("\n2\n", "\n3\n", "line 19: the text ends where the start of interval 3 of tier 1 is looked for"),
    ("0.5\n1\n", "0.5\n0.2\n", "line 17: interval 2 of tier 1 ends at 0.2 s, before its start at 0.5 s"),
    ("\"TextGrid\"", "\"PitchTier\"", "line 2: the file holds a 'PitchTier', no TextGrid"),
])  # fmt: skip
def test_what_is_wrong_is_said_with_its_line(tmp_path, old, new, said):
    assert GOOD.count(old) == 1
    (tmp_path / "x.TextGrid").write_text(GOOD.replace(old, new))
    with pytest.raises(TextGridError) as refused:
        textgrid.read(tmp_path / "x.TextGrid")
    assert str(refused.value).startswith(f"x.TextGrid: {said}")


def test_what_praat_passes_over_is_named(tmp_path):
    (tmp_path / "x.TextGrid").write_text(GOOD.replace("0.5\n1\n", "0\n1\n"))
    grid = textgrid.read(tmp_path / "x.TextGrid")
    assert [mark.label for mark in grid.tier()] == ["x"]
    assert grid.notes == ("tier 'v': 'y' is passed over, as by Praat: another one begins at 0 s",)


def shifted(start: float, end: float) -> textgrid.Grid:
    return textgrid.Grid({"v": (Interval("a", start + 0.1, start + 0.3),)}, end, "g", start)


@given(st.floats(-100, 100).filter(lambda x: abs(x) > 0.12), st.floats(0.5, 100), st.floats(-0.04, 0.04))
def test_a_grid_with_times_preserved_is_counted_from_the_sounds_start(start, duration, off):
    grid = shifted(start, start + duration + off).fitted(duration)
    assert (grid.start, grid.end) == pytest.approx((0.0, duration + off))
    assert (grid.tier()[0].start, grid.tier()[0].end) == pytest.approx((0.1, 0.3))
    assert "this was subtracted" in grid.notes[0]


@given(st.floats(-100, 100), st.floats(0.5, 100), st.floats(0.06, 50), st.sampled_from([-1, 1]))
def test_a_grid_of_another_length_is_refused(start, duration, off, sign):
    assume(duration + sign * off > 0.3 and abs(start) > 0.2)
    with pytest.raises(TextGridError, match="they differ"):
        shifted(start, start + duration + sign * off).fitted(duration)


@given(st.floats(0.002, 40))
def test_a_grid_that_ends_with_the_sound_and_begins_later_is_refused(start):
    with pytest.raises(TextGridError, match="no label can be placed"):
        shifted(start, start + 5).fitted(start + 5)


def test_no_label_gets_another_vowels_numbers(tmp_path, capsys):
    """Praat's Extract part, preserve times: the grid begins at 1 s, the sound's file at 0."""
    rate, n = 16_000, 4800
    t = np.arange(2 * n) / rate
    hum = sum(np.sin(2 * np.pi * 100 * k * t) / k for k in range(1, 60)) * 0.1
    soundfile.write(tmp_path / "a.wav", hum, rate)
    for start in (0.0, 1.0, -0.25, 0.04):
        text = GOOD.replace("0\n1\n", f"{start}\n{start + 0.6}\n").replace("\n0\n0.5", f"\n{start}\n{start + 0.3}")
        text = text.replace("0.5\n1\n", f"{start + 0.3}\n{start + 0.6}\n")
        (tmp_path / "g.TextGrid").write_text(text)
        for more in ([], ["--talker", "man"]):
            grid = str(tmp_path / "g.TextGrid")
            assert cli.main(["formants", str(tmp_path / "a.wav"), "--textgrid", grid, *more]) == 0
            both = capsys.readouterr()
            places = {tuple(line.split(",")[1:4]) for line in both.out.splitlines()[1:]}
            assert places == {("x", "0.0000", "0.3000"), ("y", "0.3000", "0.6000")}
            assert ("this was subtracted" in both.err) == bool(start)


@given(st.text(st.sampled_from('a" \n'), max_size=12))
def test_a_label_that_is_not_closed_is_said_to_be(label):
    """Whatever doubled quotes it holds: the second of a pair closes nothing."""
    text = HEAD + '0\n1\n<exists>\n1\n"IntervalTier"\n"v"\n0\n1\n1\n0\n1\n"' + label.replace('"', '""') + "\n"
    with pytest.raises(textgrid_format.FormatError, match="the text ends within"):
        textgrid_format.parsed(text.encode())
