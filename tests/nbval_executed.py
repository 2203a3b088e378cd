"""A pytest plugin for nbval: what was executed here, from the same files and versions, is judged without a second run.

``pytest -p tests.nbval_executed --nbval …``. `make book` executes notebooks into ``_build/executed`` and notes from
what; nbval is handed those outputs as its kernel would send them, and compares them as ever. A notebook that was not
executed here, or not as it is now, with this code, this data and these versions, gets a kernel.
"""

from __future__ import annotations

from collections import deque
from pathlib import Path
from queue import Empty
from typing import Any

import nbformat
import pytest

from voicewire_book import paths
from voicewire_book.publish import executed

FOUND = pytest.StashKey[int]()


class Executed:
    """Stands where nbval has its kernel: answers each cell with what it gave when it was executed."""

    def __init__(self, path: Path) -> None:
        notebook = nbformat.read(path, as_version=4)
        self._cells = iter([cell for cell in notebook.cells if cell.cell_type == "code"])
        self._messages: deque[dict[str, Any]] = deque()
        self._asked = 0

    def execute_cell_input(self, source: str, allow_stdin: bool | None = None) -> str:
        self._asked += 1
        message = str(self._asked)
        # cells that nbval skips are executed, and passed over here
        outputs = next(cell.outputs for cell in self._cells if cell.source == source)
        sent = [(output.output_type, output) for output in outputs]
        parent = {"msg_id": message}
        self._messages.extend({"msg_type": kind, "content": content, "parent_header": parent}
                              for kind, content in [*sent, ("status", {"execution_state": "idle"})])  # fmt: skip
        return message

    def get_message(self, stream: str, timeout: float | None = None) -> dict[str, Any]:
        if not self._messages:
            raise Empty
        return self._messages.popleft()

    def await_reply(self, message: str, timeout: float | None = None) -> None:
        """It is there already."""

    def await_idle(self, message: str, timeout: float) -> None:
        self._messages.clear()

    def is_alive(self) -> bool:
        return True

    def stop(self) -> None:
        self._messages.clear()


def pytest_configure(config: pytest.Config) -> None:
    """Let nbval start no kernel for a notebook whose outputs are there."""
    from nbval import plugin

    start = plugin.IPyNbFile.setup
    found = {path.resolve(): copy for path, copy in executed.current(paths.root()).items()}

    def setup(file: Any) -> None:
        copy = found.get(file.path.resolve())
        if copy is None:
            start(file)
        else:
            file.kernel = Executed(copy)
            file.setup_sanitize_files()

    plugin.IPyNbFile.setup = setup
    config.add_cleanup(lambda: setattr(plugin.IPyNbFile, "setup", start))
    config.stash[FOUND] = len(found)


def pytest_report_header(config: pytest.Config) -> str:
    """Say how many notebooks are judged by what is there."""
    return f"nbval: {config.stash[FOUND]} notebooks judged as they were executed here, kernels for all others"
