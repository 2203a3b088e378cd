"""Records what every check of an exercise says to every answer at hand, and compares a record with today's answers.

``python tests/helpers/answers.py record FILE`` asks all checks and writes FILE; ``compare FILE`` asks them again,
prints what differs and ends with 1 if anything does; ``--unheard`` lists the sentences that no answer brought up.
A check's name in the record is its part, its chapter and its own name, whatever module it stands in. `asked` finds the
checks and the solutions, `usual` the usual mistakes. Each part is asked in a process of its own.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import importlib
import inspect
import json
import os
import pkgutil
import re
import subprocess
import sys
import tempfile
import textwrap
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import asked
import numpy as np
import usual

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = ROOT / "notebooks"
ASK_SECONDS, PART_SECONDS = 60.0, 1200
SEEDS = (1, 2)
STILL = {
    "PYTHONHASHSEED": "0",
    "MPLBACKEND": "Agg",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "VOICEWIRE_SEED": "",
}
"""What makes two runs alike."""

Rows = dict[str, dict[str, str]]
"""An answer as it is called in the record -> its kind, the verdict on it and the sentence."""


class Entropy:
    """Stands for `os.urandom`, from which some checks take their keys: the same bytes for each answer."""

    calls = 0

    def __call__(self, size: int) -> bytes:
        self.calls += 1
        return hashlib.shake_256(str(self.calls).encode()).digest(size)


ENTROPY = Entropy()


def said(check: asked.Check, answer: tuple[Any, ...]) -> dict[str, str]:
    """Ask a check: right, wrong, what it raises, or that it takes too long; and its sentence."""
    ENTROPY.calls = 0
    try:
        with asked.within(ASK_SECONDS), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            feedback = check(*answer)
            verdict = "right" if feedback.ok is True else "wrong" if feedback.ok is False else repr(feedback.ok)
            sentence = feedback.message
    except asked.TooLongError:
        verdict, sentence = "too long", f"no answer within {ASK_SECONDS:.0f} s"
    except Exception as error:  # a check that raises is what the record is to show
        verdict, sentence = f"raises {type(error).__name__}", str(error)
    return {"verdict": verdict, "sentence": re.sub(r"\bat 0x[0-9a-f]*", "at 0x…", str(sentence))}


class Part:
    """All that one part's checks say."""

    def __init__(self, name: str, before: dict[str, list[dict[str, str]]]) -> None:
        self.name, self.before = name, before
        self.rows: dict[str, Rows] = {}
        self.names: dict[int, str] = {}
        self.checks: dict[str, asked.Check] = {}
        self.without: dict[str, str] = {}
        self.unheard: list[str] = []
        self.sentences = 0

    def take(self) -> None:
        """Ask everything."""
        solutions: dict[str, list[tuple[Any, ...]]] = {}
        for path in sorted((CHAPTERS / self.name).glob("[0-9]*.ipynb")):
            self.begin(f"{self.name}/{path.stem}")
            found = asked.chapter(path)
            for name, check in found.checks.items():
                key = self.known(f"{path.stem}/{name}", check)
                solutions[key] = found.solutions.get(name, [])
                if name in found.without:
                    self.without[key] = found.without[name]
        for check in self.walked():
            if id(check) not in self.names:
                self.without[self.known(f"no chapter/{check.__name__}", check)] = "no chapter asks it"
        tested: dict[str, list[tuple[str, tuple[Any, ...]]]] = {}
        self.begin(f"{self.name}, its tests")
        for check, label, answer in asked.tests(ROOT / "tests" / self.name):
            if id(check) in self.names:
                tested.setdefault(self.names[id(check)], []).append((label, answer))
        for key, check in self.checks.items():
            self.begin(key)
            self.ask(key, check, solutions.get(key, []), tested.get(key, []))
            heard = "\n".join(row["sentence"] for row in self.rows[key].values())
            sentences = list(strings(check))
            self.sentences += len(sentences)
            self.unheard += [f"{key}: {text}" for text in sentences if text not in heard]
        self.begin(f"{self.name}, drawn")
        self.drawn()

    def begin(self, what: str) -> None:
        """Say what comes now: where a process has to be killed, this names it."""
        print(what, file=sys.stderr, flush=True)

    def known(self, place: str, check: asked.Check) -> str:
        key = f"{self.name}/{place}"
        if self.checks.get(key, check) is not check:
            raise ValueError(f"two checks are called {key}: give one of them another name")
        self.checks[key], self.names[id(check)] = check, key
        return key

    def packages(self) -> list[Any]:
        """The packages in which the checks of this part stand."""
        names = {check.__module__.rpartition(".")[0] for check in self.checks.values()}
        return [importlib.import_module(name) for name in sorted(names)]

    def walked(self) -> Iterator[asked.Check]:
        """Every check in those packages, asked or not."""
        for package in self.packages():
            for info in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
                spec = importlib.util.find_spec(info.name)
                if not (spec and spec.origin and "def check_" in Path(spec.origin).read_text(encoding="utf-8")):
                    continue
                module = importlib.import_module(info.name)
                own = [thing for name, thing in vars(module).items()
                       if asked.NAMED.fullmatch(name) and getattr(thing, "__module__", "") == info.name]  # fmt: skip
                yield from (one for one in own if "Feedback" in str(inspect.signature(one).return_annotation))

    def ask(
        self, key: str, check: asked.Check, solutions: list[tuple[Any, ...]], tested: list[tuple[str, tuple[Any, ...]]]
    ) -> None:
        """Ask one check."""
        self.rows[key] = {}
        more = solutions[0][1:] if solutions and len(needed_by(check)) > 1 else ()
        tries = [3.5, "a", *(other for one in solutions for other in near(one[0]))]
        mistakes = usual.mistakes(check, [*solutions, *((one, *more) for one in tries)])
        for n, answer in enumerate(solutions, 1):
            label = "the chapter's solution" + (f" {n}" if n > 1 else "")
            self.row(key, "solution", label, check, answer)
            for how, other in usual.variants(answer[0]):
                self.row(key, "variant", f"{label}, {how}", check, (other, *answer[1:]))
        for label, wrong in mistakes:
            self.row(key, "mistake", label, check, (wrong, *more))
        if "seed" in inspect.signature(check).parameters:
            for seed in SEEDS:
                for label, wrong in usual.mistakes(check, [(3.5, seed)]):
                    self.row(key, "mistake", f"seed {seed}: {label}", check, (wrong, seed))
        for label, answer in [*asked.examples(check), *tested]:
            self.row(key, "example", ", ".join([label, *map(repr, answer[1:])]), check, answer)
        for label in usual.JUNK:
            self.row(key, "junk", label, check, (usual.junk(label), *more))
        for row in self.before.get(key, []):  # a plain answer of the record is asked again wherever it came from
            if row["answer"] not in self.rows[key]:
                try:
                    plain = ast.literal_eval(row["answer"])
                except (ValueError, SyntaxError):
                    continue
                self.row(key, row["kind"], row["answer"], check, (plain, *more))

    def row(self, key: str, kind: str, label: str, check: asked.Check, answer: tuple[Any, ...]) -> None:
        if label not in self.rows[key]:
            self.rows[key][label] = {"kind": kind, **said(check, answer)}

    def drawn(self) -> None:
        """The exercises whose numbers are drawn, and the questions of the part's paper."""
        for package in self.packages():
            for info in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
                last = info.name.rpartition(".")[2]
                if last == "drawn":
                    module = importlib.import_module(info.name)
                    for name in module.__all__:
                        seeds = (None, *SEEDS)
                        told = [(f"seed {seed}", getattr(module, name).own(seed)) for seed in seeds]
                        self.told(f"{self.name}/drawn/{name}", [(a, repr(d.answer), repr(vars(d))) for a, d in told])
                elif last == "exam":
                    module = importlib.import_module(info.name)
                    for seed in SEEDS:
                        paper = module.questions(np.random.default_rng(seed))
                        rows = [(f"question {n}", f"{q.answer!r}, {q.again!r}", f"{q.title}\n{q.text}\n{q.steps!r}")
                                for n, q in enumerate(paper, 1)]  # fmt: skip
                        if hasattr(module, "hidden"):
                            rows.append(("hidden", "", repr(module.hidden(np.random.default_rng(seed)))))
                        self.told(f"{self.name}/paper/seed {seed}", rows)

    def told(self, key: str, rows: Iterable[tuple[str, str, str]]) -> None:
        self.rows[key] = {a: {"kind": "drawn", "verdict": v, "sentence": s} for a, v, s in rows}


