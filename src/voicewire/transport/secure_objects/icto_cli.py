"""``voicewire icto …``: seal, open and inspect cipher objects."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TypeAlias

from voicewire._kit.options import folder, new_file, readable_up_to, text

__all__ = ["register"]

_Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

_KEY, _OBJECT = readable_up_to(2**16), readable_up_to(256 * 2**20)
"""A key is four lines; an object is held in memory."""

_SEALED = """
  voicewire icto key ann; voicewire icto key bob; echo hot > tea
  voicewire icto seal --part a=tea:bob --to bob.pub --owner ann.key --out o"""
"""What comes before an object can be opened, as it is pasted."""


def register(subparsers: _Commands) -> None:
    """Add ``voicewire icto``."""
    icto = subparsers.add_parser("icto", help="seal, open and inspect cipher objects that carry their own rules")
    commands = icto.add_subparsers(title="commands", metavar="COMMAND", required=True)
    key = commands.add_parser(
        "key", help="make NAME.key (private) and NAME.pub", epilog="Example: voicewire icto key ann"
    )
    key.add_argument("name", type=_stem, metavar="NAME", help="path without the ending")
    key.set_defaults(handler=_key)
    seal = commands.add_parser(
        "seal",
        help="seal files into one object",
        description="Each --part is NAME=FILE:READER[,READER…][@[SINCE..][UNTIL]]; SINCE and UNTIL are UTC times "
        "such as 2030-01-31T12:00.",
        epilog=f"Example:{_SEALED}",
    )
    seal.add_argument(
        "--part",
        action="append",
        required=True,
        type=_part,
        metavar="NAME=FILE:READERS[@[SINCE..][UNTIL]]",
        help="a file and who may read it; may be given several times",
    )
    seal.add_argument("--to", action="append", required=True, type=_KEY, metavar="PUB", help="a participant's .pub")
    seal.add_argument("--owner", required=True, type=_KEY, metavar="KEY", help="the owner's .key")
    seal.add_argument(
        "--cipher", choices=("aes-256-gcm", "chacha20-poly1305"), default="aes-256-gcm", help="default: %(default)s"
    )
    seal.add_argument("--out", required=True, type=new_file, metavar="FILE", help="the object to write")
    seal.set_defaults(handler=_seal)
    opened = commands.add_parser(
        "open",
        help="open the parts that the rules give to a reader",
        epilog=f"Example:{_SEALED}\n  voicewire icto open o --reader bob.key --owner ann.pub --out got",
    )
    opened.add_argument("object", type=_OBJECT, help="a sealed object's file")
    opened.add_argument("--reader", required=True, type=_KEY, metavar="KEY", help="the reader's .key")
    opened.add_argument("--owner", required=True, type=_KEY, metavar="PUB", help="who must have sealed it")
    opened.add_argument(
        "--part", type=text, action="append", metavar="NAME", help="default: all that the reader may open"
    )
    opened.add_argument("--out", required=True, type=folder, metavar="FOLDER", help="for one file a part")
    opened.set_defaults(handler=_open)
    look = commands.add_parser(
        "inspect",
        help="print an object's rules and sizes; needs no key",
        epilog=f"Example:{_SEALED}\n  voicewire icto inspect o --owner ann.pub",
    )
    look.add_argument("object", type=_OBJECT, help="a sealed object's file")
    look.add_argument("--owner", type=_KEY, metavar="PUB", help="also check who sealed it")
    look.set_defaults(handler=_inspect)


def _fail(error: Exception | str) -> int:
    print(f"voicewire: {error}", file=sys.stderr)
    return 1


def _key(options: argparse.Namespace) -> int:
    from voicewire.transport.secure_objects.icto import Identity

    private, public = options.name
    if there := next((path for path in options.name if path.exists()), None):
        return _fail(f"{there} is there already, and a key is never overwritten")
    try:
        identity = Identity.create(private.stem)
        identity.save(private)
        identity.public.save(public)
    except OSError as error:
        return _fail(f"{error.filename}: {error.strerror}")
    print(f"{private.name}: keep it secret; {public.name}: give it away")
    return 0


def _part(given: str) -> tuple[str, Path, tuple[str, ...], int | None, int | None]:
    name, equals, rest = given.partition("=")
    file, colon, rule = rest.rpartition(":") if "@" not in rest else _split_until(rest)
    readers, _, times = rule.partition("@")
    if not (name and equals and file and colon and readers):
        raise argparse.ArgumentTypeError(f"{given!r:.200} is not NAME=FILE:READER[,READER…][@[SINCE..][UNTIL]]")
    since, _, until = times.rpartition("..")
    path = _OBJECT(file)
    return name, path, tuple(readers.split(",")), _second("UNTIL", until, given), _second("SINCE", since, given)


def _second(what: str, time: str, given: str) -> int | None:
    """One end of a rule's time, in seconds since 1970 UTC; None where nothing is said."""
    import datetime

    if not time:
        return None
    try:
        moment = datetime.datetime.fromisoformat(time)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{given!r:.200}: {what} must be a time such as 2030-01-31T12:00") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.UTC)
    return int(moment.timestamp())


