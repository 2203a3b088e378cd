"""MQTT's rules to read: filters, sizes, all that can become of a message.

The chapter *MQTT in one chapter* (``notebooks/foundations/04_mqtt.ipynb``) is
woven from these pieces. Broker and client of `voicewire.mqtt` keep the same
rules on real sockets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

# Lines as short as the page of the book is wide.
# fmt: off

__all__ = [
    "AFTER",
    "Rules",
    "World",
    "answered",
    "broken",
    "explore",
    "matches",
    "moves",
    "publish_size",
    "received",
    "start",
    "times",
    "torn",
]


def matches(pattern: str, topic: str) -> bool:
    """Whether a topic filter selects a topic.

    Parameters
    ----------
    pattern : str
        Levels between slashes; ``+`` stands for any one level, ``#`` at the
        end for any number of them, none included.
    topic : str
        Without wildcards.

    Returns
    -------
    bool
        As MQTT 3.1.1, section 4.7, has it.

    See Also
    --------
    voicewire.mqtt.topics : the broker's, for many filters at once.

    Examples
    --------
    >>> matches("home/+/bell", "home/hall/bell"), matches("home/#", "home")
    (True, True)
    >>> matches("home/+", "home/hall/bell"), matches("#", "$SYS/uptime")
    (False, False)
    """
    if pattern[0] in "+#" and topic[0] == "$":
        return False
    given = topic.split("/")
    for i, level in enumerate(pattern.split("/")):
        if level == "#":
            return True
        if i == len(given) or level not in ("+", given[i]):
            return False
    return pattern.count("/") == topic.count("/")


def publish_size(topic: str, payload: int, qos: int) -> int:
    """Bytes of a whole PUBLISH.

    Parameters
    ----------
    topic : str
        Counted in UTF-8.
    payload : int
        Bytes.
    qos : int
        0, 1 or 2.

    Returns
    -------
    int
        Fixed header, topic with its length, packet id above QoS 0, payload
        (MQTT 3.1.1, section 3.3).

    Raises
    ------
    ValueError
        If the rest does not fit into four bytes of Remaining Length.

    See Also
    --------
    voicewire.mqtt.packets.encode : the packet itself.

    Examples
    --------
    The topic takes 2 + 14 bytes, the packet id 2, the content 1.

    >>> publish_size("home/hall/bell", 1, qos=1)
    21
    """
    rest = 2 + len(topic.encode()) + 2 * (qos > 0) + payload
    for size in (1, 2, 3, 4):
        if rest < 128**size:
            return 1 + size + rest
    raise ValueError("a Remaining Length has at most four bytes")


class World(NamedTuple):
    """One message between two ends, with all that can matter to it.

    Parameters
    ----------
    sends : str
        What the sender will send again after a break; empty: it is done.
    knows : bool
        Whether the receiver's session holds the packet id.
    there, back : tuple of str
        Packets under way to the receiver, and to the sender.
    passed : int
        How often the receiver has passed the message on.
    breaks : int
        How often the connection has broken.

    Examples
    --------
    >>> World().sends
    'PUBLISH'
    """

    sends: str = "PUBLISH"
    knows: bool = False
    there: tuple[str, ...] = ()
    back: tuple[str, ...] = ()
    passed: int = 0
    breaks: int = 0


@dataclass(frozen=True)
class Rules:
    """What both ends keep to, and what may go wrong.

    Parameters
    ----------
    qos : int
        0, 1 or 2.
    early : bool
        At QoS 2 the receiver passes on at PUBLISH (else at PUBREL).
    breaks : int
        How often the connection may break.
    forgets : str
        Which end may lose its session in a break: "sender", "receiver".
    torn : str
        What the receiver may have done when it crashes between the two:
        "passed" the message on, or "noted" the packet id.

    Examples
    --------
    >>> Rules(qos=2).early
    True
    """

    qos: int
    early: bool = True
    breaks: int = 2
    forgets: str = ""
    torn: str = ""


def start(rules: Rules) -> World:
    """The world in which PUBLISH has just been sent.

    Parameters
    ----------
    rules : Rules
        Only its QoS matters: at 0 the sender is done at once.

    Returns
    -------
    World

    Examples
    --------
    >>> start(Rules(0)).sends, start(Rules(1)).sends
    ('', 'PUBLISH')
    """
    return World("PUBLISH" if rules.qos else "", there=("PUBLISH",))


def received(w: World, rules: Rules) -> World:
    """The receiver takes the next packet, and answers it.

    Parameters
    ----------
    w : World
        With a packet under way to the receiver.
    rules : Rules
        QoS, and when the message is passed on.

    Returns
    -------
    World

    Notes
    -----
    MQTT 3.1.1, section 4.3; chapter ``notebooks/foundations/04_mqtt``.

    Examples
    --------
    >>> w = received(start(Rules(1)), Rules(1))
    >>> w.back, w.passed
    (('PUBACK',), 1)
    """
    knows, new = False, True  # QoS 0 and 1: no memory, each is new
    answer = ("PUBACK",) * rules.qos
    if rules.qos == 2:
        knows = w.there[0] == "PUBLISH"
        new = w.knows != knows and knows == rules.early  # comes, or goes
        answer = ("PUBREC",) if knows else ("PUBCOMP",)
    return w._replace(knows=knows, there=w.there[1:],
                      back=w.back + answer, passed=w.passed + new)


AFTER = {"PUBACK": "", "PUBREC": "PUBREL", "PUBCOMP": ""}


def answered(w: World) -> World:
    """The sender takes the next answer, and goes on.

    Parameters
    ----------
    w : World
        With a packet under way to the sender.

    Returns
    -------
    World

    Notes
    -----
    MQTT 3.1.1, section 4.3; chapter ``notebooks/foundations/04_mqtt``.

    Examples
    --------
    >>> answered(World(knows=True, back=("PUBREC",))).there
    ('PUBREL',)
    """
    sends = AFTER[w.back[0]]
    there = w.there + ((sends,) if sends else ())
    return w._replace(sends=sends, there=there, back=w.back[1:])


def broken(w: World, forgets: str = "") -> World:
    """The connection broke, and both ends have met again.

    Parameters
    ----------
    w : World
        Before the break.
    forgets : str
        Which end has lost its session.

    Returns
    -------
    World
        All that was under way is gone; a sender that is not done sends its
        last packet again.

    Notes
    -----
    MQTT 3.1.1, section 4.4; chapter ``notebooks/foundations/04_mqtt``.

    Examples
    --------
    >>> broken(World(back=("PUBREC",))).there
    ('PUBLISH',)
    """
    sends = "" if forgets == "sender" else w.sends
    knows = w.knows and forgets != "receiver"
    there = (sends,) if sends else ()
    return w._replace(sends=sends, knows=knows, there=there,
                      back=(), breaks=w.breaks + 1)


def moves(w: World, rules: Rules) -> list[World]:
    """All worlds that can come next.

    Parameters
    ----------
    w : World
        Now.
    rules : Rules
        What both ends keep to, and what may go wrong.

    Returns
    -------
    list of World

    Examples
    --------
    Either PUBLISH arrives, or the connection breaks.

    >>> len(moves(start(Rules(2)), Rules(2)))
    2
    """
    found = [received(w, rules)] if w.there else []
    if w.back:
        found.append(answered(w))
    if w.breaks < rules.breaks:
        found.append(broken(w))
        if rules.forgets:
            found.append(broken(w, rules.forgets))
        if rules.torn and w.there:
            found.append(torn(w, rules))
    return found


def explore(rules: Rules) -> set[World]:
    """Every world that can be reached.

    Parameters
    ----------
    rules : Rules
        What both ends keep to, and what may go wrong.

    Returns
    -------
    set of World

    Examples
    --------
    Without a break: sent, arrived, answered.

    >>> len(explore(Rules(1, breaks=0)))
    3
    """
    seen: set[World] = set()
    todo = [start(rules)]
    while todo:
        w = todo.pop()
        if w not in seen:
            seen.add(w)
            todo += moves(w, rules)
    return seen


def times(worlds: set[World]) -> set[int]:
    """How often the message was passed on, in all ends of the story.

    Parameters
    ----------
    worlds : set of World
        From `explore`.

    Returns
    -------
    set of int
        One number for each way in which nothing is left to do.

    Examples
    --------
    >>> times(explore(Rules(0, breaks=1)))
    {0, 1}
    """
    return {w.passed for w in worlds if not (w.sends or w.there or w.back)}


def torn(w: World, rules: Rules) -> World:
    """The receiver crashed between passing on and noting the packet id.

    Parameters
    ----------
    w : World
        With a packet under way to the receiver.
    rules : Rules
        `torn` says which of the two was done.

    Returns
    -------
    World
        After both ends have met again.

    Examples
    --------
    >>> rules = Rules(2, torn="passed")
    >>> w = torn(start(rules), rules)
    >>> w.passed, w.knows
    (1, False)
    """
    done = received(w, rules)
    if rules.torn == "passed":
        return broken(done._replace(knows=w.knows))
    return broken(done._replace(passed=w.passed))
