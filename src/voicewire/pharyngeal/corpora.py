"""Open corpora for readers who want real voices: a registry, and nothing is fetched unless asked for.

No Arabic x-ray film is openly licensed; these are the nearest open data. Explained in notebook ``02_formants``.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["REGISTRY", "Corpus", "corpus", "fetch"]

SWITCH: Final = "VOICEWIRE_FETCH"


@dataclass(frozen=True)
class Corpus:
    """An open corpus: its name, its page, its licence, what it is good for, and a checksum where one is stable.

    ``archive`` is empty where the corpus is handed out through a page only, ``sha256`` where its owner publishes none.

    Attributes
    ----------
    name, url, licence, use : str
        What it is called, its page, its licence, what it is good for.
    archive, sha256 : str
        Address and checksum of the archive, or nothing.

    Examples
    --------
    >>> all(entry.licence for entry in REGISTRY.values())
    True
    """

    name: str
    url: str
    licence: str
    use: str
    archive: str = ""
    sha256: str = ""


REGISTRY: Final[dict[str, Corpus]] = {
    "klettres": Corpus(
        "KLettres, the names of the Arabic letters (a child's voice)",
        "https://invent.kde.org/education/klettres",
        "GPL-2.0-or-later",
        "plain and emphatic letters, each said once; measured here, not played (Debian: klettres-data 4:22.12.3-1)",
        sha256="1186d257a19e84230856baea0b0b1ded8be9195080fcdb2588970b5cd937f5a8",
    ),
    "librivox-aligned": Corpus(
        "five LibriVox sentences with aligned phones, in the source of pocketsphinx 5.1.1",
        "https://github.com/cmusphinx/pocketsphinx",
        "BSD-2-Clause; the recordings are in the public domain in the USA",
        "one man reading: voicing and plausibility; once an MP3, so not the last hertz",
        sha256="675778b309a22dfc9b7d37f7621976bba491d2a5f8c59696bd77fd6d07271355",
    ),
    "peterson-barney": Corpus(
        "American English vowels (Peterson and Barney, 1952), inside Praat",
        "https://www.fon.hum.uva.nl/praat/",
        "GPL-3.0-or-later (Praat); the numbers are facts",
        "1,520 tokens of 76 speakers, measured by hand: bands of plausibility, and what one token is worth",
    ),
    "arabic-speech-corpus": Corpus(
        "Arabic Speech Corpus (N. Halabi)",
        "https://en.arabicspeechcorpus.com/",
        "CC BY 4.0",
        "one speaker of Levantine Arabic, studio quality, phoneme labels with emphatic consonants as TextGrids",
        archive="https://en.arabicspeechcorpus.com/arabic-speech-corpus.zip",
    ),
    "common-voice-ar": Corpus(
        "Common Voice, Arabic (Mozilla)",
        "https://commonvoice.mozilla.org/ar/datasets",
        "CC0 1.0",
        "many speakers, read sentences, no phoneme labels",
    ),
    "hillenbrand": Corpus(
        "American English vowels (Hillenbrand and others, 1995)",
        "https://homepages.wmich.edu/~hillenbr/voweldata.html",
        "free for research",
        "139 speakers with hand-measured formants: a test of a tracker on real voices",
    ),
    "usc-timit": Corpus(
        "USC-TIMIT, real-time magnetic resonance films of the vocal tract",
        "https://sail.usc.edu/span/usc-timit/",
        "free for research",
        "films of ten speakers of American English: an open set of films of the tract (MRI, not x-ray)",
    ),
}


def corpus(name: str) -> Corpus:
    """Return an entry of the registry.

    Parameters
    ----------
    name : str
        Key in `REGISTRY`.

    Returns
    -------
    Corpus

    Raises
    ------
    ValueError
        Naming what there is.

    Examples
    --------
    >>> name = next(iter(REGISTRY))
    >>> corpus(name) is REGISTRY[name]
    True
    """
    if name not in REGISTRY:
        raise ValueError(f"unknown corpus {name!r}; the registry has {', '.join(REGISTRY)}")
    return REGISTRY[name]


def fetch(name: str, folder: str | Path) -> Path:
    """Download a corpus that offers an archive; off unless the environment variable VOICEWIRE_FETCH is 1.

    Parameters
    ----------
    name : str
        Key in `REGISTRY`.
    folder : str or Path
        Where to save the archive.

    Returns
    -------
    Path
        The archive.

    Raises
    ------
    ValueError
        If fetching is off, the corpus must be got from its page by hand, or the checksum does not match.

    Examples
    --------
    >>> fetch("some-corpus", "downloads")  # doctest: +SKIP
    """
    from urllib.request import urlopen

    entry = corpus(name)
    if os.environ.get(SWITCH) != "1":
        raise ValueError(f"nothing is fetched unless {SWITCH}=1 is set; {entry.name}, {entry.licence}: {entry.url}")
    if not entry.archive:
        raise ValueError(f"{entry.name} is handed out through its page only: {entry.url}")
    target = Path(folder) / entry.archive.rsplit("/", 1)[-1]
    with urlopen(entry.archive) as answer:
        content = answer.read()
    if entry.sha256 and hashlib.sha256(content).hexdigest() != entry.sha256:
        raise ValueError(f"{entry.name}: the archive differs from the one that was checked; nothing was written")
    target.write_bytes(content)
    return target
