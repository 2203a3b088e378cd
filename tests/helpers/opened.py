"""Runs commands of this package, and says which files and folders with a word in their name they ask Python for.

    python tests/helpers/opened.py WORD < commands.json    # [["scorecard", "WORD"], ...]

An audit hook stays for the rest of a process. Where coverage measures, each starting thread then runs that hook while
its trace function is being installed; another thread that starts in that moment is refused ("Cannot install a trace
function while another trace function is being installed") and dies. So this is a process of its own.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import tempfile

HEARD = ("open", "os.mkdir", "os.listdir", "os.scandir", "os.rename", "os.remove")


def main() -> None:
    """Run the commands that stdin lists, in an empty folder; print what each opened."""
    from voicewire import cli
    from voicewire_book.publish import new_study

    setattr(new_study, "create", lambda *words: new_study.rooms(*words[:3]) and [])  # noqa: B010 - makes nothing here
    commands = json.load(sys.stdin)
    opened: list[str] = []
    sys.addaudithook(lambda event, details: opened.append(os.fsdecode(str(details[0]))) if event in HEARD else None)
    found = []
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        for words in commands:
            opened.clear()
            silent = io.StringIO()
            with (
                contextlib.redirect_stdout(silent),
                contextlib.redirect_stderr(silent),
                contextlib.suppress(SystemExit),
            ):
                cli.main(words)
            found.append([path for path in opened if sys.argv[1] in path])
    print(json.dumps(found))


if __name__ == "__main__":
    main()
