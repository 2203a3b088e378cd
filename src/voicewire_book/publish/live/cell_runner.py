"""Runs a chapter's cells inside a page: what IPython's kernel does for a notebook, without its shell and its sockets.

It is imported in the browser (and in Node, for the proof), where Python is compiled to WebAssembly. A cell's outputs
are handed over as nbformat 4 has them, each as JSON, while the cell runs.
"""

from __future__ import annotations

import ast
import base64
import builtins
import contextlib
import importlib
import importlib.util
import inspect
import io
import json
import linecache
import os
import sys
import traceback
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from voicewire_book.kit import _computed as computed
from voicewire_book.publish.live import absent, late

__all__ = ["Session"]

HTML_LIKE = {
    "_repr_html_": "text/html", "_repr_svg_": "image/svg+xml", "_repr_png_": "image/png",
    "_repr_markdown_": "text/markdown", "_repr_latex_": "text/latex",
}  # fmt: skip
WIDTH = 79
"""Columns at which a value's text is broken, as in a notebook."""


class Session:
    """The names of one page, and what runs its cells."""

    def __init__(
        self,
        chapter: str,
        emit: Callable[[str], object],
        judged: Callable[[str], object] | None = None,
        narrow: bool = False,
    ) -> None:
        self._emit = emit
        self._narrow = narrow
        self._judged = judged
        self._count = 0
        self._module = types.ModuleType("__main__")
        self.names: dict[str, Any] = self._module.__dict__
        self.names.update(__builtins__=builtins, display=self.display)
        _without_shell()
        importlib.import_module("IPython.display").display = self.display  # type: ignore[attr-defined]
        if sys.platform == "emscripten":
            absent.install()
            late.install()
            builtins.get_ipython = _ZMQ  # type: ignore[attr-defined]
        folder = Path(os.environ.get("VOICEWIRE_ROOT", "/")) / "notebooks" / Path(chapter).parent
        if sys.platform == "emscripten" and folder.is_dir():
            os.chdir(folder)

    async def run(self, source: str) -> str:
        """Run one cell; await what it awaits."""
        self._count += 1
        name = f"<cell {self._count}>"
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        before = sys.modules.get("__main__")
        sys.modules["__main__"] = self._module  # classes made here are looked for there
        verdicts = self._verdicts()
        try:
            with self._streams():
                try:
                    value = await self._value(source, name)
                    if value is not None:
                        self.names["_"] = value
                        self._put("execute_result", _bundle(value, self._narrow))
                    self._figures()
                except BaseException as error:
                    self._tell(error, name)
                    _close()
                    return "error"
        finally:
            if before is not None:
                sys.modules["__main__"] = before
            self._tell_verdicts(verdicts)
        return "ok"

    def display(self, *things: Any, **options: Any) -> None:
        """Show values in the cell's output, as IPython's function of this name."""
        for thing in things:
            self._put("display_data", _bundle(thing, self._narrow))

    def draw(self, slider: str, places: str) -> str:
        """Draw a position of a slider that a cell has shown."""
        before = sys.modules.get("__main__")
        sys.modules["__main__"] = self._module
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                return json.dumps(computed.position(slider, json.loads(places)), ensure_ascii=False)
        finally:
            _close()
            if before is not None:
                sys.modules["__main__"] = before

    async def _value(self, source: str, name: str) -> Any:
        """Run the cell and return the value of a last expression that no semicolon follows."""
        tree = ast.parse(_plain(source), name)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        value = None
        for part in (tree, ast.Expression(last.value) if isinstance(last, ast.Expr) else None):
            if part is not None:
                kind = "eval" if isinstance(part, ast.Expression) else "exec"
                value = eval(compile(part, name, kind, flags, dont_inherit=True), self.names)
                awaits = kind == "exec" or any(isinstance(node, ast.Await) for node in ast.walk(part))
                if awaits and inspect.iscoroutine(value):
                    value = await value
        return None if last is None or source.rstrip().endswith(";") else value

    def _verdicts(self) -> dict[str, Any]:
        """Return the verdicts given so far by a claim's name; who hears of them may judge it again."""
        judging = sys.modules.get("voicewire_book.ledger.judging")
        if self._judged is None or judging is None:
            return {}
        ledgers = [value for value in self.names.values() if isinstance(value, judging.Ledger)]
        for ledger in ledgers:
            ledger.by_reader = True
        return {name: verdict for ledger in ledgers for name, verdict in ledger.verdicts.items()}

    def _tell_verdicts(self, before: dict[str, Any]) -> None:
        """Tell of the verdicts that the cell has given."""
        given = [verdict for name, verdict in self._verdicts().items() if before.get(name) is not verdict]
        if self._judged is not None and given:
            shown = importlib.import_module("voicewire_book.ledger.presentation")
            signs = importlib.import_module("voicewire_book.ledger.vocabulary").VERDICTS
            rows = [
                {
                    "id": verdict.claim.id,
                    "verdict": f"{signs[verdict.verdict]} {verdict.verdict}",
                    "here": shown.show(shown.plain(verdict.reproduced), verdict.claim.unit),
                }
                for verdict in given
            ]
            self._judged(json.dumps(rows, ensure_ascii=False))

    def _put(self, kind: str, data: dict[str, Any]) -> None:
        self._emit(json.dumps({"output_type": kind, "metadata": {}, "data": data}, ensure_ascii=False))

    @contextlib.contextmanager
    def _streams(self) -> Iterator[None]:
        before = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = (_Stream(name, self._emit) for name in ("stdout", "stderr"))
        try:
            yield
        finally:
            sys.stdout, sys.stderr = before

    def _figures(self) -> None:
        """Show every open figure and close it, as a notebook does at the end of a cell."""
        plt = sys.modules.get("matplotlib.pyplot")
        if plt is None:
            return
        for number in plt.get_fignums():
            self._put("display_data", _bundle(plt.figure(number), self._narrow))
        plt.close("all")

    def _tell(self, error: BaseException, name: str) -> None:
        """Show an error with the frames that are the reader's own, then the last one."""
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if frame.filename.startswith("<cell")]
        rest = [frame for frame in frames[-1:] if frame not in own and frame.filename != __file__]
        lines = [line.rstrip("\n") for line in traceback.format_list(own + rest)]
        said = [line.rstrip("\n") for line in traceback.format_exception_only(error)]
        told = {"output_type": "error", "ename": type(error).__name__, "evalue": str(error)}
        self._emit(json.dumps(told | {"traceback": [*lines, *said]}, ensure_ascii=False))


