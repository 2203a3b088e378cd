"""Keep the built pages self-contained: nothing is fetched from elsewhere, and no file lies there unused."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config

__all__: list[str] = []  # Sphinx calls what `setup` connects

START = "startup.js"
KEPT = (
    *(START, "core.js", "input/tex.js", "input/tex/extensions"),
    *("output/chtml.js", "output/chtml/fonts", "a11y/assistive-mml.js"),
)
"""What a page loads of MathJax: the parts that ``_config.yml`` names, TeX extensions on demand, and the fonts."""

REMOTE = re.compile(r'<(?:link|script)\b[^>]*\b(?:href|src)="(?:https?:)?//[^"]*"[^>]*>(?:\s*</script>)?')


def start(app: Sphinx, config: Config) -> None:
    """Have pages load MathJax in parts: its one bundle brings a menu that is larger than the rest."""
    config.mathjax_path = f"mathjax/{START}"  # sphinx-mathjax-offline sets the bundle


def clean(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Drop scripts and style sheets that a theme or an extension would fetch from elsewhere."""
    if "script_files" in context:
        context["script_files"] = [f for f in context["script_files"] if not _is_remote(f)]
    if "css_files" in context:
        context["css_files"] = [f for f in context["css_files"] if not _is_remote(f)]
    if "metatags" in context:
        context["metatags"] = REMOTE.sub("", context["metatags"])


def _is_remote(file: object) -> bool:
    return str(getattr(file, "filename", file) or "").startswith(("http:", "https:", "//"))


def prune(app: Sphinx, error: Exception | None) -> None:
    """Remove the files of MathJax that no page asks for."""
    folder = Path(app.outdir) / "_static" / "mathjax"
    if error is not None or not folder.is_dir():
        return
    keep = [folder / name for name in KEPT]
    for path in sorted(folder.rglob("*"), reverse=True):
        if not path.is_file() or any(path == kept or kept in path.parents for kept in keep):
            continue
        path.unlink()
    for path in sorted((p for p in folder.rglob("*") if p.is_dir()), reverse=True):
        if not any(path.iterdir()):
            shutil.rmtree(path)
