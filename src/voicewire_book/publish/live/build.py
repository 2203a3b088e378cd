"""Lay out Python beside the built pages: ``python -m voicewire_book.publish.live.build SITE`` makes ``SITE/live``.

Without the files of the wheel set the book is whole without this: it says so in one line, and no page offers to run
its cells.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import io
import json
import re
import shutil
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import voicewire
from voicewire_book import paths
from voicewire_book.ledger.loading import content_of
from voicewire_book.publish.live import archives, boxed, bytecode, chapters, fetch, linking, offer, pieces, wheels
from voicewire_book.publish.pages import placing, policy

__all__ = ["build", "wheel"]

NOT_IN_A_PAGE = "voicewire_book/publish/"
"""The room that makes the book: in a page only `voicewire_book.publish.live.cell_runner` is of use."""
KEPT = (
    "voicewire_book/publish/__init__.py",
    "voicewire_book/publish/live/__init__.py",
    "voicewire_book/publish/live/absent.py",
    "voicewire_book/publish/live/_curves.py",
    "voicewire_book/publish/live/late.py",
    "voicewire_book/publish/live/cell_runner.py",
    "voicewire_book/publish/live/_seals.py",
    "voicewire_book/publish/live/wav_files.py",
)
SOURCES = (".py", ".pyi", ".toml", ".json", ".typed", ".c")
THEN = (1980, 1, 1, 0, 0, 0)
LICENCE = re.compile(r"\.dist-info/(licenses/)?[^/]*(LICEN[CS]E|COPYING|NOTICE)[^/]*$", re.IGNORECASE)
UNPACKS = "archives.mjs"
BOOK = f"book{archives.SUFFIX}"
FONTS = "fontlist-v330.json"
"""What Matplotlib finds out about its own fonts when it is first imported, in the version of the wheel set."""


def wheel(into: Path) -> Path:
    """Write the book's package as a wheel for the page; the same sources give the same bytes."""
    name = f"voicewire-{voicewire.__version__}"
    info = f"{name}.dist-info"
    files = {path: (paths.TOP / path).read_bytes() for path in _sources()}
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: voicewire\nVersion: {voicewire.__version__}\n".encode()
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: voicewire\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    rows = [f"{path},sha256={_urlsafe(data)},{len(data)}\n" for path, data in files.items()]
    files[f"{info}/RECORD"] = "".join([*rows, f"{info}/RECORD,,\n"]).encode()
    target = into / f"{name}-py3-none-any.whl"
    _zip(target, files)
    return target


def _sources() -> list[str]:
    found = []
    for path in sorted(path for package in paths.PACKAGES for path in package.rglob("*")):
        name = path.relative_to(paths.TOP).as_posix()
        wanted = path.suffix in SOURCES and "__pycache__" not in path.parts
        if wanted and path.is_file() and (name in KEPT or not name.startswith(NOT_IN_A_PAGE)):
            found.append(name)
    return found


def _urlsafe(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _zip(target: Path, files: dict[str, bytes]) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as whole:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, THEN)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            whole.writestr(entry, data)


def _checkout(engine: Path) -> None:
    """Write what the package looks for in a checkout, each study's data apart: a page fetches what its cells read.

    ``book.zip`` has the claims of all studies, the list of notebooks and Matplotlib's fonts.
    """
    root = paths.root()
    for folder in sorted(path for path in (root / "data").iterdir() if path.is_dir()):
        inside = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        _zip(engine / f"data-{folder.name}.zip", {path.relative_to(root).as_posix(): _content(path) for path in inside})
    loose = sorted(path for path in (root / "data").iterdir() if path.is_file())
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in loose}
    for path in sorted((root / "data").glob("*/claims.yml")):  # no YAML is read in a page
        name = path.relative_to(root).with_suffix(".json").as_posix()
        files[name] = json.dumps(content_of(path, name), ensure_ascii=False).encode()
    files |= {f"notebooks/{path.parent.name}/{path.name}": b"" for path in paths.chapters()}
    files["pyproject.toml"] = (root / "pyproject.toml").read_bytes()
    fonts = Path(__file__).with_name(FONTS)
    if fonts.is_file():
        files[f".matplotlib/{FONTS}"] = fonts.read_bytes()
    _zip(engine / "book.zip", files)


def _content(path: Path) -> bytes:
    """Return what a page finds under a file's name: of FLAC, which it cannot decode, the same samples as WAV."""
    if path.suffix != ".flac":
        return path.read_bytes()
    import soundfile

    samples, rate = soundfile.read(path, dtype="int16")
    file = io.BytesIO()
    soundfile.write(file, samples, rate, format="WAV", subtype="PCM_16")
    return file.getvalue()


def _laid(source: Path, target: Path) -> None:
    """Copy a file of the wheel set; an archive that was only packed, and not compressed, is compressed.

    A server compresses no archives, and OpenBLAS would come with three times its size.
    """
    if source.suffix == ".zip" and source.name not in wheels.engine():
        with zipfile.ZipFile(source) as whole:
            _zip(target, {name: whole.read(name) for name in whole.namelist() if not name.endswith("/")})
    else:
        shutil.copyfile(source, target)


def _lock(engine: Path) -> dict[str, Any]:
    """Return a lock of the packages that lie in `engine`, as Pyodide reads it."""
    own = next(engine.glob(f"voicewire-{voicewire.__version__}*"))
    entries: dict[str, Any] = {}
    every = [*wheels.packages().values()]
    every.append(
        wheels.Package(
            "voicewire", voicewire.__version__, own.name, _sha256(own), (),
            tuple(package.name for package in paths.PACKAGES), False,
        )
    )  # fmt: skip
    for each in every:
        file = next(path for path in archives.either(engine / each.file) if path.is_file())
        known = wheels.listed()["packages"].get(each.name, {}) if each.official else {}
        plain = {"package_type": "package", "install_dir": "site", "unvendored_tests": False}
        entries[each.name] = plain | known | {
            "name": each.name, "version": each.version, "file_name": file.name, "sha256": _sha256(file),
            "depends": list(each.depends), "imports": list(each.imports),
        }  # fmt: skip
    return {"info": wheels.listed()["info"], "packages": entries}