class _ZMQ:
    """What tells pandas that a table is shown in a notebook, where all columns have room, and not in a terminal."""

    kernel = None


class _Stream(io.TextIOBase):
    """Standard output, or errors, of a cell."""

    def __init__(self, name: str, emit: Callable[[str], object]) -> None:
        self._name, self._emit = name, emit

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if text:
            self._emit(json.dumps({"output_type": "stream", "name": self._name, "text": text}, ensure_ascii=False))
        return len(text)


def _plain(source: str) -> str:
    """Return a cell's Python: ``%matplotlib inline`` says nothing here, other lines of IPython's own are refused."""
    lines = source.split("\n")
    for number, line in enumerate(lines):
        if line.split() == ["%matplotlib", "inline"]:
            lines[number] = ""
        elif line.startswith(("%", "!")):
            raise SyntaxError(f"{line.split()[0]} is IPython's and not Python: leave it out in the page")
    return "\n".join(lines)


def _without_shell() -> None:
    """Let IPython's displays and its printer be imported without IPython's shell, where that isn't installed."""
    if "IPython" in sys.modules or importlib.util.find_spec("jedi") is not None:
        return
    found = importlib.util.find_spec("IPython")
    if found is None or found.submodule_search_locations is None:
        raise ImportError("IPython is not installed, and cells' outputs are shown by it")
    bare = types.ModuleType("IPython")
    bare.__path__ = list(found.submodule_search_locations)
    bare.get_ipython = lambda: None  # type: ignore[attr-defined]
    sys.modules["IPython"] = bare


def _bundle(value: Any, narrow: bool) -> dict[str, Any]:
    """Return a value in the forms in which it can be shown, by kind (MIME type)."""
    figure = sys.modules.get("matplotlib.figure")
    if figure is not None and isinstance(value, figure.Figure):
        return {"image/png": _png(value, narrow), "text/plain": repr(value)}
    data: dict[str, Any] = {}
    for method, kind in HTML_LIKE.items():
        shown = _asked(value, method)
        if shown is not None:
            data[kind] = base64.b64encode(shown).decode() if isinstance(shown, bytes) else shown
    several = _asked(value, "_repr_mimebundle_")
    if several is not None:
        data |= several[0] if isinstance(several, tuple) else several
    return data | {"text/plain": data.get("text/plain") or _text(value)}


def _asked(value: Any, method: str) -> Any:
    found = None if isinstance(value, type) else getattr(value, method, None)
    shown = found() if callable(found) else None
    return shown[0] if isinstance(shown, tuple) and method != "_repr_mimebundle_" else shown


def _text(value: Any) -> str:
    pretty = importlib.import_module("IPython.lib.pretty")
    return str(pretty.pretty(value, max_width=WIDTH))


def _png(figure: Any, narrow: bool) -> str:
    file, dpi = io.BytesIO(), figure.dpi
    with contextlib.ExitStack() as shape:
        shown = importlib.import_module("voicewire_book.kit._shown")
        if narrow and shown.narrows(figure):
            shape.enter_context(shown.narrowed(figure))
            dpi = shown.DENSITY * shown.DPI
        figure.savefig(file, format="png", dpi=dpi, bbox_inches="tight", facecolor=figure.get_facecolor())
    return base64.b64encode(file.getvalue()).decode()


def _close() -> None:
    plt = sys.modules.get("matplotlib.pyplot")
    if plt is not None:
        plt.close("all")
