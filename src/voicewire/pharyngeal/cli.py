"""``voicewire formants FILE…``: formants of a reader's own recordings. Explained in notebook ``02_formants``."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from voicewire._kit import sheets
from voicewire._kit.options import number, print_json, readable, readable_up_to, text, whole

__all__ = ["formants", "register"]

_TRACKERS = ("praat", "praat-robust", "lpc")
_TALKERS = ("any", "man", "woman", "child")
_LONGEST_GRID = 64 * 2**20
"""Bytes: hours of speech, labelled phone by phone."""


def register(subparsers: Any) -> None:
    """Add the command ``formants`` to the house's parser."""
    parser = subparsers.add_parser(
        "formants",
        help="measure F1 to F4 of recordings",
        description="Measure F1 to F4 at onset and midpoint of labelled vowels, or of whole files; a tidy table (CSV) "
        "with bandwidths and flags goes to standard output.",
        epilog="Rows flagged 'silent', 'too short' or 'no formant' hold no number; don't trust 'clipped' ones.",
    )
    parser.add_argument("files", nargs="+", type=readable, metavar="FILE", help="sound files (WAV, FLAC, AIFF...)")
    parser.add_argument(
        "--textgrid",
        action="append",
        type=readable_up_to(_LONGEST_GRID),
        metavar="FILE",
        help="TextGrid of the vowels, one a sound, in their order",
    )
    parser.add_argument("--tier", type=text, help="interval tier of the vowels, if the TextGrid has several")
    parser.add_argument("--tracker", action="append", choices=_TRACKERS, help="default praat; may be repeated")
    parser.add_argument(
        "--ceiling",
        type=number(1000.0, 12_000.0),
        default=5000.0,
        metavar="HZ",
        help="5000 (default) for men, 5500 for women",
    )
    parser.add_argument(
        "--count", type=number(2.0, 8.0), default=5, metavar="N", help="formants below the ceiling (default 5)"
    )
    parser.add_argument("--channel", type=whole(0, 1000), metavar="N", help="channel, from 0 (default: mean of all)")
    parser.add_argument(
        "--trajectory", type=whole(0, 10_000), default=0, metavar="N", help="also N points from 10 %% to 90 %%"
    )
    parser.add_argument(
        "--talker",
        choices=_TALKERS,
        help="F1 to F3 at the midpoint, each a number or the reason why not; the ceiling is chosen for each file",
    )
    parser.add_argument("--json", action="store_true", help="print a list of objects instead of CSV")
    parser.set_defaults(handler=formants)


def formants(options: argparse.Namespace) -> int:
    """Measure the files and print the table; one line on standard error for each file that cannot be measured."""
    grids = options.textgrid or [None] * len(options.files)
    if len(grids) != len(options.files):
        print("voicewire formants: give one --textgrid for each sound, or none", file=sys.stderr)
        return 2
    if options.tier and not options.textgrid:
        print("voicewire formants: --tier names a tier of a --textgrid, and none is given", file=sys.stderr)
        return 2
    if options.trajectory < 0:
        print("voicewire formants: --trajectory must not be negative", file=sys.stderr)
        return 2
    if options.talker and (options.tracker or options.trajectory or (options.ceiling, options.count) != (5000.0, 5)):
        print("voicewire formants: --talker chooses tracker, points, ceiling, count; leave them out", file=sys.stderr)
        return 2
    from voicewire.pharyngeal import audio_files, formant_plausibility, textgrid
    from voicewire.pharyngeal import formants as trackers

    try:
        settings = trackers.Settings(ceiling=options.ceiling, count=options.count)
    except ValueError as error:
        print(f"voicewire formants: {error}", file=sys.stderr)
        return 2
    failed, header = False, True
    rows: list[dict[Any, Any]] = []
    for file, grid in zip(options.files, grids, strict=True):
        try:
            recording = audio_files.read(file, options.channel)
            intervals = None
            for note in recording.notes:
                print(f"voicewire formants: {recording.name}: {note}", file=sys.stderr)
            if grid is not None:
                marks = textgrid.read(grid, recording.duration)
                intervals = marks.tier(options.tier)
                for note in marks.notes:
                    print(f"voicewire formants: {marks.name}: {note}", file=sys.stderr)
            if intervals is not None and not intervals:
                raise textgrid.TextGridError(f"{grid}: the tier holds no labelled interval")
            if options.talker:
                table = formant_plausibility.answers(recording, intervals, options.talker)
            else:
                table = trackers.measure(
                    recording, intervals, options.tracker or ["praat"], settings, trajectory=options.trajectory
                )
        except (ValueError, OSError) as error:
            print(f"voicewire formants: {error}", file=sys.stderr)
            failed = True
            continue
        if options.json:
            rows += table.to_dict("records")
            continue
        print(sheets.to_csv(table, index=False, header=header, float_format="%.4f"), end="")
        header = False
    if options.json:
        print_json(rows)
    return 1 if failed else 0
