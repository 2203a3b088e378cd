"""Topic names, topic filters, and a tree that finds the subscribers of a topic (MQTT 3.1.1, section 4.7)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

from voicewire.mqtt.errors import MalformedError

__all__ = ["SubscriptionTree", "check_filter", "check_name", "matches"]

MAX_LEVELS = 200
"""Deepest topic that the broker takes, name or filter: one of 65 535 slashes would cost megabytes, and time."""
LIMITS, WHY = "$SYS/broker/limits", "$SYS/broker/why/"
"""What a client subscribes to to ask our broker for its limits, and, with a filter behind it, why that is refused."""
FOREIGN = {
    "$share": "a shared subscription", "$queue": "a shared subscription", "$exclusive": "an exclusive subscription",
}  # fmt: skip
"""First levels that other brokers take for no part of the topic: messages would never match such a filter here."""

T = TypeVar("T")


def check_name(topic: str) -> str:
    """Say whether a topic may be published to.

    Parameters
    ----------
    topic : str
        Its name.

    Returns
    -------
    str
        The same.

    Raises
    ------
    MalformedError
        If it is empty, too long, or holds a wildcard or a null character.

    Examples
    --------
    >>> check_name("sport/+")
    Traceback (most recent call last):
    ...
    voicewire.mqtt.errors.MalformedError: wildcard in topic name 'sport/+' [MQTT-3.3.2-2]
    """
    if not topic:
        raise MalformedError("empty topic name [MQTT-4.7.3-1]")
    if "+" in topic or "#" in topic:
        raise MalformedError(f"wildcard in topic name {topic[:40]!r} [MQTT-3.3.2-2]")
    return _check_text(topic)


def check_filter(pattern: str) -> str:
    """Say whether a topic filter may be subscribed to.

    Parameters
    ----------
    pattern : str
        The filter.

    Returns
    -------
    str
        The same.

    Raises
    ------
    MalformedError
        If it is empty, too long, or a wildcard does not stand alone in its level, or `#` is not last.

    Examples
    --------
    >>> check_filter("sport/+/#")
    'sport/+/#'
    >>> check_filter("sport+")
    Traceback (most recent call last):
    ...
    voicewire.mqtt.errors.MalformedError: '+' beside other characters in 'sport+' [MQTT-4.7.1-3]
    """
    if not pattern:
        raise MalformedError("empty topic filter [MQTT-4.7.3-1]")
    if "#" in pattern or "+" in pattern:
        levels = pattern.split("/")
        for i, level in enumerate(levels):
            if "#" in level and (level != "#" or i != len(levels) - 1):
                raise MalformedError(f"'#' inside topic filter {pattern[:40]!r} [MQTT-4.7.1-2]")
            if "+" in level and level != "+":
                raise MalformedError(f"'+' beside other characters in {pattern[:40]!r} [MQTT-4.7.1-3]")
    return _check_text(pattern)


def _check_text(text: str) -> str:
    if "\0" in text:
        raise MalformedError("null character in a topic [MQTT-4.7.3-2]")
    if len(text) > 16383 and len(text.encode()) > 65535:
        raise MalformedError("topic longer than 65535 bytes [MQTT-4.7.3-3]")
    return text


def matches(pattern: str, topic: str) -> bool:
    """Does the topic filter `pattern` match the topic name `topic` (section 4.7)?

    Parameters
    ----------
    pattern : str
        A filter, perhaps with wildcards.
    topic : str
        A name.

    Returns
    -------
    bool
        Whether a subscriber of the one gets messages on the other.

    Examples
    --------
    >>> matches("sport/+/player1", "sport/tennis/player1"), matches("#", "$SYS/uptime")
    (True, False)
    """
    if topic.startswith("$") and pattern[:1] in "+#":
        return False  # [MQTT-4.7.2-1]
    wanted, given = pattern.split("/"), topic.split("/")
    for i, level in enumerate(wanted):
        if level == "#":
            return True
        if i >= len(given) or (level != "+" and level != given[i]):
            return False
    return len(wanted) == len(given)


class _Node(Generic[T]):
    __slots__ = ("children", "subscribers")

    def __init__(self) -> None:
        self.children: dict[str, _Node[T]] = {}
        self.subscribers: dict[T, int] | None = None


class SubscriptionTree(Generic[T]):
    """Who subscribes to what, one tree level for each topic level.

    Attributes
    ----------
    count : int
        Subscriptions in it.

    Examples
    --------
    >>> tree = SubscriptionTree[str]()
    >>> tree.add("a/+", "ann", 1); tree.add("a/#", "ann", 2); tree.add("b", "bob", 0)
    >>> tree.match("a/b")
    {'ann': 2}
    """

    def __init__(self) -> None:
        self._root: _Node[T] = _Node()
        self.count = 0

    def add(self, pattern: str, subscriber: T, qos: int) -> None:
        """Enter or replace one subscription.

        Parameters
        ----------
        pattern : str
            Topic filter.
        subscriber : hashable
            Who.
        qos : int
            As granted.
        """
        node = self._root
        for level in pattern.split("/"):
            child = node.children.get(level)
            if child is None:
                child = node.children[level] = _Node()
            node = child
        if node.subscribers is None:
            node.subscribers = {}
        self.count += subscriber not in node.subscribers
        node.subscribers[subscriber] = qos

    def remove(self, pattern: str, subscriber: T) -> None:
        """Take one subscription out; branches left empty are cut off.

        Parameters
        ----------
        pattern : str
            Topic filter.
        subscriber : hashable
            Who.
        """
        path: list[tuple[_Node[T], str]] = []
        node = self._root
        for level in pattern.split("/"):
            if level not in node.children:
                return
            path.append((node, level))
            node = node.children[level]
        if not node.subscribers or subscriber not in node.subscribers:
            return
        del node.subscribers[subscriber]
        self.count -= 1
        for parent, level in reversed(path):
            child = parent.children[level]
            if child.children or child.subscribers:
                break
            del parent.children[level]

    def match(self, topic: str) -> dict[T, int]:
        """Find each subscriber of `topic` once [MQTT-3.3.5-1].

        Parameters
        ----------
        topic : str
            Its name.

        Returns
        -------
        dict of subscriber to int
            The greatest QoS granted to each.
        """
        found: dict[T, int] = {}
        for node in self._nodes(topic):
            if node.subscribers:
                for subscriber, qos in node.subscribers.items():
                    if qos > found.get(subscriber, -1):
                        found[subscriber] = qos
        return found

    def _nodes(self, topic: str) -> Iterator[_Node[T]]:
        levels = topic.split("/")
        here = [self._root]
        for depth, level in enumerate(levels):
            following = []
            wild = depth > 0 or not topic.startswith("$")  # [MQTT-4.7.2-1]
            for node in here:
                children = node.children
                if wild:
                    if "#" in children:
                        yield children["#"]
                    if "+" in children:
                        following.append(children["+"])
                if level in children:
                    following.append(children[level])
            if not following:
                return
            here = following
        for node in here:
            yield node
            if "#" in node.children:  # "a/#" matches "a" too
                yield node.children["#"]
