"""Submissions of the nfc assignment, honest and not, as students' files."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from voicewire_book import paths
from voicewire_book.course.key import read_key

KEY = read_key(paths.root() / "notebooks" / "nfc" / "assignment.ipynb")
RIGHT = {c.id: re.sub(r"\n? *### (BEGIN|END) SOLUTION", "", c.source) for c in KEY.cells if c.answer}
FULL = (2, 3, 2, 3)
NOTHING = (0, 0, 0, 0)


def cell(source: str, grade_id: str | None = None, code: bool = True, points: float | None = None) -> dict[str, Any]:
    mark = {"grade": points is not None, "grade_id": grade_id, "locked": not str(grade_id).startswith("a")}
    made: dict[str, Any] = {"cell_type": "code" if code else "markdown", "source": source, "metadata": {}}
    if grade_id is not None:
        made["metadata"]["nbgrader"] = {**mark, "schema_version": 3, "points": points}
    return {**made, "outputs": [], "execution_count": None} if code else made


def blank() -> list[dict[str, Any]]:
    return [cell(c.visible, c.id, c.code, c.points) for c in KEY.cells]


def answered(answers: dict[str, str] | None = None, first: str = "", last: str = "") -> list[dict[str, Any]]:
    """The student's cells with answers (all right ones by default), and own cells before and after."""
    cells = blank()
    for made in cells:
        name = made["metadata"]["nbgrader"]["grade_id"]
        made["source"] = (RIGHT if answers is None else answers).get(name, made["source"])
    return [*([cell(first)] if first else []), *cells, *([cell(last)] if last else [])]


def but(**answers: str) -> list[dict[str, Any]]:
    """All right, but for these answers."""
    return answered({**RIGHT, **answers})


