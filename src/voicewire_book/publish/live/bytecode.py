"""Have the modules of the browser's Python compiled when the site is built, so that no reader's browser has to.

A module's text is compiled when it is first imported, which is most of what importing takes. Only the browser's own
Python can do it before: it runs in Node here, where there is one. Without Node the site is the same, and its pages
are slower at the start.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from voicewire_book.publish.live import packed

__all__ = ["compile_all"]

RUNNER = Path(__file__).with_name("compile.mjs")
PROGRAM = Path(packed.__file__)
SITE = "/lib/python3.12/site-packages/"
LIBRARY = "/lib/python312.zip/"
STDLIB = "python_stdlib.zip"
COMPILED = (
    "python_stdlib", "numpy-", "matplotlib-", "pillow-", "scipy-",
    "contourpy-", "cycler-", "kiwisolver-", "packaging-", "pyparsing-", "python_dateutil-", "six-",
)  # fmt: skip
"""What nearly every chapter imports; the second row is what Matplotlib does. The others' modules are longer compiled
than as text, and are imported late; the book's own stay as text, since its pages show it."""
PATIENCE = 900.0
"""Seconds for all of them; it takes one minute."""


def compile_all(engine: Path, cache: Path) -> str:
    """Compile what lies in the folder of the engine, each archive in its place."""
    node = shutil.which("node")
    if node is None:
        return "no Node here to compile its modules: the pages run the same, and start more slowly"
    kept = cache / "compiled"
    kept.mkdir(parents=True, exist_ok=True)
    maker = hashlib.sha256(PROGRAM.read_bytes()).hexdigest()[:8]
    made = {
        path: kept / f"{hashlib.sha256(path.read_bytes()).hexdigest()[:24]}-{maker}-{path.name}"
        for path in sorted([*engine.glob("*.whl"), engine / STDLIB])
        if path.name.startswith(COMPILED)
    }
    try:
        _run(node, engine, [(path, target) for path, target in made.items() if not target.is_file()])
    except (OSError, subprocess.SubprocessError) as error:
        told = getattr(error, "stderr", None) or str(error)
        return f"its modules were not compiled, the pages run the same, and start more slowly: {told.strip()[-300:]}"
    for path, target in made.items():
        shutil.copyfile(target, path)
    return ""


def _run(node: str, engine: Path, tasks: Sequence[tuple[Path, Path]]) -> None:
    """Compile archives into files that are there whole or not at all."""
    if not tasks:
        return
    lines = [
        json.dumps([str(path), f"{target}.part", LIBRARY if path.name == STDLIB else SITE]) for path, target in tasks
    ]
    command = [node, str(RUNNER), str(engine), str(PROGRAM)]
    subprocess.run(
        command, input="\n".join(lines), capture_output=True, text=True, encoding="utf-8", timeout=PATIENCE, check=True
    )
    for _, target in tasks:
        Path(f"{target}.part").replace(target)
