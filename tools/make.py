"""The book's commands, on each Python that pyproject.toml allows: what the Makefile calls, and Windows users call.

``python tools/make.py book|outputs|test|scorecard|lab|lock|clean``. Each sets itself up in ``.venv`` from the locks
and does only what has changed. Only the standard library is used here, since the rest isn't installed yet when this
starts, and an older Python gets as far as the sentence that refuses it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / os.environ.get("VOICEWIRE_VENV", ".venv")  # each Python that CI tries has one of its own
CACHE = ROOT / ".cache"
SITE = ROOT / "_build" / "html"
SOURCE = ROOT / "_build" / "source"
STAGED = ("book", "notebooks", "data")
STAGED_FILES = (
    *("_config.yml", "genindex.md", "pyproject.toml", "CITATION.cff", "CHANGELOG.md", "HISTORY.md"),
    ".cache/notebook-times.json",
)
LAYERS = {
    "setup": "requirements-setup.lock",  # what installs the rest
    "book": "requirements.lock",  # what a reader needs
    "test": "requirements-test.lock",
    "extras": "requirements-extras.lock",
}
"""The locks. Each holds only what it adds to those before it, and needs them."""
CHAPTERS = "[0-9][0-9]_*.ipynb"
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


class StepError(RuntimeError):
    """A step ended with an error that was already printed, or that this message explains."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


def python() -> Path:
    """Return the interpreter of the book's own environment."""
    return VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def say(text: str) -> None:
    """Print a step's headline."""
    print(f"== {text}", flush=True)


def run(*command: str | Path, env: dict[str, str] | None = None) -> int:
    """Run a command in the checkout; return its exit status, as a shell tells it."""
    words = [str(part) for part in command]
    status = subprocess.run(words, cwd=ROOT, env={**os.environ, **(env or {})}, check=False).returncode
    return status if status >= 0 else 128 - status


def call(*command: str | Path, env: dict[str, str] | None = None, step: str = "") -> None:
    """Run a command in the checkout; end with a clear error if it fails."""
    if status := run(*command, env=env):
        raise StepError(f"{step or Path(command[0]).name} failed (exit status {status}); its output is above")


def digest(files: Sequence[Path]) -> str:
    """Return a fingerprint of files: their names within the checkout and their content."""
    total = hashlib.sha256()
    for file in sorted(files):
        total.update(file.relative_to(ROOT).as_posix().encode())
        total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()


def check_python() -> None:
    """Refuse a Python outside the range that pyproject.toml allows, in one sentence.

    The range is not read with tomllib, because a Python that is too old has none.
    """
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    allowed = re.search(r'^requires-python = ">=3\.(\d+),<3\.(\d+)"$', text, re.MULTILINE)
    if allowed is None:
        raise StepError("pyproject.toml does not say which Pythons are allowed, as >=3.x,<3.y")
    oldest, newest = (3, int(allowed[1])), (3, int(allowed[2]) - 1)
    if oldest <= sys.version_info[:2] <= newest:
        return
    needed = f"Python 3.{oldest[1]} to 3.{newest[1]} is needed, this is {sys.version.split()[0]}"
    if sys.version_info[:2] > newest:
        needed += ", for which there are no wheels of praat-parselmouth and webrtcvad-wheels yet"
    raise StepError(f"{needed}: call make PYTHON=python3.{oldest[1]}, or another of these")


def layers(needed: str) -> list[str]:
    """Return the layers up to the one that a command needs, or up to a higher one that a variable names.

    ``VOICEWIRE_LAYER`` names one; ``VOICEWIRE_EXTRAS`` means all of them (CI sets it).
    """
    asked = "extras" if os.environ.get("VOICEWIRE_EXTRAS") else os.environ.get("VOICEWIRE_LAYER") or needed
    if asked not in LAYERS:
        raise StepError(f"VOICEWIRE_LAYER is {asked!r}, and has to be one of {', '.join(LAYERS)}")
    names = list(LAYERS)
    return names[: max(names.index(needed), names.index(asked)) + 1]


