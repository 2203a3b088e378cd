"""Records what every exercise and every stage of a lab says to each answer at hand, and compares a record with today.

``python tests/helpers/answers.py record FILE`` asks them all and writes FILE; ``compare FILE`` asks them again,
prints what differs and ends with 1 if anything does; ``--unheard`` lists the sentences that no answer brought up.
An exercise's name in the record is its label. `asked` finds the labels and the solutions in the chapters, `usual` the
usual mistakes. Each part is asked in a process of its own.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import asked
import asking
import numpy as np
import usual

from voicewire_book.kit.drawn import Exercise
from voicewire_book.kit.records import Judged, Made, Record

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


def said(check: Callable[..., Any], answer: tuple[Any, ...]) -> dict[str, str]:
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
    """All that one part's exercises say."""

    def __init__(self, name: str, before: dict[str, list[dict[str, str]]]) -> None:
        self.name, self.before = name, before
        self.rows: dict[str, Rows] = {}
        self.labels: list[str] = []
        self.without: dict[str, str] = {}
        self.unheard: list[str] = []
        self.sentences = 0

    def take(self) -> None:
        """Ask everything."""
        solutions: dict[str, list[tuple[Any, ...]]] = {}
        for path in sorted((CHAPTERS / self.name).glob("[0-9]*.ipynb")):
            self.begin(f"{self.name}/{path.stem}")
            found = asked.chapter(path)
            self.labels += found.labels
            solutions |= found.solutions
            self.without |= found.without
        for label in self.table():
            if label not in self.labels:
                self.labels.append(label)
                self.without[label] = "no chapter asks it"
        tested: dict[str, list[tuple[str, tuple[Any, ...]]]] = {}
        self.begin(f"{self.name}, its tests")
        for label, source, answer in asked.tests(ROOT / "tests" / self.name):
            tested.setdefault(label, []).append((source, answer))
        for label in self.labels:
            self.begin(label)
            self.ask(label, solutions.get(label, []), tested.get(label, []))
            heard = "\n".join(row["sentence"] for row in self.rows[label].values())
            sentences = list(strings(asking.record(label)))
            self.sentences += len(sentences)
            self.unheard += [f"{label}: {text}" for text in sentences if text not in heard]
        self.begin(f"{self.name}, drawn")
        self.drawn()

    def begin(self, what: str) -> None:
        """Say what comes now: where a process has to be killed, this names it."""
        print(what, file=sys.stderr, flush=True)

    def table(self) -> list[str]:
        """Every label of the part, asked by a chapter or not."""
        own = f"voicewire_book.chapters.{self.name}."
        return [label for module, table in asking.tables().items() if module.startswith(own) for label in table]

    def ask(self, label: str, solutions: list[tuple[Any, ...]], tested: list[tuple[str, tuple[Any, ...]]]) -> None:
        """Ask one exercise."""
        ENTROPY.calls = 0  # keys that a lab draws once are the same, whatever was asked before
        self.rows[label] = {}
        check, drawn = asking.of(label), isinstance(asking.record(label), Exercise)
        more = () if drawn or not solutions else solutions[0][1:]
        tries = [3.5, "a", *(other for one in solutions for other in near(one[0]))]
        mistakes = usual.mistakes(check, [*solutions, *((one, *more) for one in tries)])
        for n, answer in enumerate(solutions, 1):
            name = "the chapter's solution" + (f" {n}" if n > 1 else "")
            self.row(label, "solution", name, check, answer)
            for how, other in usual.variants(answer[0]):
                self.row(label, "variant", f"{name}, {how}", check, (other, *answer[1:]))
        for name, wrong in mistakes:
            self.row(label, "mistake", name, check, (wrong, *more))
        for seed in SEEDS if drawn else ():
            for name, wrong in usual.mistakes(check, [(3.5, seed)]):
                self.row(label, "mistake", f"seed {seed}: {name}", check, (wrong, seed))
        for name, answer in tested:
            self.row(label, "example", ", ".join([name, *map(repr, answer[1:])]), check, answer)
        for name in usual.JUNK:
            self.row(label, "junk", name, check, (usual.junk(name), *more))
        for row in self.before.get(label, []):  # a plain answer of the record is asked again wherever it came from
            if row["answer"] not in self.rows[label]:
                try:
                    plain = ast.literal_eval(row["answer"])
                except (ValueError, SyntaxError):
                    continue
                self.row(label, row["kind"], row["answer"], check, (plain, *more))

    def row(self, key: str, kind: str, label: str, check: Callable[..., Any], answer: tuple[Any, ...]) -> None:
        if label not in self.rows[key]:
            self.rows[key][label] = {"kind": kind, **said(check, answer)}

    def drawn(self) -> None:
        """The exercises whose numbers are drawn, and the questions of the part's paper."""
        for label in self.labels:
            record = asking.record(label)
            if isinstance(record, Exercise):
                told = [(f"seed {seed}", record.own(seed)) for seed in (None, *SEEDS)]
                self.told(f"{label}, drawn", [(a, repr(d.answer), repr(vars(d))) for a, d in told])
        try:
            module = importlib.import_module(f"voicewire_book.chapters.{self.name}.exam")
        except ModuleNotFoundError:  # a part without a paper
            return
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


