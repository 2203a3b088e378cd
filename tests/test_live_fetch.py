"""The files of the browser's Python: only with their checksums, from whichever source, kept when others fail."""

from __future__ import annotations

import base64
import hashlib
import http.server
import io
import json
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from voicewire_book.publish.live import build, fetch, wheels

pytestmark = pytest.mark.landing

ENGINE = {"pyodide.mjs": b"engine", "python_stdlib.zip": b"library"}
WHEEL = "numpy-2.0.2-cp312-cp312-pyodide_2024_0_wasm32.whl"
COMPILED = {WHEEL: b"compiled"}


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def pack(target: Path, name: str, files: dict[str, bytes]) -> bytes:
    """Write a wheel that pip takes."""
    project, version = target.name.split("-")[:2]
    info = f"{project}-{version}.dist-info"
    files = files | {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = []
    with zipfile.ZipFile(target, "w") as whole:
        for path, data in files.items():
            whole.writestr(path, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.append(f"{path},sha256={digest},{len(data)}\n")
        whole.writestr(f"{info}/RECORD", "".join(rows) + f"{info}/RECORD,,\n")
    return target.read_bytes()


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small wheel set in place of the book's; the package index is a folder."""
    folder = tmp_path / "index"
    folder.mkdir()
    carried = {f"held/{name}": data for name, data in (ENGINE | COMPILED).items()}
    carrier = pack(folder / "carrier-1.0-py3-none-any.whl", "carrier", carried)
    pure = pack(folder / "mpmath-1.3.0-py3-none-any.whl", "mpmath", {"mpmath.py": b""})
    ours = {
        "pyodide": "0", "archive": "http://127.0.0.1:9/none", "engine": {name: sha(d) for name, d in ENGINE.items()},
        "carrier": {"name": "carrier", "version": "1.0", "sha256": sha(carrier), "folder": "held/"},
    }  # fmt: skip
    every = {
        "numpy": wheels.Package("numpy", "2.0.2", WHEEL, sha(COMPILED[WHEEL]), (), ("numpy",), True),
        "mpmath": wheels.Package("mpmath", "1.3.0", "mpmath-1.3.0-py3-none-any.whl", sha(pure), (), ("mpmath",), False),
    }
    monkeypatch.setattr(wheels, "release", lambda: ours)
    monkeypatch.setattr(wheels, "packages", lambda: every)
    for name, value in {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder), "PIP_CONFIG_FILE": "/dev/null"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("VOICEWIRE_LIVE_CACHE", str(tmp_path / "cache"))
    return folder


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder, and the address where it is served."""
    folder = tmp_path / "served"
    folder.mkdir()
    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), lambda *given: Quiet(*given, directory=str(folder))
    ) as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        yield folder, f"http://127.0.0.1:{serving.server_address[1]}"
        serving.shutdown()
        thread.join()


def archive(path: Path, files: dict[str, bytes]) -> None:
    with tarfile.open(path, "w:bz2") as whole:
        for name, data in files.items():
            entry = tarfile.TarInfo(f"pyodide/{name}")
            entry.size = len(data)
            whole.addfile(entry, io.BytesIO(data))


def test_all_is_taken_from_the_carrier_and_the_index_and_then_from_the_cache(index, tmp_path):
    taken = fetch.fetch()
    assert taken == dict.fromkeys([*ENGINE, WHEEL], "carrier") | {"mpmath-1.3.0-py3-none-any.whl": "index"}
    assert (tmp_path / "cache" / "pyodide.mjs").read_bytes() == b"engine"
    assert set(fetch.fetch().values()) == {"cache"}


def test_a_damaged_file_in_the_cache_is_fetched_again(index, tmp_path):
    fetch.fetch()
    (tmp_path / "cache" / "pyodide.mjs").write_bytes(b"engin")
    assert fetch.fetch()["pyodide.mjs"] == "carrier"
    assert (tmp_path / "cache" / "pyodide.mjs").read_bytes() == b"engine"


def test_what_the_carrier_has_with_another_checksum_comes_from_the_archive(index, server, monkeypatch):
    held = {"held/pyodide.mjs": b"evil", f"held/{WHEEL}": b"compiled"}
    carrier = pack(index / "carrier-1.0-py3-none-any.whl", "carrier", held)
    monkeypatch.setitem(wheels.release()["carrier"], "sha256", sha(carrier))
    folder, address = server
    archive(folder / "a.tar.bz2", ENGINE | {"other.whl": b"more"})
    taken = fetch.fetch(archive=f"{address}/a.tar.bz2")
    assert taken["pyodide.mjs"] == "archive" and taken[WHEEL] == "carrier"
    assert not (fetch.folder() / "other.whl").exists()


def test_an_archive_with_other_files_gives_nothing_and_what_was_had_is_kept(index, server):
    (index / "carrier-1.0-py3-none-any.whl").unlink()
    folder, address = server
    archive(folder / "a.tar.bz2", {"pyodide.mjs": b"evil", "python_stdlib.zip": b"library", "../../x": b"engine"})
    with pytest.raises(fetch.FetchError, match=r"2 of 4 files could not be had \(carrier: "):
        fetch.fetch(archive=f"{address}/a.tar.bz2")
    assert {path.name for path in fetch.folder().iterdir()} == {"python_stdlib.zip", "mpmath-1.3.0-py3-none-any.whl"}


def test_a_carrier_that_was_changed_is_not_opened(index, monkeypatch):
    monkeypatch.setitem(wheels.release()["carrier"], "sha256", sha(b"another"))
    with pytest.raises(fetch.FetchError, match="carrier: "):
        fetch.fetch()


def test_a_file_that_is_too_long_is_not_kept(index, monkeypatch):
    monkeypatch.setattr(fetch, "LARGEST", 6)
    with pytest.raises(fetch.FetchError):
        fetch.fetch()
    assert (fetch.folder() / "pyodide.mjs").exists() and not (fetch.folder() / "python_stdlib.zip").exists()


def test_an_archive_without_end_is_left(index, server, monkeypatch):
    (index / "carrier-1.0-py3-none-any.whl").unlink()
    monkeypatch.setattr(fetch, "ARCHIVE_LARGEST", 100)
    folder, address = server
    archive(folder / "a.tar.bz2", ENGINE | COMPILED)
    with pytest.raises(fetch.FetchError, match="longer than 100 bytes"):
        fetch.fetch(archive=f"{address}/a.tar.bz2")


def test_without_any_source_the_book_says_so_in_one_line(index, tmp_path, capsys):
    for path in index.iterdir():
        path.unlink()
    site = tmp_path / "site"
    (site / "live").mkdir(parents=True)
    assert build.main([str(site)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("live: the pages will not run code: ") and said.count("\n") == 1
    assert not (site / "live").exists()
    assert fetch.main([]) == 1


def test_the_lists_hold_together():
    ours, official = wheels.release(), wheels.listed()["packages"]
    assert wheels.listed()["info"]["version"] == ours["pyodide"]
    every = wheels.packages()
    for each in every.values():
        assert set(each.depends) <= set(every), each.name
        if each.official:
            assert each.sha256 == official[each.name]["sha256"] and each.file == official[each.name]["file_name"]
        else:
            assert each.file.endswith("-none-any.whl")
    assert len({each.file for each in every.values()}) == len(every)
    assert all(len(bytes.fromhex(value)) == 32 for value in fetch.wanted().values())
    addresses = json.dumps({name: ours[name] for name in ours if name != "licences"}).count("http")
    assert addresses == 1  # the release archive; where the index is, pip knows