def installed(stamp: Path) -> dict[str, str]:
    """Return what stands in ``.venv``, and the state of the files it came from; nothing where that isn't known."""
    try:
        known: dict[str, str] = json.loads(stamp.read_text())
    except (OSError, ValueError):
        return {}
    return known if python().is_file() else {}


def setup(needed: str) -> None:
    """Make ``.venv`` hold the layers up to `needed` as the locks say, unless it does already.

    A layer that isn't there is added to what is. The environment is made anew where that isn't enough: for another
    Python, another place of the checkout, another lock of a layer that is there, and after an interruption.
    """
    wanted = layers(needed)
    stamp = VENV / "voicewire.stamp"
    locks = {name: digest([ROOT / LAYERS[name]]) for name in wanted}
    place = {"python": str(sys.version_info[:3]), "checkout": str(ROOT)}
    package = {} if wanted == ["setup"] else {"voicewire": digest([ROOT / "pyproject.toml"])}
    there = installed(stamp)
    if there == {**there, **place, **locks, **package}:
        return
    check_python()
    start = time.perf_counter()
    stamp.unlink(missing_ok=True)
    if any(there.get(name) != value for name, value in place.items()) or any(
        there.get(name, value) != value for name, value in locks.items()
    ):
        there = {}
    missing = [name for name in wanted if name not in there]
    say(f"{'adding to' if there else 'setting up'} .venv: {', '.join([LAYERS[name] for name in missing] or package)}")
    if "setup" in missing:
        call(sys.executable, "-m", "venv", "--clear", VENV, step="making the virtual environment")
        pip = (python(), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        call(*pip, "--require-hashes", "-r", ROOT / LAYERS["setup"], step="installing uv")
    install = (python(), "-m", "uv", "pip", "install", "--quiet", "--python", python())
    if missing not in ([], ["setup"]):
        files = [part for name in wanted for part in ("-r", ROOT / LAYERS[name])]
        call(*install, "--require-hashes", *files, step="installing the dependencies")
    if package and there.get("voicewire") != package["voicewire"]:
        # without isolation it is built by the lock's setuptools; with it, by whatever is the newest
        call(*install, "--no-deps", "--no-build-isolation", "-e", ROOT, step="installing voicewire")
    stamp.write_text(json.dumps({**there, **place, **locks, **package}))
    say(f"set up in {time.perf_counter() - start:.0f} s")


def home() -> dict[str, str]:
    """Return the variables that keep what libraries remember under ``.cache``, whatever the home folder is like.

    A reader's own settings of Matplotlib or Jupyter change no figure then, and a kernel that someone installed under
    the name ``python3`` isn't taken for the book's.
    """
    places = {
        "MPLCONFIGDIR": "matplotlib", "IPYTHONDIR": "ipython", "JUPYTER_CONFIG_DIR": "jupyter/config",
        "JUPYTER_DATA_DIR": "jupyter/data", "JUPYTER_RUNTIME_DIR": "jupyter/runtime", "XDG_CACHE_HOME": "xdg",
    }  # fmt: skip
    for place in places.values():
        (CACHE / place).mkdir(parents=True, exist_ok=True)
    return {name: str(CACHE / place) for name, place in places.items()}


def homeless() -> bool:
    """Whether there is no home folder that can be written."""
    try:
        with tempfile.TemporaryFile(dir=Path.home()):
            return False
    except (OSError, RuntimeError):  # it can't be written, isn't there, or can't even be told
        return True


def keep_bytecode() -> None:
    """Keep compiled modules in the cache where none may lie beside the sources, or each process would compile all."""
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        os.environ["PYTHONPYCACHEPREFIX"] = str(CACHE / "bytecode")


def chapters() -> list[Path]:
    """Return the chapter notebooks in the order of the book."""
    import tomllib  # from Python 3.11 on

    parts = tomllib.loads((ROOT / "src/voicewire_book/parts.toml").read_text(encoding="utf-8"))["part"]
    return [path for part in parts for path in sorted((ROOT / "notebooks" / part["name"]).glob(CHAPTERS))]


def execute(command: str, everything: bool = False) -> None:
    """Execute the notebooks whose text, code or data changed since they were executed here, into ``_build``."""
    fonts = home()
    if not [*Path(fonts["MPLCONFIGDIR"]).glob("fontlist-*.json")]:
        # on a slow machine Matplotlib would tell of it on a notebook's standard error
        call(python(), "-c", "import matplotlib.font_manager", env=fonts, step="Matplotlib's list of fonts")
    how = ("-m", "voicewire_book.publish.executed", command, *(["--all"] if everything else []))
    call(python(), *how, env={**fonts, **THREADS}, step="executing the notebooks")


def stage(as_committed: bool) -> None:
    """Lay out in ``_build/source`` what the pages are made from, with the notebooks as they were executed here.

    Only what differs is written, so that Sphinx sees what changed.
    """
    found = {p.relative_to(ROOT): p for folder in STAGED for p in (ROOT / folder).rglob("*") if p.is_file()}
    # An instructor's source is no page, and a second copy of it would be one more place to read solutions from. What
    # tools leave in hidden folders (JupyterLab's checkpoints, ruff's cache) is nobody's.
    left_out = {"__pycache__", "assignment.ipynb"}
    found = {
        name: path
        for name, path in found.items()
        if not left_out & set(name.parts) and not any(part.startswith(".") for part in name.parts)
    }
    found |= {Path(name): ROOT / name for name in STAGED_FILES if (ROOT / name).is_file()}
    if not as_committed:
        executed = ROOT / "_build" / "executed"
        found |= {name: executed / name for name in found if (executed / name).is_file()}
    for old in [p for p in SOURCE.rglob("*") if p.is_file() and p.relative_to(SOURCE) not in found]:
        old.unlink()
    for name, path in found.items():
        content, target = path.read_bytes(), SOURCE / name
        if not target.is_file() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)