def _stem(given: str) -> tuple[Path, Path]:
    """The two files of a name."""
    return new_file(text(given) + ".key"), new_file(text(given) + ".pub")


def _split_until(rest: str) -> tuple[str, str, str]:
    """Times may hold colons of its own: split the file off before the ``@``."""
    before, _, until = rest.rpartition("@")
    file, colon, readers = before.rpartition(":")
    return file, colon, f"{readers}@{until}"


def _seal(options: argparse.Namespace) -> int:
    from voicewire.transport.secure_objects.icto import Identity, PublicIdentity, Rule, seal
    from voicewire.transport.secure_objects.icto_format import IctoError

    try:
        chosen = options.part
        if len({name for name, *_ in chosen}) < len(chosen):
            raise IctoError("two parts have the same name")
        sealed = seal(
            {name: file.read_bytes() for name, file, *_ in chosen},
            {name: Rule(readers, until, since) for name, _, readers, until, since in chosen},
            [PublicIdentity.load(p) for p in options.to],
            Identity.load(options.owner),
            cipher=options.cipher,
        )
        options.out.write_bytes(sealed)
    except IctoError as error:
        return _fail(error)
    except OSError as error:
        return _fail(f"{error.filename}: {error.strerror}")
    print(f"{options.out.name}: {len(sealed)} bytes")
    return 0


def _open(options: argparse.Namespace) -> int:
    from voicewire.transport.secure_objects.icto import Identity, PublicIdentity, open_object
    from voicewire.transport.secure_objects.icto_format import IctoError

    try:
        reader, owner = Identity.load(options.reader), PublicIdentity.load(options.owner)
        try:
            parts = open_object(options.object.read_bytes(), reader, owner, parts=options.part)
        except IctoError as error:
            return _fail(f"{options.object.name}: {error}")
        options.out.mkdir(parents=True, exist_ok=True)
        for number, (name, data) in enumerate(parts.items()):
            # a part's name comes from elsewhere: it never becomes a path
            safe = "".join(c if c.isalnum() or c in "-_" else "_" for c in name)[:60]
            (options.out / f"{number:02d}-{safe}").write_bytes(data)
            print(f"{number:02d}-{safe}: {len(data)} bytes")
    except IctoError as error:
        return _fail(error)
    except OSError as error:
        return _fail(f"{error.filename}: {error.strerror}")
    return 0


def _inspect(options: argparse.Namespace) -> int:
    from voicewire.transport.secure_objects.icto import PublicIdentity, inspect
    from voicewire.transport.secure_objects.icto_format import IctoError

    try:
        owner = PublicIdentity.load(options.owner) if options.owner else None
        try:
            rules = inspect(options.object.read_bytes(), owner)
        except IctoError as error:
            return _fail(f"{options.object.name}: {error}")
        print(json.dumps(rules, indent=1, ensure_ascii=False))
    except IctoError as error:
        return _fail(error)
    except OSError as error:
        return _fail(f"{error.filename}: {error.strerror}")
    return 0
