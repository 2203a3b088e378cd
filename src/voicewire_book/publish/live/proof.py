"""Run the cells of chapters in Node as a page runs them, and compare their text with the published one.

``python -m voicewire_book.publish.live.proof LIVE [CHAPTER…]`` tells of each chapter how many cells ran and what
differs.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from voicewire_book import paths
from voicewire_book.publish.live import chapters

__all__ = ["Proof", "declare", "prove", "reason", "said"]

RUNNER = Path(__file__).with_name("run.mjs")
CELL = 20
"""Seconds of the processor that ``--write`` gives a cell: what needs more stays as published."""
HANGS = 600
"""Seconds of the processor that a proof gives a cell: a slow machine is no fault, what never ends is one."""
STUDY = 3600
ADDRESS = re.compile(r"0x[0-9a-f]+")


@dataclass
class Proof:
    """What came of one chapter.

    Attributes
    ----------
    chapter : str
        As ``echo/01_adaptive_filters``.
    ran : int
        Cells that ran to their end.
    total : int
        Code cells of the chapter.
    faults : dict of str to str
        By a cell's id: an error, or how its text differs though nothing says that it may.
    needless : list of str
        Cells that are said to differ, and don't.
    took : dict of str to float
        Seconds of the processor that each cell took.
    """

    chapter: str
    ran: int = 0
    total: int = 0
    faults: dict[str, str] = field(default_factory=dict)
    needless: list[str] = field(default_factory=list)
    took: dict[str, float] = field(default_factory=dict)


def said(outputs: Sequence[dict[str, Any]]) -> str:
    """Return the text of a cell's outputs, as two runs are compared by it."""
    printed = [_text(each["text"]) for each in outputs if each["output_type"] == "stream" and each["name"] == "stdout"]
    shown = ["a picture" if "image/png" in each["data"] else _value(each) for each in outputs if "data" in each]
    return ADDRESS.sub("0x…", "".join(printed) + "".join(f"\n[{text}]" for text in shown))


def _text(text: Any) -> str:
    return "".join(text) if isinstance(text, list) else str(text)


def _value(output: dict[str, Any]) -> str:
    data = output["data"]
    return _text(data.get("text/plain") or data.get("text/html") or "")


def prove(live: Path, names: Sequence[str], also: bool = False, limit: int = HANGS) -> list[Proof]:
    """Run chapters one after another in one engine."""
    node = shutil.which("node")
    if node is None:
        raise RuntimeError("node is not installed: it runs the cells in this proof")
    command = [node, str(RUNNER), str(live), str(limit), ",".join(names), *(["also"] if also else [])]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=STUDY, encoding="utf-8")
    # not splitlines: JSON may hold other characters that end a line
    ended = [json.loads(line) for line in done.stdout.split("\n") if line.startswith('{"chapter"')]
    if not ended:
        raise RuntimeError(f"{names[0]}: the engine did not start: {done.stderr.strip()[-600:]}")
    found = []
    for chapter in names:
        listed = json.loads((live / "chapters" / f"{chapter}.json").read_text(encoding="utf-8"))
        whole = {cell["id"]: cell.get("of", cell["id"]) for cell in listed["cells"]}
        cells = {whole[cell["id"]]: cell for cell in listed["cells"]}
        published = _published(chapter)
        proof = Proof(chapter, total=len(cells))
        lines: dict[str, dict[str, Any]] = {}
        for line in (line for line in ended if line["chapter"] == chapter):
            name = whole[line["id"]]
            lines[name] = _joined(lines[name], line) if name in lines else line
        for name, line in lines.items():
            _judge(proof, line, name, cells[name]["differs"], published[name])
        for missed in {name for name, cell in cells.items() if cell["runs"]} - set(lines):
            proof.faults[missed] = f"the engine ended before: {done.stderr.strip()[-300:]}"
        found.append(proof)
    return found


