"""What a program can learn from how long its write calls take (thesis, section 3.6).

A full send buffer makes a write wait until a place is free. The places are freed at the allowed rate, so the waiting
tells the rate, without a question to the socket.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voicewire._kit import checks
from voicewire.voip.errors import VoipError

__all__ = ["estimated_rate", "write_times"]

_TIMES = checks.array(low=-1.0, high=1e18)


@checks.takes(error=VoipError, same=("spoken", "sent"), spoken=_TIMES, sent=_TIMES, places=checks.whole(1, 10**6))
def write_times(spoken: ArrayLike, sent: ArrayLike, places: int = 5) -> NDArray[np.int64]:
    """When each write returns, if a full buffer makes it wait.

    A write returns after the one before it, and once the frame `places` before its own has left. The frames leave in
    their order and at the same times as from a buffer without end: whenever a place is freed, the waiting write fills
    it.

    Parameters
    ----------
    spoken : array_like of int, shape (frames,)
        When each frame is ready, ns, not falling.
    sent : array_like of int, shape (frames,)
        When it leaves a buffer without end, ns, not falling and not before it is ready.
    places : int
        Of the buffer.

    Returns
    -------
    ndarray of int64, shape (frames,)
        When each write returns, ns.

    Raises
    ------
    VoipError
        For frames that never left, or left before they were ready or out of order.

    Notes
    -----
    Equal to `blocking_writes.write_one_by_one`.

    Examples
    --------
    Frames every 20 ms leave every 40 ms from a buffer of one:

    >>> write_times([0, 20, 40, 60], [0, 40, 80, 120], places=1).tolist()
    [0, 20, 40, 80]
    """
    ready, left = np.asarray(spoken, dtype=np.int64), np.asarray(sent, dtype=np.int64)
    if left.size and left.min() < 0:
        raise VoipError("a frame never left: its writer would wait for ever")
    if (np.diff(ready) < 0).any() or (np.diff(left) < 0).any() or (left < ready).any():
        raise VoipError("frames leave in their order, and not before they are ready")
    freed = np.zeros_like(left)
    freed[places:] = left[:-places]
    return np.maximum.accumulate(np.maximum(ready, freed))


@checks.takes(
    error=VoipError, same=("spoken", "returned"), spoken=_TIMES, returned=_TIMES, payload=checks.whole(1, 65_000)
)
def estimated_rate(spoken: ArrayLike, returned: ArrayLike, payload: int) -> tuple[float, NDArray[np.int64]]:
    """Estimate the allowed rate from writes that block one after the other.

    A write that begins as the one before it returns, and blocks, waits one whole distance between two packets.

    Parameters
    ----------
    spoken : array_like of int, shape (frames,)
        When each frame is ready, ns.
    returned : array_like of int, shape (frames,)
        When each write returns, ns.
    payload : int
        Bytes of a frame.

    Returns
    -------
    tuple
        Bytes a second over all such writes (NaN without any), and how long each write counts, ns (0: not at all),
        shape (frames,).

    Raises
    ------
    VoipError
        For rows of different lengths.

    Examples
    --------
    >>> rate, counts = estimated_rate([0, 0, 0, 0], [0, 40_000_000, 80_000_000, 120_000_000], payload=20)
    >>> rate, (counts > 0).tolist()
    (500.0, [False, False, True, True])
    """
    ready, back = np.asarray(spoken, dtype=np.int64), np.asarray(returned, dtype=np.int64)
    before = np.r_[np.int64(-1), back[:-1]] if back.size else back
    waits = back - np.maximum(ready, before)
    blocked = waits > 0
    whole = blocked & np.r_[False, blocked[:-1]] & (ready <= before) if back.size else blocked
    counts = np.where(whole, waits, 0)
    total = int(counts.sum())
    return (payload * int(whole.sum()) * 1e9 / total if total else float("nan")), counts
