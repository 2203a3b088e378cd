"""Late choice at work: a codec's packets, a packet ring, a link that is too slow for all of them (section 3.5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voicewire._kit import checks
from voicewire.voip.dccp.importance import Candidate, best_set
from voicewire.voip.dccp.packet_ring import PacketRing
from voicewire.voip.errors import VoipError

__all__ = ["late_choice"]


@checks.takes(
    error=VoipError, packets=checks.each(checks.a(bytes)), importance=checks.array(low=0.0),
    rate=checks.number(above=0.0, high=1e12), patience=checks.number(above=0.0, high=1e6),
    frame=checks.number(above=0.0, high=1e6), slots=checks.whole(1, 10**6),
)  # fmt: skip
def late_choice(
    packets: Sequence[bytes],
    importance: ArrayLike,
    rate: float,
    *,
    patience: float = 0.1,
    frame: float = 0.02,
    slots: int = 16,
    choose: bool = True,
) -> NDArray[np.bool_]:
    """Which packets leave in time, through a packet ring and a device of `rate` bytes per second.

    Each time the device is free, the application withdraws the waiting packets that `importance.best_set` leaves
    out, and releases the oldest of the others. Without `choose` the ring is a queue: what was put into it is sent
    in order, late or not, and a packet that finds it full is lost.

    Parameters
    ----------
    packets : sequence of bytes
        The codec's packets with their headers, one a frame.
    importance : array_like of float, shape (packets,)
        Of each packet, 0 or more.
    rate : float
        Bytes per second.
    patience : float
        Seconds after its frame by which a packet must have left.
    frame : float
        Seconds between two packets.
    slots : int
        Of the ring.
    choose : bool
        Withdraw what is least important; else the ring is a queue.

    Returns
    -------
    ndarray of bool, shape (packets,)
        Whether each packet left in time.

    Raises
    ------
    VoipError
        If importances and packets differ in number, or a number isn't above 0.

    Examples
    --------
    A link for every second packet: a queue is late with most, the late choice carries more of what matters.

    >>> packets, weight = [bytes(60)] * 40, np.tile([1, 9], 20)
    >>> chosen = late_choice(packets, weight, 1500.0)
    >>> queued = late_choice(packets, weight, 1500.0, choose=False)
    >>> int(weight[chosen].sum()), int(weight[queued].sum())
    (182, 20)
    """
    weight = np.asarray(importance, dtype=float)
    if weight.shape != (len(packets),):
        raise VoipError(f"{len(packets)} packets need as many importances, not an array of shape {weight.shape}")
    if not (np.isfinite([rate, patience, frame]).all() and min(rate, patience, frame) > 0):
        raise VoipError("rate, patience and time between packets must be above 0")
    ring = PacketRing(slots)
    number: dict[int, int] = {}  # slot index in the ring: which packet
    sent = np.zeros(len(packets), dtype=bool)
    free_at = 0.0

    def best(waiting: list[bytes]) -> list[int]:
        owners = [number[index] for index, _ in ring.waiting()]
        line = [
            Candidate(len(packet), weight[n], n * frame + patience - free_at)
            for n, packet in zip(owners, waiting, strict=True)
        ]
        return best_set(line, rate)

    def serve(until: float) -> None:
        nonlocal free_at
        while free_at < until:
            if choose:
                ring.choose(best)
            rows = ring.waiting()
            if not rows:
                ring.release(ring.user_i)
                ring.kernel_take()  # moves over what was withdrawn
                ring.device_done()
                return
            index, packet = rows[0]
            ring.release(index + 1)
            ring.kernel_take()
            free_at += len(packet) / rate
            ring.device_done()
            n = number[index]
            sent[n] = free_at <= n * frame + patience + 1e-9

    for n, packet in enumerate(packets):
        serve(n * frame)
        free_at = max(free_at, n * frame)
        if ring.free:
            number[ring.put(packet)] = n
    serve(np.inf)
    return sent