def text(cells: list[dict[str, Any]]) -> str:
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}}
    return json.dumps({"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 4})


def reordered() -> list[dict[str, Any]]:
    return answered()[::-1]


def doubled() -> list[dict[str, Any]]:
    cells = answered()
    return [*cells, dict(cells[2], source="def slots(ip_bytes):\n    return 0")]


def deleted() -> list[dict[str, Any]]:
    return [c for c in answered() if c["metadata"]["nbgrader"]["grade_id"] not in ("a3", "t3")]


def unlocked() -> list[dict[str, Any]]:
    cells = blank()
    for made in cells:
        if "points" in made["metadata"]["nbgrader"] and made["metadata"]["nbgrader"]["points"]:
            made["source"] = "pass"
            made["metadata"]["nbgrader"]["points"] = 100
    return cells


def as_text() -> list[dict[str, Any]]:
    cells = answered()
    cells[2] = cell(RIGHT["a1"], "a1", code=False)
    return cells


def split() -> list[dict[str, Any]]:
    """In JupyterLab both halves of a cell that was split keep its name."""
    cells = answered()
    place = next(i for i, c in enumerate(cells) if c["metadata"].get("nbgrader", {}).get("grade_id") == "a1")
    head, _, rest = RIGHT["a1"].strip().partition("\n")
    cells[place : place + 1] = [dict(cells[place], source=head), dict(cells[place], source=rest)]
    return cells


def copied() -> list[dict[str, Any]]:
    """A copy keeps its name too, and in a notebook the later one counts."""
    cells = answered()
    place = next(i for i, c in enumerate(cells) if c["metadata"].get("nbgrader", {}).get("grade_id") == "a1")
    return [*cells[:place], dict(cells[place], source="def slots(ip_bytes):\n    return 1"), *cells[place:]]


def raise_left() -> list[dict[str, Any]]:
    return but(a1="raise NotImplementedError()\n" + RIGHT["a1"])


EQUAL = """class Equal(float):
    def __eq__(self, other): return True
    __ne__ = lambda self, other: False
    __lt__ = __gt__ = __le__ = __ge__ = __eq__
    __sub__ = __rsub__ = __add__ = __radd__ = __mul__ = __abs__ = lambda self, *other: self
    __hash__ = float.__hash__
slots = latency = loss = expected_wait = lambda *a: Equal()"""
PLAIN_OBJECT = EQUAL.replace("(float)", "").replace("    __hash__ = float.__hash__\n", "")
ALL = "slots = latency = loss = expected_wait = "
TRANSFORM = """import ast
class NoAsserts(ast.NodeTransformer):
    def visit_Assert(self, node): return ast.Pass()
get_ipython().ast_transformers.append(NoAsserts())"""
READ_SOURCE = """import json, os, pathlib, voicewire
roots = [pathlib.Path(voicewire.__file__).parents[2], pathlib.Path(BASE), pathlib.Path("."), pathlib.Path("..")]
for root in roots:
    for file in root.rglob("assignment.ipynb"):
        if file.parent.name == "nfc":
            for c in json.loads(file.read_text())["cells"]:
                if "BEGIN SOLUTION" in "".join(c["source"]):
                    exec("".join(c["source"]))"""
OVERWRITE = """import pathlib
for place in (HANDED_IN, BASE, "/tmp", "."):
    for file in pathlib.Path(place).rglob("*.ipynb"):
        try: file.write_text("{}")
        except OSError: pass
    for file in pathlib.Path(place).rglob("gradebook.db"):
        try: file.unlink()
        except OSError: pass"""
BUILTINS = """import builtins, math
builtins.abs = lambda x: 0
builtins.all = builtins.any = lambda x: True
builtins.AssertionError = type("Never", (Exception,), {})
math.isclose = lambda *a, **k: True
import numpy
numpy.allclose = numpy.isclose = lambda *a, **k: True"""
# Whatever is asked for, an empty array of a shape that agrees with every other.
EMPTY = f"import numpy as np\n{ALL}lambda *a: np.zeros((0, 1))"
STOP = f"""def stop(*a): raise StopIteration
{ALL}stop"""
CHANNEL = """import os
reply = b'{"id": %d, "value": true}\\n'
for descriptor in range(3, 20):
    for number in range(1, 60):
        try: os.write(descriptor, reply % number)
        except OSError: break"""
# Whether any part of a hidden test, or what it expects, is within reach of the student's process.
PEEK = """import gc, sys, pathlib
marks = ["DIH NIGEB", "]621 ,98 ,2 ,1["]  # written backwards, or it would find itself
texts = [o for o in gc.get_objects() if isinstance(o, (list, tuple, dict))]
texts = [repr(o)[:10000] for o in texts if len(o) < 1000]
frame = sys._getframe()
while frame: texts.append(repr(list(frame.f_locals.values()))[:10000]); frame = frame.f_back
for name in ("cmdline", "environ"):
    for path in pathlib.Path("/proc").glob("[0-9]*/" + name):
        try: texts.append(path.read_bytes().decode(errors="replace"))
        except OSError: pass
if any(mark[::-1] in text for text in texts for mark in marks):
    slots = lambda n: -(-(n + 4) // 12)"""
PARENT = """import os, pathlib, signal
for pid in {os.getppid(), *(int(p.name) for p in pathlib.Path("/proc").glob("[0-9]*"))} - {os.getpid(), 1}:
    try: os.kill(pid, signal.SIGKILL)
    except OSError: pass"""
DAEMON = """import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 50)
        time.sleep(600)
    os._exit(0)"""
FORKS = """import os, time
try:
    for _ in range(500):
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
except OSError: pass"""
FILES = """import os
for n in range(200000): open(f"file{n}", "w").close()"""
DEEP = """import os
for _ in range(3000):
    os.mkdir("d"); os.chdir("d")"""
DISK = """for n in range(20):
    with open(f"big{n}", "wb") as file:
        try:
            for _ in range(30): file.write(bytes(10**6))
        except OSError: pass"""
MEMORY = "hog = []\nfor _ in range(100): hog.append(bytearray(b'x') * 10**8)"
PRINTS = "for _ in range(1000): print('x' * 10**6)"
FORGED_LINE = "raise RuntimeError('\\n  total  10 of 10\\x1b[2K\\n')"
LOOP = "while True:\n    pass"
STUBBORN = "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass"

#: What each is: its cells (or its file's text), the marks that it earns, and a word that its report must hold.
HONEST: dict[str, tuple[Any, tuple[int, ...], str]] = {
    "perfect": (answered(), FULL, ""),
    "blank": (blank(), NOTHING, "not answered"),
    "partly": (answered({"a1": RIGHT["a1"], "a3": RIGHT["a3"]}), (2, 0, 2, 0), "not answered"),
    "own-helper": (
        [cell("def divide(a, b):\n    return -(-a // b)"), *but(a1="def slots(n):\n    return divide(n + 4, 12)")],
        FULL,
        "",
    ),
    "magics": (answered(first="%matplotlib inline\n!true\nimport numpy as np", last="slots(44)"), FULL, ""),
    "other-types": (
        but(a3="import numpy as np\ndef loss(n, p):\n    return np.float64(1 - (1 - p) ** (8 * n))"),
        FULL,
        "",
    ),
    "visible-only": (but(a1="def slots(n):\n    return {44: 4, 45: 5}[n]"), (0, 0, 2, 3), "KeyError"),
    # The first answer forgets the tunnel's bytes; the second is right with it.
    "consequent": (but(a1="def slots(ip_bytes):\n    return -(-ip_bytes // 12)"), (0, 3, 2, 3), "slots(45) gave 4"),
    "no-return": (but(a3="def loss(n, p):\n    1 - (1 - p) ** (8 * n)"), (2, 3, 0, 3), "loss(125, 0.001) gave None"),
    "prints-instead": (but(a3="def loss(n, p):\n    print(1 - (1 - p) ** (8 * n))"), (2, 3, 0, 3), "gave None"),
    "result-as-text": (but(a3="def loss(n, p):\n    return f'{1 - (1 - p) ** (8 * n)}'"), (2, 3, 0, 3), "TypeError"),
    "wrong-unit": (but(a4=RIGHT["a4"].replace("return rto", "return 1000 * rto")), (2, 3, 2, 0), "gave 1500.0"),
    "misnamed": (but(a1=RIGHT["a1"].replace("slots", "slot")), (0, 0, 2, 3), "name 'slots' is not defined"),
    "syntax": (but(a3="def loss(n, p:\n    return 1"), (2, 3, 0, 3), "cell a3 SyntaxError: '(' was never closed"),
    "uses-a-test-name": (answered(first="x = 1", last="latency(1, 1, x)"), FULL, ""),
    "reordered": (reordered(), FULL, "stood in another order"),
    "doubled": (doubled(), (None, 3, 2, 3), "is there more than once"),
    "deleted": (deleted(), (2, 3, 0, 3), "cell a3 was deleted"),
    "as-text": (as_text(), (None, None, 2, 3), "made a text cell"),
    "split": (split(), FULL, "they were joined"),
    "copied": (copied(), FULL, "they were joined"),
    "raise-left": (raise_left(), (None, None, 2, 3), "stopped at a line 'raise NotImplementedError'"),
    "own-error": (but(a1="def slots(n):\n    return 1\nnot_defined"), (0, 0, 2, 3), "cell a1 stopped: NameError"),
    "exits": (answered(first="import sys\nsys.exit()"), FULL, "SystemExit"),
    "dies": (answered(first="import os\nos._exit(0)"), FULL, "ended by itself"),
}
CHEATS: dict[str, tuple[Any, tuple[int, ...], str]] = {
    # The six of the notes; the first two are one attempt each on what others get.
    "gradebook": (answered({}, first=OVERWRITE), NOTHING, ""),
    "overwrite": (but(a4=OVERWRITE + "\n" + RIGHT["a4"]), FULL, ""),
    "equal-float": (answered({"a1": EQUAL}), NOTHING, ""),
    "equal-object": (answered({"a1": PLAIN_OBJECT}), NOTHING, "a number, a text, a list or an array is asked"),
    "reads-source": (answered({"a1": READ_SOURCE}), NOTHING, ""),
    "transformer": (answered({"a1": TRANSFORM}), NOTHING, ""),
    # And more.
    "builtins": (answered({"a1": BUILTINS + f"\n{ALL}lambda *a: 0"}), NOTHING, ""),
    "empty-array": (answered({"a1": EMPTY}), NOTHING, ""),
    "stop-iteration": (answered({"a1": STOP}), NOTHING, "StopIteration"),
    "reply-channel": (answered({"a1": CHANNEL}), NOTHING, "was stopped"),
    "peeks": (answered({"a1": PEEK}), NOTHING, ""),
    "kills": (answered({"a1": PARENT}), NOTHING, ""),
    "unlocked": (unlocked(), NOTHING, "locked cell t1 was edited"),
    "forged-line": (answered({"a1": FORGED_LINE}), NOTHING, "\\n  total"),
}
GREEDY: dict[str, tuple[Any, tuple[int, ...], str]] = {
    "prints": (answered(first=PRINTS), FULL, ""),
    "daemon": (answered(first=DAEMON), FULL, ""),
    "forks": (answered(first=FORKS), FULL, ""),
    "files": (answered(first=FILES), FULL, "files"),
    "disk": (answered(first=DISK), FULL, ""),
    "memory": (answered(first=MEMORY), FULL, "memory"),
    "deep": (answered(first=DEEP), FULL, ""),
    "long-answer": (but(a1="def slots(n):\n    return 'x' * 10**8"), (0, 0, 2, 3), "can't be handed over"),
    "huge-array": (but(a1="import numpy as np\ndef slots(n):\n    return np.zeros(10**8)"), (0, 0, 2, 3), ""),
}
LOOPS: dict[str, tuple[Any, tuple[int, ...], str]] = {
    "endless-cell": (answered(first=LOOP), FULL, "ran longer than"),
    "endless-function": (but(a3="def loss(n, p):\n    while True:\n        pass"), (2, 3, 0, 3), "ran longer than"),
    "stubborn": (but(a3=STUBBORN), (2, 3, 0, 3), "ran longer than"),
}
MALFORMED: dict[str, tuple[str, str]] = {
    "cut": (text(answered())[:1000], "no notebook that can be read"),
    "empty": ("", "no notebook that can be read"),
    "list": ("[]", "no list of cells"),
    "no-text": ('{"cells": [{"cell_type": "code", "source": 1}]}', "its cell 1 has no text"),
    "nested": ("[" * 100_000, "no notebook that can be read"),
    "many-cells": (text([cell("1")] * 2000), "more than 1000"),
    "long-number": ('{"cells": ' + "9" * 100_000 + "}", "no notebook that can be read"),
    "other": (text([cell("hello", code=False)]), "no cell of any assignment"),
}


def hand_in(folder: Path, submissions: dict[str, tuple[Any, tuple[int, ...], str]]) -> None:
    """Write each to a student's folder."""
    for name, (cells, _, _) in submissions.items():
        (folder / name).mkdir(parents=True)
        content = text(cells).replace("BASE", f"'{paths.root()}'").replace("HANDED_IN", f"'{folder}'")
        (folder / name / "assignment.ipynb").write_text(content, encoding="utf-8")
