"""Let a page link compiled modules one by one, when they are imported, without a walk through all symbols each time.

Pyodide links every compiled module of a package before Python can import it, SciPy's 110 among them. Linked when it
is imported, a module makes the engine walk through all symbols known so far, twenty thousand of them, to resolve the
few that are new. Here the engine keeps a list of those that are not resolved yet, and walks through that.
"""

from __future__ import annotations

__all__ = ["CHANGES", "eased"]

_NEW = 'rtn=GOT[symName]=new WebAssembly.Global({"value":"i32","mutable":true})'
CHANGES = (
    ("var GOT={};", "var GOT={};var unresolved=new Map;"),
    (_NEW, f"{_NEW};unresolved.set(symName,rtn)"),
    (
        "for(var[symName,entry]of Object.entries(GOT)){",
        "for(var[symName,entry]of unresolved){if(entry.value!=0)unresolved.delete(symName);",
    ),
)
"""What is replaced in ``pyodide.asm.js``, and by what."""


def eased(script: str) -> str:
    """Return the engine's script with the list."""
    for before, after in CHANGES:
        if script.count(before) != 1:
            raise ValueError(f"pyodide.asm.js has {script.count(before)} times {before!r}, not once: see {__name__}")
        script = script.replace(before, after)
    return script
