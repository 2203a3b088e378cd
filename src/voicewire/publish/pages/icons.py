"""Keep of the theme's two thousand icons those that the pages show: they were half of what a page loads."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

__all__ = ["SCRIPT", "keep", "used"]

SCRIPT = Path("_static/scripts/fontawesome.js")

ICON = re.compile(
    r'(?:"(?P<quoted>[a-z0-9-]+)"|\b(?P<bare>[a-z0-9]+)):\[\d+,\d+,(?P<others>\[[^\[\]]*\]),"[0-9a-f]+",'
    r'(?:"[^"]*"|\["[^"]*","[^"]*"\])\],?'
)
"""An icon in the script: its name, width, height, other names, character, outline."""

CLASS = re.compile(r"\bfa-([a-z0-9-]+)")


def used(site: Path) -> set[str]:
    """Return the names of all icons that pages and scripts of a site speak of.

    Parameters
    ----------
    site : Path
        The built site.

    Returns
    -------
    set of str
        Without ``fa-``; words that are no icons, such as ``lg``, are among them.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "index.html").write_text('<i class="fa-solid fa-bars"></i>')
    ...     sorted(used(Path(folder)))
    ['bars', 'solid']
    """
    files = [*site.rglob("*.html"), *(site / "_static").rglob("*.js")]
    texts = (path.read_text(encoding="utf-8") for path in files if path != site / SCRIPT)
    return {name for text in texts for name in CLASS.findall(text)}


def keep(script: str, names: AbstractSet[str]) -> str:
    """Return the script with the icons of these names only.

    Parameters
    ----------
    script : str
        Font Awesome's, as the theme brings it.
    names : set of str
        Without ``fa-``.

    Returns
    -------
    str
        The script.

    Raises
    ------
    ExtensionError
        If no icon is found in it: it is written in another way now.

    Examples
    --------
    >>> keep('{list:[512,512,["list-squares"],"f03a","M4"],x:[1,2,[],"f0",["M","N"]]}', {"list-squares"})
    '{list:[512,512,["list-squares"],"f03a","M4"],}'
    """
    if not ICON.search(script):
        raise ExtensionError(f"no icon is found in {SCRIPT} any more: see ICON in {Path(__file__).name}")

    def kept(icon: re.Match[str]) -> str:
        called = {icon["quoted"] or icon["bare"], *re.findall(r'"([^"]+)"', icon["others"])}
        return icon[0] if called & names else ""

    return ICON.sub(kept, script)


def reduce(app: Sphinx, error: Exception | None) -> None:
    """Write the script anew with the icons that this site shows, and leave out the maps to sources that it lacks."""
    if error is not None or app.builder is None or app.builder.format != "html":
        return
    site = Path(app.outdir)
    for path in (site / "_static").rglob("*.map"):
        path.unlink()
    script = site / SCRIPT
    script.write_text(keep(script.read_text(encoding="utf-8"), used(site)), encoding="utf-8")
