"""Pack what Python in a page unpacks at its start: each wheel and each study's data as one compressed tar archive.

A browser inflates such an archive by itself, beside Python; its parts are then the files that Python reads, without
another copy. Python would unpack a wheel slower than it imports what is in it.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
import zipfile
from pathlib import Path

from voicewire_book.publish.live import packed

__all__ = ["SUFFIX", "either", "place", "repack", "tarred"]

SUFFIX = ".tar.gz"
PLACES = (("data-", "book"), ("book.", "book"), ("openblas-", "usr/lib"))
"""Where an archive lies in Python's file system, by the start of its name."""
SITE = "lib/python3.12/site-packages"
"""Where all others lie."""
MANUALS = ".data/data/share/"


def place(name: str) -> str:
    """Return the folder in Python's file system into which an archive is unpacked."""
    return next((folder for start, folder in PLACES if name.startswith(start)), SITE)


def either(path: Path) -> tuple[Path, Path]:
    """Return the names under which a file of the wheel set may lie in a site: packed anew, or as it came."""
    return path.with_name(f"{path.stem}{SUFFIX}"), path


def tarred(archive: bytes, folder: str) -> bytes:
    """Return a ZIP archive as a compressed tar archive; the same files give the same bytes."""
    target = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(archive)) as source,
        tarfile.open(fileobj=target, mode="w", format=tarfile.USTAR_FORMAT) as whole,
    ):
        for name in source.namelist():
            if not name.endswith("/") and not packed.NEEDLESS.search(name) and MANUALS not in name:
                data = source.read(name)
                entry = tarfile.TarInfo(f"{folder}/{name}")
                entry.size = len(data)
                whole.addfile(entry, io.BytesIO(data))
    return gzip.compress(target.getvalue(), 9, mtime=0)


def repack(engine: Path, cache: Path) -> None:
    """Put a tar archive in the place of each wheel and each ZIP archive but Python's own library."""
    kept = cache / "archives"
    kept.mkdir(parents=True, exist_ok=True)
    maker = hashlib.sha256(Path(__file__).read_bytes() + Path(packed.__file__).read_bytes()).hexdigest()[:8]
    for path in sorted([*engine.glob("*.whl"), *engine.glob("*.zip")]):
        if path.name != "python_stdlib.zip":
            source = path.read_bytes()
            made = kept / f"{hashlib.sha256(source).hexdigest()[:24]}-{maker}-{path.stem}{SUFFIX}"
            if not made.is_file():
                part = made.with_name(f"{made.name}.part")
                part.write_bytes(tarred(source, place(path.name)))
                part.replace(made)
            either(path)[0].write_bytes(made.read_bytes())
            path.unlink()
