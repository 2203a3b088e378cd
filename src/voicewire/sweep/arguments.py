"""A sweep's options for a command line, which load nothing of a sweep."""

from __future__ import annotations

import argparse

__all__ = ["add_sweep_arguments"]


def add_sweep_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--workers N`` and ``--scheduler tcp://…`` to a command; hand both on to `sweep`.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        The command's; it gets two options that exclude each other.

    Examples
    --------
    >>> parser = argparse.ArgumentParser()
    >>> add_sweep_arguments(parser)
    >>> parser.parse_args(["--workers", "2"])
    Namespace(workers=2, scheduler=None)
    """
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--workers", type=_count, metavar="N", help="local processes (default: one for each core)")
    where.add_argument(
        "--scheduler", type=_address, metavar="tcp://HOST:PORT", help="use the workers of this Dask scheduler"
    )


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of processes, at least 1")
    return int(text)


def _address(text: str) -> str:
    if not text.startswith(("tcp://", "tls://")):
        raise argparse.ArgumentTypeError(f"{text!r} is not an address such as tcp://host:8786")
    return text
