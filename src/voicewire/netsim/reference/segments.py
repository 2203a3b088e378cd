"""How TCP makes segments of what a program writes, to read.

Nagle's algorithm (RFC 896; RFC 1122 section 4.2.3.4), and a segment for each
frame; the engine has both behind `nodelay` and `joins` of `netsim.Tcp`. A
stream that is cut within frames (`cuts`) is `TcpSender` with pieces of frames
for frames.
"""

from __future__ import annotations

from voicewire.netsim.reference.tcp_sender import TcpSender

__all__ = ["must_wait"]


def must_wait(frames: int, full: int, out: bool) -> bool:
    """Nagle: less than a full segment waits while something is out."""
    return out and frames < full


class _Written(TcpSender):
    """A sender that lets some of what is written wait."""

    _all = 0  # frames that the program has written

    def ready(self) -> int:
        """Frames that may leave now, and those before them."""
        return self._all

    @property
    def written(self) -> int:
        """What the rules of TCP see."""
        return self.ready()

    @written.setter
    def written(self, frames: int) -> None:
        self._all = frames


class Nagle(_Written):
    """``nodelay=False``: small segments wait for what is out."""

    def ready(self) -> int:
        """Nothing, where `must_wait` says so."""
        full = max(self.mss // self.size, 1)
        out = bool(self.waiting)
        waits = must_wait(self._all - self.nxt, full, out)
        return self.nxt if waits else self._all


class OneFrame(_Written):
    """``joins=False``: each frame has a segment of its own."""

    def ready(self) -> int:
        """The next frame, and no more."""
        return min(self._all, self.nxt + 1)
