"""Cells as the page shows them: a long one stands there in pieces, each of which is run by itself."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["pieces"]

Cell = dict[str, Any]


def pieces(
    cells: Sequence[Cell],
    sources: Mapping[str, Sequence[str]],
    names: Callable[[str], tuple[set[str], set[str]]],
) -> list[Cell]:
    """Return a chapter's cells, long ones divided as on the page.

    A piece needs the pieces of its cell before it, and of other cells those that make what it uses.
    """
    shown: list[Cell] = []
    makers: dict[str, str] = {}
    for cell in cells:
        texts = sources[cell["id"]]
        before: list[str] = []
        for part, text in enumerate(texts, 1):
            name = cell["id"] if len(texts) == 1 else f"{cell['id']}-{part}"
            made, used = names(text)
            needs = list(dict.fromkeys([*before, *(makers[word] for word in sorted(used) if word in makers)]))
            quiet = ";" if part < len(texts) and isinstance(ast.parse(text).body[-1], ast.Expr) else ""
            entry = {"id": name, "of": cell["id"], "number": len(shown) + 1, "source": text + quiet}
            entry |= {"needs": needs, "makes": sorted(made)}
            shown.append(cell | entry)
            makers |= dict.fromkeys(made, name)
            before = [name]
    return shown