def site_state() -> str:
    """Return a fingerprint of all that the pages are made from; the status page names the commit."""
    found = [p for folder in (SOURCE, ROOT / "src") for p in folder.rglob("*") if p.is_file()]
    files = [p for p in found if "__pycache__" not in p.parts] + [ROOT / "requirements.lock"]
    git = shutil.which("git")
    head = subprocess.run([git, "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, check=False) if git else None
    return f"{digest(files)} {head.stdout.decode().strip() if head else 'no git'}"


def browser() -> bool:
    """Whether there is a browser that can print: each page then offers what was printed."""
    ask = "from voicewire_book.publish.paper import chromium; raise SystemExit(chromium.find() is None)"
    return run(python(), "-c", ask) == 0


def build(anew: bool, as_committed: bool = False) -> None:
    """Build the pages, unless they were built from the same files at the same commit.

    They are built from nothing if a browser came or went since: Sphinx writes no page again whose text is the same.
    """
    offering = SITE / ".voicewire-offers"
    offers = "print" if browser() else "no print"
    anew = anew or (SITE.is_dir() and (not offering.is_file() or offering.read_text() != offers))
    if anew:
        for name in ("html", "source", ".doctrees", ".jupyter_cache"):
            shutil.rmtree(ROOT / "_build" / name, ignore_errors=True)
    stage(as_committed)
    stamp = SITE / ".voicewire-built"
    if not anew and stamp.is_file() and stamp.read_text() == site_state():
        say("the pages are as they were built last")
        return
    stamp.unlink(missing_ok=True)
    say("building the book")
    SITE.mkdir(parents=True, exist_ok=True)
    offering.write_text(offers)
    how = ("build", SOURCE, "--path-output", ROOT, "--toc", SOURCE / "book" / "_toc.yml")
    strict = ("-q", "-n", "-W", "--keep-going")
    call(python().with_name("jupyter-book"), *how, *strict, env=home(), step="building the book")
    stamp.write_text(site_state())


def print_pages() -> None:
    """Print the pages as one PDF, if these were not printed yet and there is a browser that can."""
    built, stamp = (SITE / ".voicewire-built").read_text(), SITE / ".voicewire-printed"
    if stamp.is_file() and stamp.read_text() == built:
        return
    say("printing the book")
    shown = {**home(), "VOICEWIRE_ROOT": str(SOURCE)}
    call(python(), "-m", "voicewire_book.publish.paper", SITE, env=shown, step="printing the book")
    if (SITE / "voice-to-wire.pdf").is_file():
        stamp.write_text(built)


def add_python() -> None:
    """Lay out beside the pages what runs their cells in a browser; without its files the book is whole without it.

    What was fetched is kept for all checkouts of the user, unless there is no home folder.
    """
    kept = {"VOICEWIRE_LIVE_CACHE": str(CACHE / "live")} if homeless() else {}
    shown = {"VOICEWIRE_ROOT": str(SOURCE), **kept}
    call(python(), "-m", "voicewire_book.publish.live.build", SITE, env=shown, step="Python for the pages")


def book(options: argparse.Namespace) -> None:
    """Execute what changed, say which outputs differ, build the HTML book and its PDF; no tracked file is written."""
    setup("book")
    if not options.as_committed:
        execute("book", options.all)
    build(anew=options.all or options.as_committed, as_committed=options.as_committed)
    add_python()
    print_pages()
    shown = {**home(), "VOICEWIRE_ROOT": str(SOURCE)}
    call(python(), "-m", "voicewire.cli", "scorecard", env=shown, step="the scorecard")
    say(f"the book: {(SITE / 'index.html').as_uri()}")


def outputs(options: argparse.Namespace) -> None:
    """Execute what changed; write new outputs into notebooks/, the README's picture and the archives' files."""
    setup("book")
    execute("outputs")


def checks() -> dict[str, tuple[tuple[str | Path, ...], dict[str, str]]]:
    """Return the steps of ``make test``: what each calls, and with which variables."""
    folders = ("src", "tests", "benchmarks", "tools")
    texts = ("book", "data", "README.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md")
    # Tests wait too, for sockets and timers: one more at a time than there are cores keeps these busy.
    workers = os.environ.get("VOICEWIRE_WORKERS", str((os.cpu_count() or 1) + 1))
    parallel = ("-n", workers, "--dist", "loadfile", "--no-loadscope-reorder")
    compare = ("--nbval", "--nbval-current-env", "--nbval-cell-timeout", "300", "-p", "no:cacheprovider")
    exact = ("--nbval-sanitize-with", "tests/nbval_sanitize.cfg", "-p", "tests.nbval_tolerance")
    once = ("-p", "tests.nbval_executed")  # what `make book` executed from the same files isn't executed again
    quiet = (python(), "-m", "pytest", "-q")
    alone = {**home(), **THREADS}
    return {
        "ruff": ((python(), "-m", "ruff", "check", *folders, "notebooks"), {}),
        "codespell": ((python(), "-m", "codespell_lib", *folders, *texts), {}),
        "mypy": ((python(), "-m", "mypy"), {}),
        "pytest": ((*quiet, *parallel, "--lane", "reader"), alone),
        "nbval": ((*quiet, *compare, *exact, *once, *parallel, *chapters()), alone),
    }


def how_long(name: str) -> str:
    """Return how long a command took here last, in words."""
    try:
        seconds = json.loads((CACHE / "command-times.json").read_text(encoding="utf-8"))[name]
        return f"it took {f'{seconds / 60:.0f} min' if seconds >= 90 else f'{seconds:.0f} s'} here last time"
    except (OSError, ValueError, LookupError):
        return "how long it takes here is not known yet"


def took(name: str, seconds: float) -> None:
    """Keep how long a command took, for `how_long`."""
    file = CACHE / "command-times.json"
    try:
        known = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        known = {}
    CACHE.mkdir(exist_ok=True)
    file.write_text(json.dumps({**known, name: round(seconds)}) + "\n", encoding="utf-8")


def test(options: argparse.Namespace) -> None:
    """Run lint, types, spelling, pytest and nbval; VOICEWIRE_WORKERS says how many tests at a time."""
    setup("test")
    steps = checks()
    say(f"{', '.join(steps)}: {how_long('test')}")
    start = time.perf_counter()
    ended: dict[str, tuple[int, float]] = {}
    for name, (command, env) in steps.items():
        say(name)
        begun = time.perf_counter()
        ended[name] = run(*command, env=env), time.perf_counter() - begun
    say("make test")
    for name, (status, seconds) in ended.items():
        print(f"   {name:<10} {seconds:5.0f} s  {f'FAILED (exit status {status})' if status else 'passed'}", flush=True)
    failed = [name for name, (status, _) in ended.items() if status]
    if failed:
        raise StepError(f"{', '.join(failed)} failed; what each says is above", max(s for s, _ in ended.values()))
    took("test", time.perf_counter() - start)


def scorecard(options: argparse.Namespace) -> None:
    """Print the verdicts that stand in the committed notebooks."""
    setup("book")
    call(python(), "-m", "voicewire.cli", "scorecard", env=home(), step="the scorecard")


def lab(options: argparse.Namespace) -> None:
    """Open the notebooks in JupyterLab."""
    setup("book")
    call(python(), "-m", "jupyterlab", "notebooks", env=home() if homeless() else None, step="JupyterLab")


def lock(options: argparse.Namespace) -> None:
    """Write the locks and environment.yml anew from pyproject.toml."""
    setup("setup")
    compiling = (
        python(), "-m", "uv", "pip", "compile", "--quiet", "--universal", "--fork-strategy", "fewest",
        "--python-version", "3.11", "--generate-hashes", "--custom-compile-command", "python tools/make.py lock",
    )  # fmt: skip
    upgrade = ("--upgrade",) if options.upgrade else ()
    asked = {
        "setup": ("--group", "setup"),
        "book": ("pyproject.toml", "--extra", "book"),
        "test": ("pyproject.toml", "--extra", "book", "--extra", "test"),
        "extras": ("pyproject.toml", "--extra", "dev"),
    }
    whole = CACHE / "locks"  # each with all that those before it hold, and nothing in the checkout before all are there
    whole.mkdir(parents=True, exist_ok=True)
    standing = "".join((ROOT / name).read_text(encoding="utf-8") for name in LAYERS.values())
    lower: list[str | Path] = []
    for layer, name in LAYERS.items():
        file = whole / name
        file.write_text(standing, encoding="utf-8")  # uv keeps these versions, whichever layer had them
        call(*compiling, *upgrade, *asked[layer], *lower, "-o", file, step=f"locking {layer}")
        lower += ["-c", file]
    audit = ROOT / "requirements-audit.lock"  # no layer: what audits is never in the environment that it audits
    call(*compiling, *upgrade, "--group", "audit", "-o", audit, step="locking audit")
    module, package = ("-m", "voicewire_book.publish.lockfile"), {"PYTHONPATH": str(ROOT / "src")}
    call(python(), *module, whole, *LAYERS.values(), env=package, step="writing the locks and environment.yml")


def clean(options: argparse.Namespace) -> None:
    """Remove everything that the other commands made: .venv, _build and caches."""
    for name in (".venv", "_build", ".cache", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis"):
        shutil.rmtree(ROOT / name, ignore_errors=True)
    for folder in [*ROOT.glob("src/**/__pycache__"), *ROOT.glob("tests/**/__pycache__")]:
        shutil.rmtree(folder, ignore_errors=True)


def prepare(options: argparse.Namespace) -> None:
    """Set up .venv for readers, or up to the layer that VOICEWIRE_LAYER names, and nothing else."""
    setup("book")


COMMANDS = {
    "book": book, "outputs": outputs,
    "test": test, "scorecard": scorecard, "lab": lab, "lock": lock, "clean": clean, "setup": prepare,
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
    if homeless():  # pip and uv keep what they download, and warn where they can't
        os.environ.update(PIP_CACHE_DIR=str(CACHE / "pip"), UV_CACHE_DIR=str(CACHE / "uv"))
    try:
        COMMANDS[options.command](options)
    except StepError as error:
        print(f"make: {error}", file=sys.stderr)
        return error.status
    except KeyboardInterrupt:
        print("make: interrupted", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    keep_bytecode()
    sys.exit(main())
