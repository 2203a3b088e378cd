"""What is sent: bytes made on the spot, a file read from disk, or a cipher object sealed on the spot."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

import numpy as np

from voicewire.transport.secure_objects.icto import Identity, Rule, open_object, seal
from voicewire.transport.secure_objects.icto_format import overhead

__all__ = ["Payload"]

_SENDER, _READER, _PART = "sensor", "clinic", "reading"


class Payload:
    """Makes one cell's payloads and takes them in again; both are part of what is timed, as in the paper.

    Parameters
    ----------
    kind : str
        ``"bytes"``: random bytes, made on the spot. ``"file"``: read from one file, written to another.
        ``"icto"``: random bytes sealed for one reader, opened by the reader.
    size : int
        Bytes before sealing.
    rng : numpy.random.Generator
        Where the bytes come from.

    Examples
    --------
    >>> with Payload("bytes", 10, np.random.default_rng(1)) as payload:
    ...     len(payload.make())
    10
    """

    def __init__(self, kind: str, size: int, rng: np.random.Generator) -> None:
        if size < 1:
            raise ValueError(f"a payload has at least one byte, not {size}")
        self.kind, self.size, self.rng = kind, size, rng
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        makers: dict[str, tuple[Callable[[], bytes], Callable[[bytes], None]]] = {
            "bytes": (lambda: self.rng.bytes(self.size), lambda data: None),
            "file": (self._from_file, self._to_file),
            "icto": (self._seal, self._open),
        }
        if kind not in makers:
            raise ValueError(f"a payload is one of {', '.join(makers)}, not {kind!r}")
        self.make, self.take = makers[kind]
        if kind == "file":
            self._folder = tempfile.TemporaryDirectory(prefix="voicewire-")
            self._source, self._target = Path(self._folder.name) / "source", Path(self._folder.name) / "target"
            self._source.write_bytes(rng.bytes(size))
        if kind == "icto":
            self._owner = Identity.create(_SENDER, rng.bytes)
            self._reader = Identity.create(_READER, rng.bytes)

    @property
    def wire_size(self) -> int:
        """Bytes that are handed to the transport."""
        return self.size + (overhead([_READER], {_PART: 1}) if self.kind == "icto" else 0)

    def _from_file(self) -> bytes:
        return self._source.read_bytes()

    def _to_file(self, data: bytes) -> None:
        self._target.write_bytes(data)

    def _seal(self) -> bytes:
        parts, rules = {_PART: self.rng.bytes(self.size)}, {_PART: Rule((_READER,))}
        return seal(parts, rules, [self._reader.public], self._owner)

    def _open(self, data: bytes) -> None:
        open_object(data, self._reader, self._owner.public)

    def __enter__(self) -> Payload:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._folder is not None:
            self._folder.cleanup()
