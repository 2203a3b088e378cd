"""Cells in a page: what a session shows, which cells are offered, what is laid out beside the pages."""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
import soundfile

from voicewire_book import paths
from voicewire_book.ledger import loading
from voicewire_book.ledger.vocabulary import VERDICTS
from voicewire_book.publish.live import build, cell_runner, chapters, fetch, linking, proof, wav_files, wheels
from voicewire_book.publish.pages import policy

pytestmark = pytest.mark.landing


@pytest.fixture
def session():
    """A session, and the outputs of what it ran last."""
    plt.close("all")  # a figure that another test left open would be shown with this one's first cell
    outputs: list[dict[str, Any]] = []
    return cell_runner.Session("", lambda text: outputs.append(json.loads(text))), outputs


async def ran(
    session: tuple[cell_runner.Session, list[dict[str, Any]]], source: str
) -> tuple[str, list[dict[str, Any]]]:
    it, outputs = session
    outputs.clear()
    return await it.run(source), outputs


async def test_a_cell_prints_then_gives_its_last_value(session):
    how, outputs = await ran(session, "print('a', end='')\nprint('b')\nx = 2\nx * 21")
    assert how == "ok"
    assert "".join(each["text"] for each in outputs[:-1]) == "ab\n"
    assert outputs[-1]["data"] == {"text/plain": "42"}
    assert (await ran(session, "x * 21;"))[1] == []
    assert (await ran(session, "x = 3"))[1] == []
    assert (await ran(session, "_"))[1][0]["data"] == {"text/plain": "42"}


async def test_a_page_hears_of_verdicts_and_lets_a_reader_judge_again():
    judged: list[dict[str, Any]] = []
    heard = cell_runner.Session("", lambda text: None, lambda text: judged.extend(json.loads(text)))
    name = next(claim.id for claim in loading.read("nfc").values() if claim.kind == "value" and not claim.readings)
    assert await heard.run("from voicewire_book.kit import claims\nledger = claims.load('nfc')") == "ok"
    printed = loading.read("nfc")[name].printed
    shape = dict.fromkeys(printed, -1e9) if isinstance(printed, dict) else -1e9
    assert judged == []
    assert await heard.run(f"ledger.judge({name!r}, {shape!r})") == "ok"
    assert [each["id"] for each in judged] == [name] and judged[0]["verdict"][0] in VERDICTS.values()
    assert await heard.run("1 + 1") == "ok" and len(judged) == 1
    assert await heard.run(f"ledger.judge({name!r}, {shape!r})") == "ok" and len(judged) == 2
    unheard = cell_runner.Session("", lambda text: None)
    assert await unheard.run("from voicewire_book.kit import claims\nledger = claims.load('nfc')") == "ok"
    assert not unheard.names["ledger"].by_reader


async def test_values_have_ipythons_text(session):
    from IPython.lib.pretty import pretty

    value = {f"key {n}": [n] * 20 for n in range(5)}
    await ran(session, f"value = {value!r}")
    assert (await ran(session, "value"))[1][0]["data"]["text/plain"] == pretty(value)


async def test_tables_and_players_come_as_html(session):
    source = "import pandas as pd\nfrom IPython.display import HTML\n"
    source += "display(HTML('<b>1</b>'))\npd.DataFrame({'a': [1]})"
    shown, table = (await ran(session, source))[1]
    assert shown["output_type"] == "display_data" and shown["data"]["text/html"] == "<b>1</b>"
    assert table["output_type"] == "execute_result" and "<table" in table["data"]["text/html"]


async def test_open_figures_are_shown_once_and_closed(session):
    source = "import matplotlib.pyplot as plt\n_ = plt.plot([1, 2])"
    how, outputs = await ran(session, source)
    assert how == "ok" and [sorted(each["data"]) for each in outputs] == [["image/png", "text/plain"]]
    assert (await ran(session, "1 + 1"))[1][0]["data"] == {"text/plain": "2"}


async def test_an_error_names_the_readers_own_line(session):
    how, outputs = await ran(session, "def f():\n    return missing\n\nf()")
    assert how == "error" and outputs[0]["ename"] == "NameError"
    text = "\n".join(outputs[0]["traceback"])
    assert "line 2, in f" in text and "return missing" in text and "page.py" not in text
    assert (await ran(session, "1"))[0] == "ok"


