"""Runs what is checked before a landing or by night, step by step, as ``.ci/lanes.toml`` lists it.

    python tools/lanes.py landing          # what .ci/run calls
    python tools/lanes.py night [PART…]    # what .ci/nightly calls: every part, or those named
    python tools/lanes.py table            # writes CONTRIBUTING.md's table anew from the list

Each step has its limit and runs whatever became of the others; the last lines say how each ended, and the exit status
is 1 if one failed. Only the standard library is used.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import make

LIST = make.ROOT / ".ci" / "lanes.toml"
COMMANDS = {"reader": "`make test`", "landing": "`.ci/run`", "night": "`.ci/nightly`"}
PAGE = make.ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- lanes: python tools/lanes.py table -->\n", "<!-- lanes end -->\n"

NOTHING = 77
"""The exit status of a step that found nothing to try here, as automake has it."""


@dataclass
class Step:
    """One row of the list, and what became of it."""

    lane: str
    name: str
    what: str
    run: str = ""
    minutes: int = 0
    beside: bool = False
    status: int | None = None
    seconds: float = 0.0
    busy: float = 0.0


def listed() -> dict[str, Any]:
    """Return the list as it stands in the file."""
    return tomllib.loads(LIST.read_text(encoding="utf-8"))


def steps(lane: str) -> list[Step]:
    """Return the steps of a lane, in order."""
    return [Step(**row) for row in listed()["step"] if row["lane"] == lane]


def install() -> None:
    """Install Debian's packages that are missing: the real programs that the embedded defaults stand in for."""
    wanted = [*listed()["programs"], *([] if shutil.which("node") else ["nodejs"])]
    ask = ("dpkg-query", "-W", "-f", "${Package} ${Status}\n", *wanted)
    answer = subprocess.run(ask, capture_output=True, text=True, check=False).stdout.splitlines()
    missing = sorted(set(wanted) - {line.split()[0] for line in answer if line.endswith("ok installed")})
    if missing:
        make.say(f"installing {' '.join(missing)}")
        root = () if os.geteuid() == 0 else ("sudo",)
        env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run([*root, "apt-get", "update", "-qq"], env=env, check=True)
        get = (*root, "apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing)
        subprocess.run(get, env=env, check=True, stdout=subprocess.DEVNULL)


class Running:
    """A step that was started, within its limit; what it started is ended with it."""

    def __init__(self, step: Step) -> None:
        self.step, self.start, self.over = step, time.monotonic(), threading.Event()
        self.late = False
        make.say(f"{step.lane}: {step.name}, at most {step.minutes} min: {step.what}")
        self.said = make.CACHE / f"{step.name}.log"
        make.CACHE.mkdir(exist_ok=True)
        with self.said.open("wb") as file:
            self.process = subprocess.Popen(
                ["bash", "-euo", "pipefail", "-c", step.run],
                cwd=make.ROOT,
                env={**os.environ, **make.THREADS},
                start_new_session=True,
                stdout=file if step.beside else None,
                stderr=subprocess.STDOUT if step.beside else None,
            )

    def end(self) -> None:
        """Ask a step that is late to end, and make it after half a minute."""
        self.late = True
        for how in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, how)
            if self.over.wait(30):
                return

    def wait(self) -> None:
        """Wait until it is over, and keep how it ended; what a step said that ran beside another is printed then."""
        left = max(0.0, 60 * self.step.minutes - (time.monotonic() - self.start))
        timer = threading.Timer(left, self.end)
        timer.start()
        try:
            _, status, used = os.wait4(self.process.pid, 0)
        except BaseException:
            os.killpg(self.process.pid, signal.SIGTERM)
            raise
        finally:
            self.over.set()
            timer.cancel()
        self.process.returncode = os.waitstatus_to_exitcode(status)
        self.step.status = 124 if self.late else self.process.returncode  # as timeout(1) has it
        self.step.seconds, self.step.busy = time.monotonic() - self.start, used.ru_utime + used.ru_stime
        if self.step.beside:
            make.say(f"{self.step.name} said")
            print(self.said.read_text(encoding="utf-8", errors="replace"), flush=True)


def run(chosen: Sequence[Step]) -> None:
    """Run steps one after the other; one that is listed as `beside` runs together with the next."""
    running: list[Running] = []
    for number, step in enumerate(chosen, 1):
        running.append(Running(step))
        if not step.beside or number == len(chosen):
            for each in reversed(running):
                each.wait()
            running.clear()


def report(done: Sequence[Step]) -> int:
    """Print how each step ended and what it took; return 1 if one failed or none was there."""
    make.say("how it ended")
    for step in done:
        how = {0: "passed", NOTHING: "NOTHING was tried", 124: f"FAILED: not over within {step.minutes} min"}.get(
            step.status or 0, f"FAILED (exit status {step.status})"
        )
        print(f"   {step.name:<20} {step.seconds / 60:6.1f} min  {step.busy / 60:6.1f} CPU min  {how}")
    sys.stdout.flush()
    return int(not done or any(step.status not in (0, NOTHING) for step in done))


def table() -> str:
    """Return the table of all lanes: each step once, in the order of the list."""
    lines = [f"| What | Step | {' | '.join(COMMANDS.values())} |", f"|---|---|{'---|' * len(COMMANDS)}"]
    for row in listed()["step"]:
        where = " | ".join("yes" if row["lane"] == lane else "" for lane in COMMANDS)
        lines.append(f"| {row['what']} | `{row['name']}` | {where} |")
    return "\n".join(lines) + "\n"


def write_table() -> None:
    """Write the table into CONTRIBUTING.md, between its marks."""
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, tail = rest.partition(END)
    PAGE.write_text(f"{head}{BEGIN}{table()}{END}{tail}", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of ``python tools/lanes.py``."""
    parser = argparse.ArgumentParser(prog="lanes", description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("lane", choices=("landing", "night", "table"))
    parser.add_argument("parts", nargs="*", metavar="PART", help="steps of the lane (default: all)")
    options = parser.parse_args(arguments)
    if options.lane == "table":
        write_table()
        return 0
    found = steps(options.lane)
    if unknown := set(options.parts) - {step.name for step in found}:
        parser.error(f"no {options.lane} part {', '.join(sorted(unknown))}: {', '.join(step.name for step in found)}")
    chosen = [step for step in found if not options.parts or step.name in options.parts]
    install()
    if options.lane == "night":
        os.environ["VOICEWIRE_EXTRAS"] = "1"
        make.setup("extras")
    start = time.monotonic()
    run(chosen)
    make.say(f"all took {(time.monotonic() - start) / 60:.1f} min")
    return report(chosen)


if __name__ == "__main__":
    make.keep_bytecode()
    sys.exit(main())
