"""The book's commands on any machine with Python 3.11 or later: what the Makefile calls, and Windows users call.

``python tools/make.py book|test|scorecard|lab|lock|clean``. Each sets itself up in ``.venv`` from
``requirements.lock`` and does only what has changed. Only the standard library is used here, since the rest isn't
installed yet when this starts.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
CACHE = ROOT / ".cache"
SITE = ROOT / "_build" / "html"
PARTS = tomllib.loads((ROOT / "src/voicewire/parts.toml").read_text(encoding="utf-8"))["part"]
CHAPTERS = "[0-9][0-9]_*.ipynb"
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


class StepError(RuntimeError):
    """A step ended with an error that was already printed, or that this message explains."""


def python() -> Path:
    """Return the interpreter of the book's own environment."""
    return VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def say(text: str) -> None:
    """Print a step's headline."""
    print(f"== {text}", flush=True)


def call(*command: str | Path, env: dict[str, str] | None = None, step: str = "") -> None:
    """Run a command in the checkout; end with a clear error if it fails."""
    result = subprocess.run([str(part) for part in command], cwd=ROOT, env={**os.environ, **(env or {})}, check=False)
    if result.returncode:
        raise StepError(
            f"{step or Path(command[0]).name} failed (exit status {result.returncode}); its output is above"
        )


def digest(files: Sequence[Path]) -> str:
    """Return a fingerprint of files: their names within the checkout and their content."""
    total = hashlib.sha256()
    for file in sorted(files):
        total.update(file.relative_to(ROOT).as_posix().encode())
        total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()


def setup() -> None:
    """Make ``.venv`` hold exactly what the lock says, unless it does already.

    With the variable ``VOICEWIRE_EXTRAS`` set, the optional extras are installed too (CI does that).
    """
    extras = bool(os.environ.get("VOICEWIRE_EXTRAS"))
    lock = ROOT / ("requirements-extras.lock" if extras else "requirements.lock")
    stamp = VENV / "voicewire.stamp"
    wanted = f"{digest([lock, ROOT / 'pyproject.toml'])} {sys.version_info[:3]} {ROOT}"
    if stamp.is_file() and stamp.read_text() == wanted and python().is_file():
        return
    if not (3, 11) <= sys.version_info[:2] < (3, 14):
        raise StepError(f"Python 3.11 to 3.13 is needed, this is {sys.version.split()[0]}: call make PYTHON=python3.11")
    say(f"setting up .venv from {lock.name}")
    start = time.perf_counter()
    stamp.unlink(missing_ok=True)
    call(sys.executable, "-m", "venv", "--clear", VENV, step="making the virtual environment")
    call(python(), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "uv", step="installing uv")
    install = (python(), "-m", "uv", "pip", "install", "--quiet", "--python", python())
    call(*install, "--require-hashes", "-r", lock, step="installing the dependencies")
    call(*install, "--no-deps", "-e", ROOT, step="installing voicewire")
    stamp.write_text(wanted)
    say(f"set up in {time.perf_counter() - start:.0f} s")


def sources(part: str) -> list[Path]:
    """Return the files on which a part's outputs depend: the ground floor, its own slice and its data.

    A part without a ledger may call the studies, so it depends on all of them.
    """
    package = ROOT / "src" / "voicewire"
    alone = any(each["name"] == part and each["ledger"] for each in PARTS)
    others = [package / each["name"] for each in PARTS if alone and each["name"] != part]
    code = [p for p in package.rglob("*.*") if p.suffix in (".py", ".json", ".c", ".js", ".css")]
    code = [p for p in code if not any(p.is_relative_to(other) for other in others)]
    recorded = [p for p in (ROOT / "data" / part).rglob("*") if p.is_file()]
    return [*code, *recorded, ROOT / "requirements.lock"]


def chapters() -> list[Path]:
    """Return the chapter notebooks in the order of the book."""
    return [path for part in PARTS for path in sorted((ROOT / "notebooks" / part["name"]).glob(CHAPTERS))]


def execute(everything: bool) -> None:
    """Re-execute the notebooks whose text, code or data changed since they were last executed here."""
    record = CACHE / "executed.json"
    known = json.loads(record.read_text()) if record.is_file() and not everything else {}
    base = {part["name"]: digest(sources(part["name"])) for part in PARTS}

    def state(path: Path) -> str:
        return base[path.parent.name] + digest([path])

    stale = [path for path in chapters() if known.get(path.relative_to(ROOT).as_posix()) != state(path)]
    if not stale:
        say("every notebook is as it was executed last: nothing to execute")
        return
    say(f"executing {len(stale)} notebooks")
    CACHE.mkdir(exist_ok=True)
    before = {path: path.read_bytes() for path in stale}
    call(python(), "-m", "voicewire.publish.notebooks", "run", *stale, env=THREADS, step="executing the notebooks")
    written = sum(before[path] != path.read_bytes() for path in stale)
    say(f"{written} of {len(stale)} notebooks were written anew (measured cells change; the others say 'changed')")
    known.update({path.relative_to(ROOT).as_posix(): state(path) for path in stale})
    record.write_text(json.dumps(known, indent=1, sort_keys=True))


