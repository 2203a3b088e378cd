"""How the sender's congestion window grows and is halved, compiled: the rules of `reference.session` by these names."""

from __future__ import annotations

from voicewire._kit._records import rule
from voicewire.nfc.tcp.tcp_session_state import World

__all__: list[str] = []


@rule
def halve(w: World) -> None:
    """A loss sets the threshold to half of what is under way, or of the window."""
    under_way = w.sender.cwnd if w.settings.whole else float(w.sender.flight)
    half = min(w.sender.cwnd, under_way) / 2
    w.sender.ssthresh = max(half, 2.0 * w.settings.mss)


@rule
def count_bytes(w: World, number: int) -> None:
    """The window grows by the bytes before segment `number` (RFC 3465), as in lwIP."""
    s = w.sender
    mss = w.settings.mss
    if s.recovering:
        s.recovering = False
        s.cwnd = s.ssthresh
        s.acked = 0
    acked = 0
    for i in range(s.una, number):
        acked += w.sizes[i]
    if s.cwnd < s.ssthresh:
        s.cwnd += min(acked, mss if s.una < s.careful else 2 * mss)
        return
    s.acked += acked
    if s.acked >= s.cwnd:
        s.acked -= int(s.cwnd)
        s.cwnd += mss


@rule
def widen(w: World, number: int) -> None:
    """Slow start adds a segment an ACK, later a segment a window."""
    s = w.sender
    mss = w.settings.mss
    if w.settings.counting:
        count_bytes(w, number)
    elif s.recovering:
        s.recovering = False
        s.cwnd = s.ssthresh
    elif s.cwnd < s.ssthresh:
        s.cwnd += mss
    else:
        s.cwnd += mss * mss / s.cwnd