def near(solution: Any) -> list[Any]:
    """Wrong answers of the solution's own form, with which a check goes through all its mistakes."""
    return [other for how, other in usual.variants(solution) if how in {"a tenth more", "all half", "b", "c"}]


def needed_by(check: asked.Check) -> list[str]:
    """The arguments without which a check can't be asked."""
    given = inspect.signature(check).parameters
    return [name for name, one in given.items() if one.default is inspect.Parameter.empty]


def strings(check: asked.Check) -> Iterator[str]:
    """The sentences in a check's own source, or the longest piece of one that holds a value."""
    [body] = ast.parse(textwrap.dedent(inspect.getsource(check))).body
    assert isinstance(body, ast.FunctionDef)
    for row in body.body[1:]:
        pieces = [part for joined in ast.walk(row) if isinstance(joined, ast.JoinedStr) for part in joined.values]
        whole = [part for part in ast.walk(row) if isinstance(part, ast.Constant) and part not in pieces]
        longest = [max((p.value for p in joined.values if isinstance(p, ast.Constant)), key=len, default="")
                   for joined in ast.walk(row) if isinstance(joined, ast.JoinedStr)]  # fmt: skip
        for text in [*(part.value for part in whole), *longest]:
            if isinstance(text, str) and len(text) >= 15 and text.count(" ") >= 2:
                yield text


