"""A program whose write calls wait for a place in the send buffer, to read.

Notebook 1 is woven from it; `send_buffer` holds the same for arrays.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

__all__ = ["write_one_by_one"]


def write_one_by_one(
    spoken: Sequence[int], sent: Sequence[int], places: int
) -> list[int]:
    """When each write returns: once its frame has a place in the buffer.

    Notes
    -----
    `send_buffer.write_times` is fast.
    """
    now, buffer, returned = 0, deque[int](), []
    for frame, ready in enumerate(spoken):
        now = max(now, ready)
        while buffer and sent[buffer[0]] <= now:
            buffer.popleft()
        if len(buffer) == places:
            now = sent[buffer.popleft()]  # the write blocks until then
        buffer.append(frame)
        returned.append(now)
    return returned