def strings(record: Record) -> Iterator[str]:
    """The sentences of a record; of a function that judges itself those in its source, or their longest pieces."""
    if isinstance(record, Made):
        yield from strings(record.make())
    elif isinstance(record, Judged):
        [body] = ast.parse(textwrap.dedent(inspect.getsource(record.judge))).body
        assert isinstance(body, ast.FunctionDef)
        for row in body.body[1:]:
            pieces = [part for joined in ast.walk(row) if isinstance(joined, ast.JoinedStr) for part in joined.values]
            whole = [part for part in ast.walk(row) if isinstance(part, ast.Constant) and part not in pieces]
            longest = [max((p.value for p in joined.values if isinstance(p, ast.Constant)), key=len, default="")
                       for joined in ast.walk(row) if isinstance(joined, ast.JoinedStr)]  # fmt: skip
            for text in [*(part.value for part in whole), *longest]:
                if isinstance(text, str) and len(text) >= 15 and text.count(" ") >= 2:
                    yield text
    elif not isinstance(record, Exercise):
        mistakes = getattr(record, "mistakes", ())
        yield from filter(None, [getattr(record, "right", ""), *(hint for _, hint in mistakes)])
        yield from (getattr(record, "hints", None) or {}).values()


def ask_all(before: dict[str, Any], only: str = "") -> dict[str, Any]:
    """Ask every part, or one, in a process of its own; the answers, and what they are made of."""
    parts = sorted(path.name for path in CHAPTERS.iterdir() if list(path.glob("[0-9]*.ipynb")))
    parts = [part for part in parts if only in ("", part)]
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
        for answer in sorted(old):  # an answer that is asked for the first time differs from nothing
            words = [f"{row['verdict']}: {row['sentence']}" if row else "not asked"
                     for row in (old[answer], new.get(answer))]  # fmt: skip
            if words[0] != words[1]:
                found.append(f"{key}, {answer}\n  was {words[0]}\n  is  {words[1]}")
    return found


def main() -> int:
    """Run the program."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("what", choices=("record", "compare", "part"))
    parser.add_argument("file", help="the record; for part: its name, the record before and the file to write")
    parser.add_argument("more", nargs="*", help=argparse.SUPPRESS)
    parser.add_argument("--only", default="", help="ask one part: a record is compared as far as it has it")
    parser.add_argument("--unheard", action="store_true", help="list the sentences that no answer brought up")
    asks = parser.parse_args()
    if asks.what == "part":
        os.urandom = ENTROPY  # before any check is imported
        old, new = map(Path, asks.more)
        part = Part(asks.file, json.loads(old.read_text(encoding="utf-8")))
        part.take()
        kept = {"rows": part.rows, "without": part.without, "unheard": part.unheard, "sentences": part.sentences}
        new.write_text(json.dumps({**kept, "checks": len(part.labels)}), encoding="utf-8")
        return 0
    before = json.loads(Path(asks.file).read_text(encoding="utf-8")) if asks.what == "compare" else {}
    if asks.only:
        before = {key: rows for key, rows in before.items() if key.startswith((f"{asks.only}-", f"{asks.only}/"))}
    whole = ask_all(before, asks.only)
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
