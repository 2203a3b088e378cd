"""Make one script of what runs Python in a page's box, where no script can be fetched.

The box is a worker of a frame that has no origin (``book/_static/live/box.mjs``). A module can't be started there from
bytes in every browser, a classic script can: Pyodide's loader and ``archives.mjs`` become classic ones.
"""

from __future__ import annotations

import re

__all__ = ["FILES", "SCRIPT", "frame", "script"]

SCRIPT = "worker.js"
FILES = ("pyodide.asm.js", SCRIPT, "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
"""What the page hands into the box besides the archives."""
_EXPORT = re.compile(r"export\{(\S+) as loadPyodide,[^}]*\};\s*(//# sourceMappingURL=\S+\s*)?$")
_COMMENT = re.compile(r"^ *//.*\n", re.MULTILINE)
_FRAME = re.compile(r"^const FRAME = `(.*?)`;$", re.MULTILINE | re.DOTALL)
_IMPORTED = re.compile(r"\bimport\.meta\b|^\s*import\b[^(]", re.MULTILINE)


def script(loader: str, archives: str, worker: str) -> str:
    """Return the script that the box runs after ``pyodide.asm.js``."""
    plain, count = _EXPORT.subn(r"return \1;", loader)
    if count != 1:
        raise ValueError(f"pyodide.mjs does not end with its list of exports: see {__name__}")
    ours = _COMMENT.sub("", re.sub(r"^export ", "", f"{archives}\n{worker}", flags=re.MULTILINE))
    whole = f"const loadPyodide = (() => {{{plain}}})();\n{ours}"
    if found := _IMPORTED.search(whole):
        raise ValueError(f"the box's script would import a module, which it can't: {found[0]!r}")
    return whole


def frame(page: str) -> str:
    """Return the script of the box's frame."""
    found = _FRAME.search(page)
    if found is None or "${" in found[1] or "\\" in found[1]:
        raise ValueError("box.mjs has no plain text FRAME, whose checksum the page's policy names")
    return found[1]