@pytest.mark.parametrize("source", ["!ls", "%%time\n1", "%timeit 1"])
async def test_what_is_ipythons_own_is_refused_in_words(session, source):
    how, outputs = await ran(session, source)
    assert how == "error" and "IPython's" in outputs[0]["evalue"]


async def test_a_cell_may_await_and_classes_are_found_by_pickle(session):
    assert (await ran(session, "import asyncio\nawait asyncio.sleep(0, 7)"))[1][0]["data"] == {"text/plain": "7"}
    source = "import pickle\nclass Point: pass\ntype(pickle.loads(pickle.dumps(Point()))) is Point"
    assert (await ran(session, source))[1][0]["data"] == {"text/plain": "True"}
    assert sys.modules["__main__"] is not session[0]._module


def test_a_library_that_is_absent_imports_and_says_so_when_it_is_called():
    code = """
import sys
for name in [name for name in sys.modules if name.startswith(("librosa", "cryptography"))]:
    del sys.modules[name]
sys.meta_path[:] = [finder for finder in sys.meta_path if not hasattr(finder, "path_hooks")]
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("librosa", "cryptography"):
            return absent._Finder().find_spec(name)
from voicewire_book.publish.live import absent
sys.meta_path.insert(0, Hidden())
import librosa
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
try:
    raise InvalidTag
except InvalidTag:
    print("caught")
for call in (librosa.lpc, AESGCM, AESGCM.generate_key):
    try:
        call("a")
    except ImportError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    caught, *errors = done.stdout.splitlines()
    assert caught == "caught"
    assert errors == [
        f"{name.partition('.')[0]} is not there in a browser, and {name} needs it: run this in a clone"
        for name in (
            "librosa.lpc", "cryptography.hazmat.primitives.ciphers.aead.AESGCM",
            "cryptography.hazmat.primitives.ciphers.aead.AESGCM.generate_key",
        )
    ]  # fmt: skip


def notebook(folder: Path, *sources: str) -> Path:
    cells = [
        {"cell_type": "code", "id": f"c{n}", "metadata": {}, "source": text, "outputs": [], "execution_count": n}
        for n, text in enumerate(sources)
    ]
    path = folder / "01_a.ipynb"
    path.write_text(json.dumps({"cells": cells}), "utf-8")
    return path


def test_a_cell_stays_as_published_when_one_that_it_builds_on_does(tmp_path):
    path = notebook(tmp_path, "a = 1\nb = 2", "c = a", "def f():\n    return c", "f()", "print(b)", "a = 3", "a")
    (tmp_path / "live.toml").write_text('["01_a".stays]\nc1 = "long"\n', "utf-8")
    cells = chapters.chapter(path)["cells"]
    assert [cell["runs"] for cell in cells] == [True, False, False, False, True, True, True]
    assert cells[1]["why"] == chapters.REASONS["long"] and cells[1]["needs"] == ["c0"]
    assert cells[2]["why"] == "It uses what cell 2 of this page computes, which stays as published."
    assert [cell["number"] for cell in cells] == list(range(1, 8))


@pytest.mark.parametrize(
    ("source", "made", "used"),
    [
        ("a = 1\nprint(a)", {"a"}, set()),
        ("print(a)\na = 1", {"a"}, {"a"}),
        ("a = a + 1", {"a"}, {"a"}),
        ("a += 1", {"a"}, {"a"}),
        ("for i in r:\n    z = i\nz", {"i", "z"}, {"r"}),
        ("with given() as g:\n    g.read()", {"g"}, {"given"}),
        ("if c:\n    k = 1\nk", {"k"}, {"c", "k"}),
        ("if c:\n    k = 1\nelse:\n    k = 2\nk", {"k"}, {"c"}),
        ("def f():\n    return g + h\ng = 1", {"f", "g"}, {"h"}),
        ("def f(a=g):\n    return a\ng = 1", {"f", "g"}, {"g"}),
        ("a = [x * u for x in xs]\nu = 1", {"a", "u"}, {"u", "xs"}),
        ("x = 1\na = {x: [y for y in x] for x in f(x, y)}", {"x", "a"}, {"f", "y"}),
        ("a = await f(await u)\nasync for i in r:\n    b = [j async for j in i]", {"a", "i", "b"}, {"f", "u", "r"}),
        ("a = [y + z for w in ws if (y := f(w))]", {"a", "y"}, {"f", "ws", "z"}),
        ("x: T = v\nif c:\n    y: U", {"x"}, {"T", "U", "v", "c"}),
        ("def f():\n    x: T = v\n    y: U\n    return x", {"f"}, {"T", "U", "v"}),
        ("async with f() as g:\n    await g", {"g"}, {"f"}),
        ("async def f(a: T):\n    return [await b for b in a if await c(b)]", {"f"}, {"T", "c"}),
        ("class A:\n    b = q\n    def m(self):\n        return w\nw = 1", {"A", "w"}, {"q"}),
        ("try:\n    import p\nexcept E as e:\n    p = e\np", {"p", "e"}, {"E", "p"}),
    ],
)
def test_names_are_read_in_the_order_of_the_lines(source, made, used):
    assert chapters.names(source) == (made, used)


def test_a_cell_that_is_not_there_is_refused(tmp_path):
    path = notebook(tmp_path, "1")
    (tmp_path / "live.toml").write_text('["01_a".differs]\nc7 = "long"\n', "utf-8")
    with pytest.raises(ValueError, match=r"live.toml names c7, and 01_a.ipynb has no such cell"):
        chapters.chapter(path)


def test_packages_are_those_that_are_imported_with_what_they_stand_on():
    assert set(chapters.needed(["import sympy"], [])) >= {"sympy", "mpmath", "voicewire", "ipython"}
    assert "scipy" not in chapters.needed(["import numpy"], [])
    assert {"scipy", "openblas"} <= set(chapters.needed(["def f():\n    import scipy.signal"], []))
    assert {"matplotlib", "numpy"} <= set(chapters.needed(["from voicewire_book.kit.figures import use"], []))
    assert "pandas" in chapters.needed(["1"], ["pandas"])


def test_most_cells_of_what_is_offered_run():
    """That they do is `test_live_chapters`."""
    found = [chapters.chapter(path)["cells"] for path in chapters.offered()]
    cells = [cell for each in found for cell in each]
    print(f"{len(found)} chapters, {sum(cell['runs'] for cell in cells)} of {len(cells)} cells")
    assert found and sum(cell["runs"] for cell in cells) >= 0.85 * len(cells)
    assert all(cell["why"].endswith(".") for cell in cells if not cell["runs"])


def test_what_a_run_found_is_written_down_and_words_of_somebody_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "root", lambda: tmp_path)
    file = tmp_path / "notebooks" / "nfc" / "live.toml"
    file.parent.mkdir(parents=True)
    file.write_text('[01_a]\nalso = ["scipy"]\n[01_a.stays]\nc1 = "My words."\nc2 = "long"\n[02_b]\n', "utf-8")
    faults = {
        "c1": "KeyboardInterrupt: ",
        "c3": "ImportError: soundfile is not there in a browser, and soundfile.read needs it: run this in a clone",
        "c4": "RuntimeError: can't start new thread",
        "c5": "differs\n--- published",
        "c6": "ZeroDivisionError: division by zero",
    }
    proof.declare([proof.Proof("nfc/01_a", faults=faults)])
    written = tomllib.loads(file.read_text("utf-8"))
    stays = {"c1": "My words.", "c3": "soundfile", "c4": "threads"}
    stays["c6"] = "It ends in an error here, ZeroDivisionError."
    assert written == {"01_a": {"also": ["scipy"], "stays": stays, "differs": {"c5": "versions"}}, "02_b": {}}
    assert all(word in chapters.REASONS for word in ("soundfile", "threads", "versions", "long"))


def test_the_wheel_is_the_same_each_time_and_holds_no_tool_of_the_book(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    one, two = build.wheel(tmp_path / "a"), build.wheel(tmp_path / "b")
    assert one.read_bytes() == two.read_bytes()
    with zipfile.ZipFile(one) as whole:
        names = set(whole.namelist())
        assert whole.testzip() is None
    wanted = ("publish/live/cell_runner.py", "parts.toml", "ledger/schema.json")
    assert {f"voicewire_book/{name}" for name in wanted} <= names
    inside = [name for name in names if name.startswith("voicewire_book/publish/")]
    assert sorted(inside) == sorted(build.KEPT)


def test_the_folder_beside_the_pages_holds_what_a_page_asks_for(tmp_path, monkeypatch):
    cache = tmp_path / "cache"
    cache.mkdir()
    for name in fetch.wanted():
        if name == "pyodide.asm.js":
            (cache / name).write_text("".join(before for before, _ in linking.CHANGES), "utf-8")
            continue
        if name == "pyodide.mjs":
            (cache / name).write_text("let a;export{a as loadPyodide,b as version};", "utf-8")
            continue
        with zipfile.ZipFile(cache / name, "w") as whole:
            whole.writestr("a-1.dist-info/METADATA", "Name: a\nLicense: Free\n\nLong text")
            whole.writestr("a-1.dist-info/LICENSE", "You may.")
    (tmp_path / "site" / "live").mkdir(parents=True)
    (tmp_path / "site" / "live" / "old").touch()
    for path in chapters.offered():
        page = tmp_path / "site" / "notebooks" / path.parent.name / f"{path.stem}.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        shown = sum(map(len, build._divided(path).values()))
        page.write_text("<h1>A</h1><section>" + '<div class="cell docutils container"></div>' * shown, "utf-8")
    manifest = build.build(tmp_path / "site", cache)
    live = tmp_path / "site" / "live"
    assert json.loads((live / "live.json").read_text("utf-8")) == manifest and not (live / "old").exists()
    licences = (live / "licences.txt").read_text("utf-8")
    brought = [each for each in wheels.packages().values() if each.file.endswith(".whl")]
    assert licences.count("License: Free\n\nYou may.") == len(brought)
    assert "MPL-2.0" in licences and "Long text" not in licences
    lock = json.loads((live / "engine" / "pyodide-lock.json").read_text("utf-8"))["packages"]
    assert set(lock) == {*wheels.packages(), "voicewire"} == set(manifest["packages"])
    assert all((live / "engine" / each["file_name"]).is_file() for each in lock.values())
    assert all((live / name).is_file() for name in manifest["engine"])
    assert {path.name for path in (live / "engine").iterdir()} == set(manifest["sha256"])
    assert not [*live.glob("engine/*.whl")] and "unresolved" in (live / "engine" / "pyodide.asm.js").read_text("utf-8")
    for name in manifest["chapters"]:
        page = (tmp_path / "site" / "notebooks" / f"{name}.html").read_text("utf-8")
        listed = (live / "chapters" / f"{name}.json").read_bytes()
        held = f'data-chapter="{name}" data-integrity="{policy.checksum(listed)}"'
        assert page.startswith(f'<h1>A</h1><div class="vw-live" hidden {held}>')
    for path in paths.chapters():
        listed = json.loads((live / "chapters" / path.parent.name / f"{path.stem}.json").read_text("utf-8"))
        assert listed["offered"] == (listed["chapter"] in manifest["chapters"])
        assert set(listed["packages"]) <= set(lock) and listed["bytes"] > manifest["bytes"]
        own = hashlib.sha256((live / "engine" / lock["voicewire"]["file_name"]).read_bytes())
        assert lock["voicewire"]["sha256"] == own.hexdigest() == manifest["sha256"][lock["voicewire"]["file_name"]]
        said = f"sha256-{base64.b64encode(own.digest()).decode()}"
        assert listed["archives"][lock["voicewire"]["file_name"]] == said and build.BOOK in listed["archives"]
        for file, held in (listed["files"] | listed["archives"]).items():
            assert policy.checksum((live / "engine" / file).read_bytes()) == held


def test_claims_are_read_without_yaml(tmp_path, monkeypatch):
    build._checkout(tmp_path)
    for path in tmp_path.glob("*.zip"):
        with zipfile.ZipFile(path) as whole:
            assert whole.testzip() is None
    with zipfile.ZipFile(tmp_path / "book.zip") as whole:
        whole.extractall(tmp_path)
    assert paths.is_root(tmp_path)
    before = loading.read("nfc")
    monkeypatch.setattr(loading, "find_spec", lambda name: None)
    assert loading.read("nfc", tmp_path) == before


def test_a_page_opens_no_connection():
    code = """