def _licences(engine: Path) -> str:
    """Return the licences of all that is laid out: what each wheel says and the texts that it brings."""
    said = [f"{name}\n{text}\n" for name, text in sorted(wheels.release()["licences"].items())]
    for each in sorted(wheels.packages().values(), key=lambda package: package.name):
        if each.file.endswith(".whl"):
            with zipfile.ZipFile(engine / each.file) as whole:
                inside = [name for name in whole.namelist() if LICENCE.search(name)]
                texts = [whole.read(name).decode("utf-8", "replace").strip() for name in inside]
                about = next(name for name in whole.namelist() if name.endswith(".dist-info/METADATA"))
                lines = whole.read(about).decode("utf-8", "replace").partition("\n\n")[0].splitlines()
            stated = [line for line in lines if line.startswith(("License", "Classifier: License", "Home-page"))]
            said.append("\n".join([f"{each.name} {each.version}", *stated, "", *texts, ""]))
    rule = "-" * 79 + "\n"
    return rule.join(said)


def build(site: Path, cache: Path) -> dict[str, Any]:
    """Make the folder ``live`` of a built site."""
    live = site / "live"
    shutil.rmtree(live, ignore_errors=True)
    engine = live / "engine"
    engine.mkdir(parents=True)
    for name in fetch.wanted():
        _laid(cache / name, engine / name)
    wheel(engine)
    _checkout(engine)
    _write(engine / "pyodide-lock.json", _lock(engine))
    if told := bytecode.compile_all(engine, cache):
        print(f"live: {told}")
    (live / "licences.txt").write_text(_licences(engine), encoding="utf-8")
    archives.repack(engine, cache)
    _script(engine)
    script = engine / "pyodide.asm.js"
    script.write_text(linking.eased(script.read_text(encoding="utf-8")), encoding="utf-8")
    lock = _lock(engine)
    _write(engine / "pyodide-lock.json", lock)
    frame = boxed.frame((paths.root() / "book/_static/live/box.mjs").read_text(encoding="utf-8"))
    always = [*boxed.FILES, BOOK]
    integrity = {name: policy.checksum((engine / name).read_bytes()) for name in boxed.FILES}
    size = {each["name"]: (engine / each["file_name"]).stat().st_size for each in lock["packages"].values()}
    base = sum((engine / name).stat().st_size for name in always)
    for path in paths.chapters():
        found = chapters.chapter(path) | {"offered": path in chapters.offered()}
        found["cells"] = pieces.pieces(found["cells"], _divided(path), chapters.names)
        found["data"] = [f"data-{name}{archives.SUFFIX}" for name in found["data"]]
        unpacked = [*(lock["packages"][name]["file_name"] for name in found["packages"]), BOOK, *found["data"]]
        found["files"] = integrity
        found["archives"] = {name: policy.checksum((engine / name).read_bytes()) for name in unpacked}
        found["bytes"] = base + sum(size[name] for name in found["packages"])
        found["bytes"] += sum((engine / name).stat().st_size for name in found["data"])
        listed = live / "chapters" / path.parent.name / f"{path.stem}.json"
        _write(listed, found)
        if found["offered"]:
            offer.offer(site, found, policy.checksum(listed.read_bytes()), frame)
    manifest = {
        "pyodide": wheels.release()["pyodide"], "python": lock["info"]["python"],
        "engine": [f"engine/{name}" for name in always], "bytes": base,
        "chapters": [f"{path.parent.name}/{path.stem}" for path in chapters.offered()],
        "packages": {n: {"version": lock["packages"][n]["version"], "bytes": size[n]} for n in sorted(size)},
        "sha256": {path.name: _sha256(path) for path in sorted(engine.iterdir())},
    }  # fmt: skip
    _write(live / "live.json", manifest)
    return manifest


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _script(engine: Path) -> None:
    """Write the script of the box."""
    here = Path(__file__)
    texts = [engine / "pyodide.mjs", here.with_name(UNPACKS), here.with_name(boxed.SCRIPT)]
    made = boxed.script(*(path.read_text(encoding="utf-8") for path in texts))
    (engine / boxed.SCRIPT).write_text(made, encoding="utf-8")


def _divided(path: Path) -> dict[str, list[str]]:
    """Return how the page shows each code cell: in one piece, or a long one in several."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    return {cell["id"]: ["".join(piece["source"]) for piece in placing.divided(cell)] for cell in code}


def _write(path: Path, data: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Fetch what is missing and make the folder; say in one line if it cannot be had."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    options.add_argument("site", type=Path, help="the built pages")
    site = options.parse_args(arguments).site
    try:
        taken = fetch.fetch()
    except fetch.FetchError as error:
        shutil.rmtree(site / "live", ignore_errors=True)
        print(f"live: the pages will not run code: {error}")
        return 0
    manifest = build(site, fetch.folder())
    said = ", ".join(f"{list(taken.values()).count(word)} from the {word}" for word in sorted(set(taken.values())))
    print(f"live: Python {manifest['python']} for {len(manifest['chapters'])} chapters ({said})")
    (site / "live" / "taken.txt").write_text("".join(f"{s:8} {n}\n" for n, s in sorted(taken.items())), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
