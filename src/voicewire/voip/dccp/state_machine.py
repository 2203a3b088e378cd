"""The state machines of a DCCP client and server, as data (RFC 4340 section 8; the thesis, Figure 2.2)."""

from __future__ import annotations

from dataclasses import dataclass

from voicewire.voip.errors import VoipError

__all__ = ["CLIENT", "SERVER", "TRANSITIONS", "Step", "Transition", "exchange", "walk"]

CLIENT, SERVER = "client", "server"


@dataclass(frozen=True)
class Transition:
    """In `state`, on `event` ("rcv X" a packet, else a call or timer), send `send` (or nothing) and go to `to`.

    Attributes
    ----------
    role : str
        "client" or "server".
    state : str
        State before.
    event : str
        What happens.
    send : str
        Packet type that is sent, or nothing.
    to : str
        State afterwards.

    Examples
    --------
    >>> TRANSITIONS[0].role, TRANSITIONS[0].state
    ('client', 'CLOSED')
    """

    role: str
    state: str
    event: str
    send: str
    to: str


def _rows(role: str, table: str) -> tuple[Transition, ...]:
    rows = (line.split("|") for line in table.strip().splitlines())
    return tuple(Transition(role, *(cell.strip() for cell in row)) for row in rows)


_CLIENT = _rows(
    CLIENT,
    """
    CLOSED   | open            | Request  | REQUEST
    REQUEST  | timeout         | Request  | REQUEST
    REQUEST  | rcv Response    | Ack      | PARTOPEN
    REQUEST  | rcv Reset       |          | CLOSED
    REQUEST  | give up         | Reset    | CLOSED
    PARTOPEN | rcv Response    | Ack      | PARTOPEN
    PARTOPEN | send            | DataAck  | PARTOPEN
    PARTOPEN | rcv Data        |          | OPEN
    PARTOPEN | rcv Ack         |          | OPEN
    PARTOPEN | rcv DataAck     |          | OPEN
    PARTOPEN | close           | Close    | CLOSING
    PARTOPEN | rcv CloseReq    | Close    | CLOSING
    PARTOPEN | rcv Close       | Reset    | CLOSED
    PARTOPEN | rcv Sync        | SyncAck  | PARTOPEN
    PARTOPEN | rcv Reset       |          | TIMEWAIT
    OPEN     | rcv CloseReq    | Close    | CLOSING
""",
)
_SERVER = _rows(
    SERVER,
    """
    CLOSED   | listen          |          | LISTEN
    LISTEN   | rcv Request     | Response | RESPOND
    LISTEN   | close           |          | CLOSED
    RESPOND  | rcv Request     | Response | RESPOND
    RESPOND  | rcv Ack         |          | OPEN
    RESPOND  | rcv DataAck     |          | OPEN
    RESPOND  | rcv Close       | Reset    | CLOSED
    RESPOND  | rcv Reset       |          | CLOSED
    OPEN     | server close    | CloseReq | CLOSEREQ
    CLOSEREQ | timeout         | CloseReq | CLOSEREQ
    CLOSEREQ | rcv Close       | Reset    | CLOSED
    CLOSEREQ | rcv Reset       |          | TIMEWAIT
""",
)
_BOTH = """
    OPEN     | send            | Data     | OPEN
    OPEN     | rcv Data        |          | OPEN
    OPEN     | rcv Ack         |          | OPEN
    OPEN     | rcv DataAck     |          | OPEN
    OPEN     | rcv Sync        | SyncAck  | OPEN
    OPEN     | rcv SyncAck     |          | OPEN
    OPEN     | close           | Close    | CLOSING
    OPEN     | rcv Close       | Reset    | CLOSED
    OPEN     | rcv Reset       |          | TIMEWAIT
    CLOSING  | timeout         | Close    | CLOSING
    CLOSING  | rcv Reset       |          | TIMEWAIT
    CLOSING  | rcv CloseReq    | Close    | CLOSING
    CLOSING  | rcv Close       | Reset    | CLOSED
    TIMEWAIT | 2MSL            |          | CLOSED
"""
#: Every transition, both roles.
TRANSITIONS: tuple[Transition, ...] = _CLIENT + _SERVER + _rows(CLIENT, _BOTH) + _rows(SERVER, _BOTH)
_INDEX = {(t.role, t.state, t.event): t for t in TRANSITIONS}


@dataclass(frozen=True)
class Step:
    """One step of an exchange: who, on what, from which state to which, sending what.

    Attributes
    ----------
    who : str
        "client" or "server".
    event : str
        What happened to it.
    before, after : str
        Its states.
    sends : str
        Packet type that it sent, or nothing.

    Examples
    --------
    >>> step = exchange((SERVER, "listen"))[0]
    >>> step.who, step.before, step.after
    ('server', 'CLOSED', 'LISTEN')
    """

    who: str
    event: str
    before: str
    after: str
    sends: str


def walk(role: str, state: str, event: str) -> Transition:
    """The transition of `role` in `state` on `event`.

    Parameters
    ----------
    role : str
        "client" or "server".
    state : str
        A state of RFC 4340 section 8.
    event : str
        "rcv X" for a packet X, else a call or a timer.

    Returns
    -------
    Transition
        What happens.

    Raises
    ------
    VoipError
        if the machine has none: a real endpoint would answer an unexpected packet with Reset or Sync.

    Examples
    --------
    >>> walk("client", "REQUEST", "rcv Response").to
    'PARTOPEN'
    """
    try:
        return _INDEX[role, state, event]
    except KeyError:
        possible = sorted(t.event for t in TRANSITIONS if t.role == role and t.state == state)
        raise VoipError(f"a {role} in {state} has no transition on {event!r}; it has: {', '.join(possible)}") from None


def exchange(*calls: tuple[str, str]) -> list[Step]:
    """Walk both machines: each call (who, event) happens in turn, and what is sent arrives before the next one.

    Parameters
    ----------
    *calls : tuple of str
        (who, event) of each call of an application.

    Returns
    -------
    list of Step
        What both machines did.

    Examples
    --------
    >>> steps = exchange(("server", "listen"), ("client", "open"))
    >>> [(step.who, step.after) for step in steps][-2:]
    [('client', 'PARTOPEN'), ('server', 'OPEN')]
    """
    state = {CLIENT: "CLOSED", SERVER: "CLOSED"}
    steps: list[Step] = []
    for who, event in calls:
        pending: list[tuple[str, str]] = [(who, event)]
        while pending:
            actor, what = pending.pop(0)
            t = walk(actor, state[actor], what)
            steps.append(Step(actor, what, state[actor], t.to, t.send))
            state[actor] = t.to
            if t.send:
                pending.append((SERVER if actor == CLIENT else CLIENT, f"rcv {t.send}"))
    return steps
