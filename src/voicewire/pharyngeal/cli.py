"""``voicewire formants FILE…``: formants of a reader's own recordings. Explained in notebook ``02_formants``."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from voicewire._kit import sheets
from voicewire._kit.options import new_file, number, print_json, readable_or_folder, readable_up_to, text, whole

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
        description="Measure F1 to F4 at onset and midpoint of labelled vowels, or of whole files, as a table (CSV). "
        "A folder gives a row a label: F1 to F4 at the midpoint, confidence, pitch, intensity.",
        epilog="Example: voicewire formants data/pharyngeal --talker man --figure vowels.png",
    )
    parser.add_argument(
        "files", nargs="+", type=readable_or_folder, metavar="FILE",
        help="sound files (WAV, FLAC, AIFF...), or a folder of them with TextGrids of the same names",
    )  # fmt: skip
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
    parser.add_argument(
        "--certain", type=number(0.0, 1.0), metavar="C", help="of a folder: only labels with a confidence above C"
    )
    parser.add_argument("--figure", type=new_file, metavar="PNG", help="of a folder: draw F1 over F2, labels as text")
    parser.add_argument("--json", action="store_true", help="print a list of objects instead of CSV")
    parser.set_defaults(handler=formants)


def formants(options: argparse.Namespace) -> int:
    """Measure the files and print the table; one line on standard error for each file that cannot be measured."""
    if any(file.is_dir() for file in options.files):
        return _of_folders(options)
    if options.certain is not None or options.figure:
        print("voicewire formants: --certain and --figure go with a folder", file=sys.stderr)
        return 2
    grids = options.textgrid or [None] * len(options.files)
    if len(grids) != len(options.files):
        print("voicewire formants: give one --textgrid for each sound, or none", file=sys.stderr)
        return 2
    if options.tier and not options.textgrid:
        print("voicewire formants: --tier names a tier of a --textgrid, and none is given", file=sys.stderr)
        return 2
    if options.talker and (options.tracker or options.trajectory or (options.ceiling, options.count) != (5000.0, 5)):
        print("voicewire formants: --talker chooses tracker, points, ceiling, count; leave them out", file=sys.stderr)
        return 2
    from voicewire.pharyngeal import formant_plausibility, formant_tables
    from voicewire.pharyngeal import formants as trackers

    try:
        settings = trackers.Settings(ceiling=options.ceiling, count=options.count)
    except ValueError as error:
        print(f"voicewire formants: {error}", file=sys.stderr)
        return 2
    failed, header = False, True
    rows: list[dict[Any, Any]] = []
    for file, grid in zip(options.files, grids, strict=True):
        notes: list[str] = []
        try:
            recording, _, intervals = formant_tables.labelled(
                file, grid, notes, tier=options.tier, channel=options.channel
            )
            if options.talker:
                table = formant_plausibility.answers(recording, intervals, options.talker)
            else:
                table = trackers.measure(
                    recording, intervals, options.tracker or ["praat"], settings, trajectory=options.trajectory
                )
        except (ValueError, OSError) as error:
            notes.append(str(error))
            failed, table = True, None
        for note in notes:
            print(f"voicewire formants: {note}", file=sys.stderr)
        if table is None:
            continue
        if options.json:
            rows += table.to_dict("records")
            continue
        _guarded_labels(table)
        print(sheets.to_csv(table, index=False, header=header, float_format="%.4f"), end="")
        header = False
    if options.json:
        print_json(rows)
    return 1 if failed else 0


def _of_folders(options: argparse.Namespace) -> int:
    """Measure folders of sounds and TextGrids, a row a label; what is odd or passed over goes to standard error."""
    if not all(file.is_dir() for file in options.files):
        print("voicewire formants: name files or folders, not both", file=sys.stderr)
        return 2
    if options.textgrid or options.tracker or options.trajectory or (options.ceiling, options.count) != (5000.0, 5):
        print(
            "voicewire formants: a folder has its own TextGrids, and tracker, points, ceiling and count are chosen; "
            "leave them out", file=sys.stderr,
        )  # fmt: skip
        return 2
    import warnings

    import pandas as pd

    from voicewire.pharyngeal import formant_tables

    tables, failed = [], False
    for folder in options.files:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                table = formant_tables.formants(
                    folder, tier=options.tier, talker=options.talker or "any", channel=options.channel,
                    certain=options.certain,
                )  # fmt: skip
        except (ValueError, OSError) as error:
            print(f"voicewire formants: {error}", file=sys.stderr)
            failed = True
            continue
        for note in table.attrs["notes"]:
            print(f"voicewire formants: {note}", file=sys.stderr)
        failed |= table.attrs["failed"] > 0
        tables.append(table)
    if tables:
        whole_table = pd.concat(tables, ignore_index=True)
        if options.json:
            print_json(whole_table.to_dict("records"))
        else:
            _guarded_labels(whole_table)
            print(sheets.to_csv(whole_table, index=False, float_format="%.4f"), end="")
        if options.figure:
            formant_tables.figure(whole_table, options.figure)
    return 1 if failed else 0


def _guarded_labels(table: Any) -> None:
    """Say which labels the CSV writes otherwise than the TextGrid has them."""
    changed = [label for label in dict.fromkeys(table["label"]) if sheets.plain(label) != label]
    if changed:
        print(
            f"voicewire formants: an apostrophe stands before each label that a spreadsheet takes for a formula, such "
            f"as {changed[0]!r} ({len(changed)} in all); --json has them as they are", file=sys.stderr,
        )  # fmt: skip
