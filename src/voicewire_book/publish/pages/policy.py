"""Put a policy into each built page: a browser runs the book's own scripts only, and asks nobody else for anything."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from pathlib import Path
from typing import Any

__all__ = ["checksum", "guard", "guarded", "running"]

_META = re.compile(r'<meta http-equiv="Content-Security-Policy" content="[^"]*">')
_INLINE = re.compile(r"<script(?![^>]*\b(?:src=|application/))[^>]*>(.*?)</script>", re.DOTALL)
_HANDLER = re.compile(r"<[a-z][^<>]*?\son[a-z]+=(\"[^\"]*\")")
_SELF = "'self'"
_NO_WORKER = "worker-src 'none'"


def checksum(content: bytes) -> str:
    """Return a checksum as a browser compares it."""
    return f"sha256-{base64.b64encode(hashlib.sha256(content).digest()).decode()}"


def guarded(page: str) -> str:
    """Return a page with its policy; an earlier one is replaced.

    Scripts come from the book's own files, or stand in the page and are named here by their checksums. Styles may stand
    anywhere, as formulas and tables have theirs; pictures and sounds may stand in the page as data.
    """
    page = _META.sub("", page)
    inline = sorted({f"'{checksum(script.encode())}'" for script in _INLINE.findall(page)})
    handlers = {html.unescape(handler[1:-1]) for handler in _HANDLER.findall(_INLINE.sub("", page))}
    if handlers:
        inline += ["'unsafe-hashes'", *sorted(f"'{checksum(handler.encode())}'" for handler in handlers)]
    rules = [
        "default-src 'none'", f"script-src {' '.join([_SELF, *inline])}", f"style-src {_SELF} 'unsafe-inline'",
        f"img-src {_SELF} data:", f"media-src {_SELF} data:", f"font-src {_SELF}", f"connect-src {_SELF} data:",
        f"manifest-src {_SELF}", f"form-action {_SELF}", "base-uri 'none'", _NO_WORKER,
    ]  # fmt: skip
    meta = f'<meta http-equiv="Content-Security-Policy" content="{"; ".join(rules)}">'
    return page.replace("<head>", f"<head>{meta}", 1) if "<head>" in page else meta + page


def running(page: str, frame: str) -> str:
    """Return a guarded page whose policy lets it run Python in its box."""
    meta = _META.search(page)
    if meta is None:
        return page
    rule = f"script-src {_SELF}"
    policy = meta[0].replace(_NO_WORKER, f"worker-src {_SELF} blob:")
    if "'wasm-unsafe-eval'" not in policy:
        policy = policy.replace(rule, f"{rule} 'wasm-unsafe-eval' '{checksum(frame.encode())}'")
    return page.replace(meta[0], policy, 1)


def guard(app: Any, error: Exception | None) -> None:
    """Put its policy into each page of the site."""
    if error is not None or app.builder is None or app.builder.format != "html":
        return
    for path in Path(app.outdir).rglob("*.html"):
        page = path.read_text(encoding="utf-8")
        if (safe := guarded(page)) != page:
            path.write_text(safe, encoding="utf-8")
