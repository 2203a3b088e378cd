"""Session latency by formula, in slots, for channels without errors (derived in notebook 1).

The formula knows two regimes: stop and wait (the window holds one segment), and a pipelined transfer in which every
full data packet takes at least as long as a response. Between them no short formula exists, and asking for one is an
error: simulate instead.
"""

from dataclasses import dataclass

from voicewire._kit import checks
from voicewire.nfc.errors import ParameterError
from voicewire.nfc.link import HEADER_BYTES, SYN_BYTES
from voicewire.nfc.session import Session

__all__ = ["OutsideRegimeError", "Parts", "latency"]


class OutsideRegimeError(ParameterError):
    """No closed form holds for this session; the message says which condition failed.

    Examples
    --------
    >>> try:
    ...     latency(Session(window=1024))
    ... except OutsideRegimeError as error:
    ...     print(error)
    ...
    a first window of 1 and a limit of 8 segments
    """


@dataclass(frozen=True)
class Parts:
    """The latency of an error-free session, taken apart; all in slots.

    Parameters
    ----------
    handshake, data, acks, teardown : int
        Air time of the control packets, the data and their acknowledgements.
    responses : int
        Response latencies that nothing overlaps: three at each end.
    stalls : int
        Waiting for a window to open.

    Examples
    --------
    >>> latency(Session(mss=1024)).responses
    48
    """

    handshake: int
    data: int
    acks: int
    teardown: int
    responses: int
    stalls: int

    @property
    def total(self) -> int:
        """Sum of the parts."""
        return self.handshake + self.data + self.acks + self.teardown + self.responses + self.stalls


@checks.takes(error=ParameterError, session=checks.a(Session))
def latency(session: Session) -> Parts:
    """Give the latency of an error-free session by formula.

    Parameters
    ----------
    session : Session
        What is asked.

    Returns
    -------
    Parts
        In slots.

    Raises
    ------
    OutsideRegimeError
        If neither regime holds.
    ParameterError
        If the session's channel makes errors, or the appliance is not single-buffered.

    Examples
    --------
    >>> latency(Session(mss=1024)).total, Session(mss=1024).run().slots
    (626, 626)
    """
    if session.channel.kind != 0:
        raise ParameterError("the closed form is for a channel without errors")
    if not session.single_buffer:
        raise ParameterError("the closed form is for a single-buffered appliance (single_buffer=True)")
    data = session.data_slots()
    n, ack = len(data), session.link.slots(HEADER_BYTES)
    syn = session.link.slots(SYN_BYTES)
    near, far = session.near, session.far
    held = min(session.window, session.window_limit) // session.mss  # full segments in the first window
    limit = session.window_limit // session.mss
    tail = session.size - (n - 1) * session.mss  # bytes of the last segment
    first = min(session.window, session.window_limit)
    stalls = 0
    if n == 2 and session.size > first:
        stalls = near + far
    elif n > 2 and limit < 2:
        if session.mss + tail <= session.window_limit:
            raise OutsideRegimeError("the short last segment fits into the window beside a full one")
        stalls = (n - 1) * (near + far)
    elif n > 1:
        stalls = _pipelined(session, n, held, limit, int(data[0]), int(data[-1]), ack)
    return Parts(
        handshake=2 * syn + ack,
        data=int(data.sum()),
        acks=n * ack,
        teardown=3 * ack,
        responses=3 * near + 3 * far,
        stalls=stalls,
    )


def _pipelined(session: Session, n: int, held: int, limit: int, full: int, last: int, ack: int) -> int:
    """Count the slots lost (or, for a short last segment, saved) when at least two segments may be under way."""
    near, far = session.near, session.far
    tail = session.size - (n - 1) * session.mss  # bytes of the last segment
    if full < near:
        raise OutsideRegimeError(f"a data packet ({full} slots) is shorter than a response ({near} slots)")
    # a last packet shorter than a response leaves one acknowledgement inside that response
    saved = ack if last < near else 0
    if n == 2:
        return -saved
    if held >= 3 or (held == 2 and n == 3 and 2 * session.mss + tail <= min(session.window, session.window_limit)):
        if far > full + ack or limit < 3:
            raise OutsideRegimeError(f"the window of {limit} segments does not cover a response of {far} slots")
        return -saved
    if held == 2 and limit >= 4:
        return _one_stall(near, far, full, last, ack, n)
    raise OutsideRegimeError(f"a first window of {held} and a limit of {limit} segments")


def _one_stall(near: int, far: int, full: int, last: int, ack: int, n: int) -> int:
    """Count the slots of the only stall of a window that starts with two segments and may grow to four."""
    if far > full + ack:
        raise OutsideRegimeError(f"a response of {far} slots outlasts a data packet and its acknowledgement")
    if near == 0 < far:
        raise OutsideRegimeError("an appliance that answers at once acknowledges before the second segment goes out")
    saved = ack if last < near and (n > 3 or far > near) else 0
    if far == near:
        return far - saved
    # the response takes so long that the second acknowledgement crosses meanwhile
    return max(far, near + ack) - ack - (saved if n > 3 else 0)
