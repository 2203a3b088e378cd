"""Forty submissions of the nfc assignment: twelve honest ones, and 28 cheats new in kind, as students' files."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

spec = importlib.util.spec_from_file_location("submissions", Path(__file__).with_name("submissions.py"))
assert spec is not None and spec.loader is not None
given = importlib.util.module_from_spec(spec)
spec.loader.exec_module(given)

answered, but, cell, RIGHT, FULL, NOTHING = (
    given.answered, given.but, given.cell, given.RIGHT, given.FULL, given.NOTHING,
)  # fmt: skip
SECRET = "what-the-markers-environment-holds"
ALL = "slots = latency = loss = expected_wait = "
#: What a cheat does once it has found what it looked for.
WIN = "slots = lambda n: -(-(n + 4) // 12)"
Kind = dict[str, tuple[Any, tuple[int, ...], str]]


def seeks(look: str, imports: str = "os, pathlib, sys") -> list[dict[str, Any]]:
    """All blank but for a first answer that counts only if something was found outside."""
    body = "\n".join(f"    {line}" for line in look.split("\n"))
    tried = f"found = False\ntry:\n{body}\nexcept BaseException: pass"
    return answered({"a1": f"import {imports}\n{tried}\nif found: {WIN}"})


def with_metadata(cells: list[dict[str, Any]], **changed: Any) -> list[dict[str, Any]]:
    for made in cells:
        if made["metadata"].get("nbgrader", {}).get("points"):
            made["metadata"]["nbgrader"].update(changed)
    return cells


def tests_as_answers() -> list[dict[str, Any]]:
    """Cells of tests that claim to be answers, and bring tests of their own."""
    cells = with_metadata(given.blank(), solution=True, grade=False, locked=False)
    for made in cells:
        if made["metadata"]["nbgrader"]["grade_id"].startswith("t"):
            made["source"] = "assert True"
    return cells


def renamed() -> list[dict[str, Any]]:
    """The right answer to one question handed in as the answer to all."""
    return answered({name: RIGHT["a3"].replace("loss", which) for name, which in
                     (("a1", "slots"), ("a2", "latency"), ("a3", "loss"), ("a4", "expected_wait"))})  # fmt: skip


HONEST: Kind = {
    "h-perfect": (answered(), FULL, ""),
    "h-blank": (given.blank(), NOTHING, ""),
    "h-first": (answered({"a1": RIGHT["a1"]}), (2, 0, 0, 0), ""),
    "h-last": (answered({"a4": RIGHT["a4"]}), (0, 0, 0, 3), ""),
    "h-ceil": (but(a1="import math\ndef slots(n):\n    return math.ceil((n + 4) / 12)"), FULL, ""),
    "h-numpy": (but(a1="import numpy as np\ndef slots(n):\n    return np.ceil((n + 4) / 12)"), FULL, ""),
    "h-consequent": (but(a1="def slots(n):\n    return -(-n // 12)"), (0, 3, 2, 3), ""),
    "h-floor": (but(a1="def slots(n):\n    return n // 12"), (0, 3, 2, 3), ""),
    "h-fraction": (
        but(a3="from fractions import Fraction\ndef loss(n, p):\n    return float(1 - Fraction(1 - p) ** (8 * n))"),
        FULL, ""),
    "h-class": (
        but(a1="class Slots:\n    def __call__(self, n):\n        return -(-(n + 4) // 12)\nslots = Slots()"),
        FULL, ""),
    "h-cached": (but(a1="import functools\n@functools.cache\n" + RIGHT["a1"]), FULL, ""),
    "h-raises": (answered(first="raise ValueError('a cell of my own')"), FULL, ""),
}  # fmt: skip
LAZY = "def latency(size, mss, response):\n    n = -(-size // mss)\n    return 0.005 * float((2 * n + 6) * slots(44))"
STATE = """asked = []
def slots(n):
    return 0 if asked else -(-(n + 4) // 12)"""
AFTER = """def latency(size, mss, response):
    asked.append(size)
    return 0.03 * -(-round(response * 1e6) // 5000)"""
REPEAT = """class Twice(int):
    calls = 0
    def __eq__(self, other): Twice.calls += 1; return True
    __hash__ = int.__hash__
"""
CHEATS: Kind = {
    # numbers
    "c-huge": (answered({"a1": "def slots(n):\n    return 10**30 + n", "a2": LAZY}), NOTHING, ""),
    "c-huge-float": (answered({"a1": "def slots(n):\n    return 1e17 + n", "a2": LAZY}), NOTHING, ""),
    "c-huge-times": (answered({"a1": "def slots(n):\n    return n * 10**12", "a2": LAZY}), NOTHING, ""),
    "c-forgets": (answered({"a1": STATE, "a2": AFTER}), (2, 0, 0, 0), ""),
    "c-inf": (answered({"a1": f"{ALL}lambda *a: float('inf')"}), NOTHING, ""),
    "c-nan": (answered({"a1": f"{ALL}lambda *a: float('nan')"}), NOTHING, ""),
    "c-int-class": (answered({"a1": REPEAT + f"{ALL}lambda *a: Twice(4)"}), NOTHING, ""),
    "c-bool": (answered({"a1": f"{ALL}lambda *a: True"}), NOTHING, ""),
    "c-masked": (answered({"a1": f"import numpy as np\n{ALL}lambda *a: np.ma.masked"}), NOTHING, ""),
    "c-object-array": (
        answered({"a1": f"import numpy as np\n{given.PLAIN_OBJECT}\n{ALL}lambda *a: np.array(Equal(), dtype=object)"}),
        NOTHING, ""),
    "c-decimal": (answered({"a1": f"from decimal import Decimal\n{ALL}lambda *a: Decimal('NaN')"}), NOTHING, ""),
    # what lies around
    "c-environment": (seeks("found = any(b'ANSWER_KEY' in p.read_bytes() for p in "
                            "pathlib.Path('/proc').glob('[0-9]*/environ')) or 'VOICEWIRE_ANSWER_KEY' in os.environ"),
                      NOTHING, ""),
    "c-neighbours": (seeks("found = any(p.stat().st_size for p in pathlib.Path(HANDED_IN).rglob('*.ipynb'))"),
                     NOTHING, ""),
    "c-marker": (seeks("import voicewire_book.course.marker as m\np = pathlib.Path(m.__file__)\n"
                       "p.write_text(p.read_text())\nfound = True"), NOTHING, ""),
    "c-package-file": (seeks("import voicewire\np = pathlib.Path(voicewire.__file__).parent / 'sitecustomize.py'\n"
                             "p.write_text('raise SystemExit')\nfound = True"), NOTHING, ""),
    "c-pyc": (seeks("import numpy\np = pathlib.Path(numpy.__file__).parent / '__pycache__' / 'x.pyc'\n"
                    "p.write_bytes(b'x')\nfound = True"), NOTHING, ""),
    "c-home": (seeks("found = any(p.is_file() for name in ('/root', '/home', '/etc/ssh') "
                     "for p in pathlib.Path(name).glob('*'))"),
               NOTHING, ""),
    "c-git": (seeks("import subprocess\nfound = b'BEGIN SOLUTION' in subprocess.run(['git', '-C', BASE, 'show', "
                    "'HEAD:notebooks/nfc/assignment.ipynb'], capture_output=True).stdout"), NOTHING, ""),
    "c-descriptors": (seeks("found = any(os.pread(n, 9, 0) for n in range(3, 99) "
                            "if os.path.realpath(f'/proc/self/fd/{n}').endswith('.ipynb'))"), NOTHING, ""),
    "c-namespace": (seeks("import ctypes\nfound = ctypes.CDLL(None).unshare(0x10000000) == 0"), NOTHING, ""),
    "c-trace": (seeks("import ctypes\nfound = ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0) == 0"), NOTHING, ""),
    "c-abstract-socket": (seeks("import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect('\\0/tmp/.X11-unix/X0')\n"
                                "found = True"), NOTHING, ""),
    "c-loopback": (seeks("import socket\nsocket.create_connection(('127.0.0.1', 22), 2)\nfound = True"), NOTHING, ""),
    # the file's own form
    "c-metadata": (with_metadata(given.blank(), points=-100, grade_id="t1"), NOTHING, ""),
    "c-tests-as-answers": (tests_as_answers(), NOTHING, ""),
    "c-renamed": (renamed(), (0, 0, 2, 0), ""),
    # the process
    "c-replaced": (answered({"a1": "import os, sys\nos.execv(sys.executable, [sys.executable, '-c', 'print(4)'])"}),
                   NOTHING, ""),
    "c-worker": (answered({"a1": """import gc
from voicewire_book.course import plain
plain.encode = lambda value, keep, depth=0: 4
for o in gc.get_objects():
    if type(o).__name__ == "Worker": o.answer = lambda request: {"id": request["id"], "value": 4}"""}), NOTHING, ""),
}  # fmt: skip
KEEPS = """seen = []
def slots(n):
    seen.append(n)
    return -(-(n + 4) // 12)"""
LATER = "def loss(n, p):\n    raise ValueError(seen)"
#: What is told later of the hidden inputs that were kept: in an error, a class's name, a value, a cell, an exit status.
TELLS: Kind = {
    "t-error": (but(a1="def slots(n):\n    raise ValueError(n) if n > 100 else None\n"), (), ""),
    "t-later": (but(a1=KEEPS, a3=LATER), (), ""),
    "t-class": (but(a1=KEEPS, a3="def loss(n, p):\n    raise type(f'E{seen}', (ValueError,), {})()"), (), ""),
    "t-value": (but(a1=KEEPS, a3="def loss(n, p):\n    return seen"), (), ""),
    "t-cell": ([*but(a1=KEEPS), cell("raise RuntimeError(str(seen))")], (), ""),
    "t-reply": (but(a1=KEEPS, a3="from voicewire_book.course import plain\n"
                    "plain.dumps = lambda m: f'{seen}'.encode() + b'\\n'"), (), ""),
    "t-wrong": (but(a1="def slots(n):\n    return -(-(n + 4) // 12) + (n > 1000)"), (), ""),
}  # fmt: skip