import socket, sys
sys.platform = "emscripten"
from voicewire_book.publish.live import absent
absent.install()
with socket.socket() as one:
    for call in (one.bind, one.connect, one.connect_ex):
        try:
            call(("127.0.0.1", 0))
        except OSError as error:
            print(error.strerror)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["a page in a browser opens no connections: run this in a clone"] * 3


def test_a_page_fetches_the_data_that_its_cells_read():
    assert chapters.studies("nfc", ["1"]) == ["nfc"] and chapters.studies("foundations", ["1"]) == []
    assert chapters.studies("journey", ["from voicewire.voip import listening"]) == ["voip"]
    assert chapters.studies("echo", ['claims = read("emqtt")', "p = 'data/nfc/a.csv'"]) == ["echo", "emqtt", "nfc"]


def test_recordings_lie_in_the_page_as_wav_with_the_same_samples(tmp_path):
    source = paths.data("echo") / "speech.flac"
    (tmp_path / "speech.flac").write_bytes(build._content(source))
    there, rate = soundfile.read(source)
    here, other = wav_files.read(tmp_path / "speech.flac")
    assert rate == other and np.array_equal(here, there)


@pytest.mark.parametrize("subtype", ["PCM_16", "PCM_24", "FLOAT"])
@pytest.mark.parametrize("channels", [1, 2])
def test_wav_files_are_those_of_the_library(tmp_path, subtype, channels):
    samples = np.random.default_rng(1).uniform(-1.2, 1.2, (500, channels))
    samples[:4, 0] = -1, 1, 0.5, -0.5
    wav_files.write(tmp_path / "ours.wav", samples, 8000, subtype=subtype)
    soundfile.write(tmp_path / "theirs.wav", samples, 8000, subtype=subtype)
    about = soundfile.info(tmp_path / "ours.wav")
    assert (about.frames, about.channels, about.samplerate) == (500, channels, 8000)
    for name in ("ours.wav", "theirs.wav"):
        for options in ({}, {"always_2d": True}, {"dtype": "float32"}):
            here, there = wav_files.read(tmp_path / name, **options), soundfile.read(tmp_path / "theirs.wav", **options)
            assert np.array_equal(here[0], there[0]) and here[0].dtype == there[0].dtype and here[1] == there[1]