def _published(chapter: str) -> dict[str, str]:
    """Return the published text of each cell; nothing where it is a measurement."""
    notebook = json.loads((paths.root() / "notebooks" / f"{chapter}.ipynb").read_text(encoding="utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return {
        cell["id"]: "?" if "nbval-ignore-output" in cell["metadata"].get("tags", []) else said(cell["outputs"])
        for cell in code
    }


def _joined(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Return what came of two pieces of a cell as of one."""
    how = second["how"] if first["how"] == "ok" else first["how"]
    return {"how": how, "took": first["took"] + second["took"], "outputs": first["outputs"] + second["outputs"]}


def _judge(found: Proof, line: dict[str, Any], name: str, differs: str, published: str) -> None:
    found.took[name] = line["took"]
    if line["how"] != "ok":
        errors = [each for each in line["outputs"] if each["output_type"] == "error"]
        told = ["\n".join([f"{each['ename']}: {each['evalue']}", *each["traceback"][-3:]]) for each in errors]
        found.faults[name] = told[-1] if told else str(line["how"])
        return
    found.ran += 1
    here = said(line["outputs"])
    same = published == "?" or here == published
    if not same and not differs:
        found.faults[name] = f"differs\n--- published\n{published}\n--- here\n{here}"
    if same and differs and published != "?":
        found.needless.append(name)


def _told(found: Proof) -> str:
    cpu = sum(found.took.values())
    lines = [f"{found.chapter}: {found.ran} of {found.total} cells ran, {cpu:.0f} s of the processor"]
    lines += [f"  {cell}: {fault}" for cell, fault in found.faults.items()]
    lines += [f"  {cell}: said to differ, and does not" for cell in found.needless]
    slow = [f"{cell} {took:.0f} s" for cell, took in found.took.items() if took > 4]
    return "\n".join([*lines, f"  slow: {', '.join(slow)}"] if slow else lines)


LIBRARIES = {
    "parselmouth": "praat", "soundfile": "soundfile", "av": "audio", "webrtcvad": "audio", "librosa": "audio",
    "statsmodels": "statsmodels", "skimage": "skimage", "aiocoap": "sockets",
    "ssl": "sockets",
}  # fmt: skip
ERRORS = {"KeyboardInterrupt": "long", "OSError": "sockets", "ConnectionRefusedError": "sockets", "NameError": "above"}


def reason(fault: str) -> str:
    """Return the word of `voicewire_book.publish.live.chapters.REASONS` for what went wrong in a cell."""
    name, _, said = fault.partition("\n")[0].partition(": ")
    library = said.split(" ")[0]
    if name in ("ImportError", "ModuleNotFoundError") and library in LIBRARIES:
        return LIBRARIES[library]
    if "start new thread" in said:
        return "threads"
    return "versions" if name == "differs" else ERRORS.get(name, f"It ends in an error here, {name}.")


def declare(found: Sequence[Proof]) -> None:
    """Write into ``live.toml`` which cells of these chapters stay as published, and which differ.

    What somebody has written there for a cell is kept; of chapters that were not run, everything.
    """
    for part, each in itertools.groupby(found, lambda proof: proof.chapter.partition("/")[0]):
        file = paths.root() / "notebooks" / part / "live.toml"
        proofs = {proof.chapter.partition("/")[2]: proof for proof in each}
        tables = tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
        tables |= {name: _table(tables.get(name, {}), proof.faults) for name, proof in proofs.items()}
        _write(file, tables)
        for name, proof in proofs.items():  # what builds on a cell that stays need not be listed, unless nobody sees it
            missed = {cell for cell, fault in proof.faults.items() if fault.startswith("NameError")}
            cells = chapters.chapter(file.with_name(f"{name}.ipynb"))["cells"] if missed else []
            unseen = {cell["id"]: "above" for cell in cells if cell["runs"] and cell["id"] in missed}
            tables[name]["stays"] |= unseen
        _write(file, tables)


def _table(before: dict[str, Any], faults: dict[str, str]) -> dict[str, Any]:
    """Return a chapter's table after a run; what it said before of the same cells is kept."""
    table = {name: before[name] for name in before if name == "also"} | {"stays": {}, "differs": {}}
    for cell, fault in faults.items():
        if not fault.startswith("NameError"):
            kind = "differs" if fault.startswith("differs") else "stays"
            table[kind][cell] = before.get(kind, {}).get(cell, reason(fault))
    return table


def _write(file: Path, tables: dict[str, Any]) -> None:
    text = "# Which cells cannot run in a page: voicewire_book.publish.live.chapters says what stands here.\n"
    for name, table in sorted(tables.items()):
        also = f"also = {json.dumps(table['also'])}\n" if "also" in table else ""
        text += f"\n[{name}]\n{also}"
        for kind in ("stays", "differs"):
            if rows := table.get(kind, {}):
                lines = [f"{_quoted(cell)} = {_quoted(why)}\n" for cell, why in rows.items()]
                text += "".join([f"[{name}.{kind}]\n", *lines])
    file.write_text(text, encoding="utf-8")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prove chapters, the engines of two parts at a time."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    options.add_argument("live", type=Path, help="the folder live of a built site")
    options.add_argument("chapter", nargs="*", help="as nfc/01_slow_link; all if none is named")
    options.add_argument("--also", action="store_true", help="try the cells that stay as published too")
    options.add_argument("--write", action="store_true", help="try every cell, and write live.toml")
    told = f"seconds of the processor for each cell: {CELL} to write, else {HANGS}"
    options.add_argument("--limit", type=int, help=told)
    options.add_argument("--jobs", type=int, default=2, help="studies at a time")
    chosen = options.parse_intermixed_args(arguments)
    usual = CELL if chosen.write else HANGS
    limit = usual if chosen.limit is None else chosen.limit
    names = chosen.chapter or [f"{path.parent.name}/{path.stem}" for path in chapters.offered()]
    studies = [list(each) for _, each in itertools.groupby(names, lambda name: name.partition("/")[0])]
    wrong = 0
    start = time.perf_counter()
    with ThreadPoolExecutor(chosen.jobs) as pool:
        jobs = [pool.submit(prove, chosen.live, study, chosen.also or chosen.write, limit) for study in studies]
        for job in as_completed(jobs):
            if chosen.write:
                declare(job.result())
            for found in job.result():
                print(_told(found), flush=True)
                wrong += len(found.faults) + len(found.needless)
    print(f"{time.perf_counter() - start:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
