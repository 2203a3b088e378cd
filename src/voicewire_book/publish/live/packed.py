"""Compile the modules in an archive and leave out what no page asks for.

The browser's Python runs the text of this file as a whole when the site is built; it imports the standard library only.
"""

from __future__ import annotations

import importlib.util
import io
import marshal
import re
import warnings
import zipfile
from typing import Any

__all__ = ["packed"]

THEN = (1980, 1, 1, 0, 0, 0)
NEEDLESS = re.compile(
    r"^(?!voicewire/).*\.(pyi|pyx|pxd|pxi|h|a)$"
    r"|/mpl-data/(sample_data|images|fonts/afm|fonts/pdfcorefonts)/|DejaVuSerif"
    r"|^scipy/misc/.*\.dat$|^PIL/_(webp|imagingft|imagingcms|imagingtk)\."
    r"|^matplotlib/backends/(web_backend/|qt_editor/|_?backend_(gtk|qt|wx|tk|macosx|cairo|webagg|nbagg|pgf))"
)
"""Types, but those of our own packages, which say where a name comes from; headers for other compilers, example data,
fonts of other formats and a family that no figure uses, what Pillow draws text and WebP with, Matplotlib's windows."""
SELDOM = re.compile(
    r"^(xml|unittest|http|pydoc|doctest|html|xmlrpc|mailbox|pdb|wsgiref|optparse|imaplib|pickletools|multiprocessing"
    r"|curses|ftplib|smtplib|poplib|nntplib|telnetlib|turtle|cgi|trace|profile|pstats|sqlite3|plistlib|zipapp|ctypes"
    r"|_pyio|_pydatetime|_pydecimal)\b|^encodings/(?!__init__|aliases|ascii|cp437|idna|latin_1|utf)"
    r"|^matplotlib/(backends/(?!__init__|backend_agg|registry)|sphinxext/|testing/|tests/)"
    r"|^numpy/(f2py|testing|distutils)/|^mpl_toolkits/(axes_grid1|axisartist)/"
    r"|^PIL/(?!__init__|_|Image|Png|Bmp|Gif|Jpeg|Ppm|Exif|Tiff)"
)
"""Modules that hardly any page imports stay as text, which is shorter."""
UNCHECKED = 1
"""The flag of PEP 552: the compiled code is valid whatever the time and the hash of the source are."""


def packed(archive: Any, prefix: str) -> bytes:
    """Return the archive with its modules compiled, each in place of its text."""
    target = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(archive.to_bytes() if hasattr(archive, "to_bytes") else archive)) as source,
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as whole,
    ):
        for name in source.namelist():
            if NEEDLESS.search(name):
                continue
            data = source.read(name)
            made = _compiled(data, prefix + name) if name.endswith(".py") and not SELDOM.search(name) else None
            _put(whole, name if made is None else f"{name}c", data if made is None else made)
    return target.getvalue()


def _compiled(text: bytes, file: str) -> bytes | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = compile(text, file, "exec", dont_inherit=True, optimize=0)
    except (SyntaxError, ValueError):
        return None
    head = importlib.util.MAGIC_NUMBER + UNCHECKED.to_bytes(4, "little") + importlib.util.source_hash(text)
    return head + marshal.dumps(code)


def _put(whole: zipfile.ZipFile, name: str, data: bytes) -> None:
    entry = zipfile.ZipInfo(name, THEN)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    whole.writestr(entry, data)