def test_a_wav_file_that_is_open_is_read_as_by_the_library(tmp_path):
    samples = np.random.default_rng(1).uniform(-1, 1, (1000, 2))
    soundfile.write(tmp_path / "a.wav", samples, 8000)
    with wav_files.SoundFile(tmp_path / "a.wav") as here, soundfile.SoundFile(tmp_path / "a.wav") as there:
        for name in ("frames", "channels", "samplerate", "format"):
            assert getattr(here, name) == getattr(there, name)
        assert here.seekable() and there.seekable()
        for size in (300, 300, -1, 5):
            assert np.array_equal(here.read(size), there.read(size))
        assert here.seek(990) == there.seek(990)
        assert np.array_equal(here.read(300, "float32", True), there.read(300, "float32", True))


def test_what_is_no_wav_is_refused(tmp_path):
    path = tmp_path / "a.wav"
    for data in (b"", b"fLaC and more", b"RIFF    WAVE", b"RIFF    WAVEfmt \x04\0\0\0abcddata\0\0\0\0"):
        path.write_bytes(data)
        with pytest.raises(wav_files.LibsndfileError, match=r"a\.wav"):
            wav_files.info(path)
    wav_files.write(path, np.array([-3, 4, 32767], np.int16), 8000)
    assert (wav_files.read(path)[0] * 32768).tolist() == [-3, 4, 32767]
    with pytest.raises(wav_files.LibsndfileError, match="PCM_24 or FLOAT, not OGG"):
        wav_files.write(path, [0.0], 8000, format="OGG")