def ask_all(before: dict[str, Any]) -> dict[str, Any]:
    """Ask every part in a process of its own; the answers, and what they are made of."""
    parts = sorted(path.name for path in CHAPTERS.iterdir() if list(path.glob("[0-9]*.ipynb")))
    whole: dict[str, Any] = {"rows": {}, "without": {}, "unheard": [], "sentences": 0, "checks": 0}
    with tempfile.TemporaryDirectory() as folder:
        old = Path(folder, "before.json")
        old.write_text(json.dumps(before), encoding="utf-8")

        def part(name: str) -> dict[str, Any]:
            command = [sys.executable, __file__, "part", name, str(old), str(Path(folder, f"{name}.json"))]
            log = Path(folder, f"{name}.log")
            try:
                with log.open("w") as heard:
                    subprocess.run(command, env={**os.environ, **STILL}, stdout=subprocess.DEVNULL, stderr=heard,
                                   check=True, timeout=PART_SECONDS, cwd=ROOT)  # fmt: skip
            except subprocess.SubprocessError as error:
                last = log.read_text(encoding="utf-8").splitlines()[-15:]
                said_last = f"{name}: {error}: the lines above name what was asked last"
                raise SystemExit("\n".join([*last, said_last])) from None
            return json.loads(Path(folder, f"{name}.json").read_text(encoding="utf-8"))  # type: ignore[no-any-return]

        with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
            for found in pool.map(part, parts):
                for name, value in found.items():
                    whole[name] = {**whole[name], **value} if isinstance(value, dict) else whole[name] + value
    return whole


def listed(rows: dict[str, Rows]) -> dict[str, list[dict[str, str]]]:
    """The rows as they stand in the file, in an order of their own."""
    return {key: [{"answer": a, **rows[key][a]} for a in sorted(rows[key])] for key in sorted(rows)}


def differences(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """What two records say differently, a line each."""
    found = []
    for key in sorted({*before, *now}):
        if key not in now or key not in before:
            found.append(f"{key}: {'not found any more' if key in before else 'new'}")
            continue
        old, new = ({row["answer"]: row for row in rows[key]} for rows in (before, now))
        for answer in sorted({*old, *new}):
            words = [f"{row['verdict']}: {row['sentence']}" if row else "not asked"
                     for row in (old.get(answer), new.get(answer))]  # fmt: skip
            if words[0] != words[1]:
                found.append(f"{key}, {answer}\n  was {words[0]}\n  is  {words[1]}")
    return found


def main() -> int:
    """Run the program."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("what", choices=("record", "compare", "part"))
    parser.add_argument("file", help="the record; for part: its name, the record before and the file to write")
    parser.add_argument("more", nargs="*", help=argparse.SUPPRESS)
    parser.add_argument("--unheard", action="store_true", help="list the sentences that no answer brought up")
    asks = parser.parse_args()
    if asks.what == "part":
        os.urandom = ENTROPY  # before any check is imported
        old, new = map(Path, asks.more)
        part = Part(asks.file, json.loads(old.read_text(encoding="utf-8")))
        part.take()
        kept = {"rows": part.rows, "without": part.without, "unheard": part.unheard, "sentences": part.sentences}
        new.write_text(json.dumps({**kept, "checks": len(part.checks)}), encoding="utf-8")
        return 0
    before = json.loads(Path(asks.file).read_text(encoding="utf-8")) if asks.what == "compare" else {}
    whole = ask_all(before)
    rows = listed(whole["rows"])
    if asks.what == "record":
        Path(asks.file).write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    kinds = Counter(row["kind"] for answers in rows.values() for row in answers)
    with_one = sum(any(row["kind"] == "solution" for row in answers) for answers in rows.values())
    wrong = [key for key, answers in rows.items()
             if any(row["kind"] == "solution" and row["verdict"] != "right" for row in answers)]  # fmt: skip
    print(f"{whole['checks']} checks, {with_one} of them with a solution; answers: {dict(sorted(kinds.items()))}")
    print(f"{whole['sentences'] - len(whole['unheard'])} of {whole['sentences']} sentences in the checks were heard")
    found = differences(before, rows) if asks.what == "compare" else []
    lines = [f"{key} has no solution: {why}" for key, why in whole["without"].items()]
    lines += [f"{key} refuses its chapter's solution" for key in wrong]
    lines += whole["unheard"] if asks.unheard else []
    lines += [*found, f"{len(found)} differences"] if asks.what == "compare" else []
    print("\n".join(lines), end="\n" if lines else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