def site_state() -> str:
    """Return a fingerprint of all that the pages are made from; the status page names the commit."""
    found = [p for folder in ("book", "notebooks", "src", "data") for p in (ROOT / folder).rglob("*") if p.is_file()]
    files = [p for p in found if "__pycache__" not in p.parts and ".ipynb_checkpoints" not in p.parts]
    files += [ROOT / name for name in ("_config.yml", "genindex.md", "requirements.lock")]
    git = shutil.which("git")
    head = subprocess.run([git, "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, check=False) if git else None
    return f"{digest(files)} {head.stdout.decode().strip() if head else 'no git'}"


def build(anew: bool) -> None:
    """Build the pages, unless they were built from the same files at the same commit."""
    stamp = SITE / ".voicewire-built"
    if not anew and stamp.is_file() and stamp.read_text() == site_state():
        say("the pages are as they were built last")
        return
    if anew:
        shutil.rmtree(ROOT / "_build", ignore_errors=True)
    stamp.unlink(missing_ok=True)
    say("building the book")
    how = ("build", ".", "--toc", "book/_toc.yml", "-q", "-n", "-W", "--keep-going")
    call(python().with_name("jupyter-book"), *how, step="building the book")
    stamp.write_text(site_state())


def book(options: argparse.Namespace) -> None:
    """Re-execute what changed, build the HTML book, print the scorecard and where the book lies."""
    setup()
    if not options.as_committed:
        execute(options.all)
    call(python(), "-m", "voicewire.publish.pages", step="drawing the scorecard's picture")
    build(anew=options.all or options.as_committed)
    call(python(), "-m", "voicewire.cli", "scorecard", step="the scorecard")
    say(f"the book: {(SITE / 'index.html').as_uri()}")


def test(options: argparse.Namespace) -> None:
    """Run lint, types, spelling, pytest and nbval."""
    setup()
    folders = ["src", "tests", "benchmarks", "tools"]
    say("ruff")
    call(python(), "-m", "ruff", "check", *folders, "notebooks", step="ruff")
    say("codespell")
    call(
        python(),
        "-m",
        "codespell_lib",
        *folders,
        "book",
        "data",
        "README.md",
        "CONTRIBUTING.md",
        step="codespell",
    )
    say("mypy")
    call(python(), "-m", "mypy", step="mypy")
    say("pytest")
    parallel = ("-n", "2", "--dist", "loadfile")
    # what the tests reach is printed where everything runs; a reader's `make test` is quicker without
    coverage = ("--cov", "--cov-report=term:skip-covered") if os.environ.get("VOICEWIRE_STRICT") else ()
    call(
        python(),
        "-m",
        "pytest",
        "-q",
        *parallel,
        *coverage,
        env=THREADS,
        step="pytest",
    )
    notebooks = chapters()
    say(f"nbval: {len(notebooks)} notebooks")
    compare = ("--nbval", "--nbval-current-env", "--nbval-cell-timeout", "300", "-p", "no:cacheprovider")
    exact = ("--nbval-sanitize-with", "tests/nbval_sanitize.cfg", "-p", "tests.nbval_tolerance")
    if notebooks:
        call(python(), "-m", "pytest", "-q", *compare, *exact, *parallel, *notebooks, env=THREADS, step="nbval")


def scorecard(options: argparse.Namespace) -> None:
    """Print the verdicts that stand in the committed notebooks."""
    setup()
    call(python(), "-m", "voicewire.cli", "scorecard", step="the scorecard")


def lab(options: argparse.Namespace) -> None:
    """Open the notebooks in JupyterLab."""
    setup()
    call(python(), "-m", "jupyterlab", "notebooks", step="JupyterLab")


def lock(options: argparse.Namespace) -> None:
    """Write the two locks and environment.yml anew from pyproject.toml."""
    setup()
    base, extras = ROOT / "requirements.lock", ROOT / "requirements-extras.lock"
    compiling = (
        python(), "-m", "uv", "pip", "compile", "--quiet", "--universal", "--fork-strategy", "fewest",
        "--python-version", "3.11",
        "--generate-hashes", "--custom-compile-command", "python tools/make.py lock", "pyproject.toml",
    )  # fmt: skip
    upgrade = ("--upgrade",) if options.upgrade else ()
    call(*compiling, *upgrade, "--extra", "book", "--extra", "test", "-o", base, step="locking")
    call(*compiling, *upgrade, "--extra", "dev", "-c", base, "-o", extras, step="locking the extras")
    call(python(), "-m", "voicewire.publish.lockfile", step="writing environment.yml")


def clean(options: argparse.Namespace) -> None:
    """Remove everything that the other commands made: .venv, _build and caches."""
    for name in (".venv", "_build", ".cache", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis"):
        shutil.rmtree(ROOT / name, ignore_errors=True)
    for folder in [*ROOT.glob("src/**/__pycache__"), *ROOT.glob("tests/**/__pycache__")]:
        shutil.rmtree(folder, ignore_errors=True)


def prepare(options: argparse.Namespace) -> None:
    """Set up .venv, and nothing else."""
    setup()


COMMANDS = {
    "book": book, "test": test, "scorecard": scorecard, "lab": lab, "lock": lock, "clean": clean, "setup": prepare,
}  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    parser = argparse.ArgumentParser(prog="make", description=(__doc__ or "").split("\n", maxsplit=1)[0])
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, function in COMMANDS.items():
        sub = commands.add_parser(name, help=(function.__doc__ or "").split("\n", maxsplit=1)[0])
        if name == "book":
            which = sub.add_mutually_exclusive_group()
            which.add_argument("--all", action="store_true", help="execute every notebook, and build from nothing")
            which.add_argument("--as-committed", action="store_true", help="execute none, and build from nothing")
        if name == "lock":
            sub.add_argument("--upgrade", action="store_true", help="take the newest versions the ranges allow")
    options = parser.parse_args(arguments)
    try:
        COMMANDS[options.command](options)
    except StepError as error:
        print(f"make: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("make: interrupted", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