def test_an_archive_that_is_only_packed_is_compressed(tmp_path):
    with zipfile.ZipFile(tmp_path / "openblas-1.zip", "w") as whole:
        whole.writestr("lib/a.so", bytes(100_000))
    build._laid(tmp_path / "openblas-1.zip", tmp_path / "laid.zip")
    assert (tmp_path / "laid.zip").stat().st_size < 1000
    with zipfile.ZipFile(tmp_path / "laid.zip") as whole:
        assert whole.read("lib/a.so") == bytes(100_000)


def test_two_runs_are_compared_by_what_they_say():
    stream = {"output_type": "stream", "name": "stdout", "text": ["a\n", "b at 0x7f3a\n"]}
    warned = {"output_type": "stream", "name": "stderr", "text": "slow"}
    value = {"output_type": "execute_result", "data": {"text/plain": "1"}}
    picture = {"output_type": "display_data", "data": {"image/png": "iVBO", "text/plain": "<Figure>"}}
    assert proof.said([stream, warned, value, picture]) == "a\nb at 0x…\n\n[1]\n[a picture]"
    assert proof.said([value]) != proof.said([picture])


def test_every_package_of_the_lists_has_a_file_that_pyodide_can_take():
    assert all(each.file.endswith((".whl", ".zip")) for each in wheels.packages().values())
