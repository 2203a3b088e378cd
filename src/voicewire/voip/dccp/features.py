"""How two ends agree on features: Change and Confirm (RFC 4340 section 6).

A feature belongs to one end. Its owner sends Change L and Confirm L, the other end Change R and Confirm R. Lists of
preferences are settled by the server's priority; a number without a list is the owner's to choose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from voicewire._kit import checks
from voicewire.voip.dccp.rules import reconcile
from voicewire.voip.dccp.state_machine import CLIENT, SERVER
from voicewire.voip.errors import VoipError

__all__ = ["FEATURES", "Feature", "FeatureError", "Negotiator", "agree", "settle"]

MANDATORY, CHANGE_L, CONFIRM_L, CHANGE_R, CONFIRM_R = 1, 32, 33, 34, 35  # sections 5.8.2 and 6.1
OPTION_ERROR, MANDATORY_FAILURE = 5, 6  # reset codes, section 5.6
MOST_WAIT = 64_000  # ms; what the timer of a Change backs off to, section 6.6.3
Option = tuple[int, bytes]


@dataclass(frozen=True)
class Feature:
    """A feature of RFC 4340, Table 4.

    Attributes
    ----------
    name : str
        As the RFC has it.
    listed : bool
        Settled by lists, the server's first ("server-priority"); else a number that its owner sets ("non-negotiable").
    initial : int
        Value until anything is agreed.
    most : int
        Highest value.

    Examples
    --------
    >>> FEATURES[1].name, FEATURES[1].initial
    ('CCID', 2)
    """

    name: str
    listed: bool
    initial: int
    most: int = 255


FEATURES = {
    1: Feature("CCID", True, 2),
    2: Feature("Allow Short Seqnos", True, 0, 1),
    3: Feature("Sequence Window", False, 100, (1 << 46) - 1),
    4: Feature("ECN Incapable", True, 0, 1),
    5: Feature("Ack Ratio", False, 2, 65_535),
    6: Feature("Send Ack Vector", True, 0, 1),
    7: Feature("Send NDP Count", True, 0, 1),
    8: Feature("Minimum Checksum Coverage", True, 0, 15),
    9: Feature("Check Data Checksum", True, 0, 1),
}
"""Features by number (section 6.4)."""


class FeatureError(VoipError):
    """An option that ends the connection with a Reset.

    Parameters
    ----------
    code : int
        Of the Reset (section 5.6): 5 or 6.
    why : str
        In a sentence.

    Examples
    --------
    >>> FeatureError(6, "feature 99 is unknown").code
    6
    """

    def __init__(self, code: int, why: str) -> None:
        super().__init__(why)
        self.code = code


def _number(feature: int, raw: bytes) -> int:
    known, value = FEATURES[feature], int.from_bytes(raw, "big")
    if not 1 <= len(raw) <= 6 or value > known.most or (feature == 3 and value < 32):
        raise FeatureError(OPTION_ERROR, f"{known.name} cannot be {value}")
    return value


@dataclass
class Negotiator:
    """One end's features: what is agreed, what it would like, what it has asked for.

    Attributes
    ----------
    role : str
        "client" or "server".
    likes : dict
        (own, feature) to the values that it would take, the best first; own: whose feature it is.
    agreed : dict
        (own, feature) to what both ends know; the initial value if it is not there.
    asked : dict
        Changes that no Confirm has answered: what the RFC calls the state CHANGING (section 6.6.2).
    rtt : int
        Round trip, ms; 200 where none is known (section 3.4).
    timers : dict
        When each of them is sent again, and the wait before that, ms.

    Raises
    ------
    VoipError
        For another role.

    Examples
    --------
    >>> end = Negotiator("server")
    >>> end.value(True, 1)
    2
    """

    role: str
    likes: dict[tuple[bool, int], list[int]] = field(default_factory=dict)
    agreed: dict[tuple[bool, int], int] = field(default_factory=dict)
    asked: dict[tuple[bool, int], list[int]] = field(default_factory=dict)
    rtt: int = 200
    timers: dict[tuple[bool, int], tuple[int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.role not in (CLIENT, SERVER):
            raise VoipError(f"an end is a client or a server, not {self.role!r}")
        checks.whole(1, 10**9)("the round trip in ms", self.rtt, VoipError)

    def value(self, own: bool, feature: int) -> int:
        """Give what is in force.

        Parameters
        ----------
        own : bool
            Of this end's own feature; else of the other's.
        feature : int
            A key of `FEATURES`.

        Returns
        -------
        int
            The value.
        """
        return self.agreed.get((own, feature), FEATURES[feature].initial)

    def change(self, own: bool, feature: int, values: Sequence[int], now: int = 0) -> Option:
        """Ask for a change: Change L for an own feature, Change R for the other's (section 6.1).

        Parameters
        ----------
        own : bool
            Whether it is this end's feature.
        feature : int
            A key of `FEATURES`.
        values : sequence of int
            The best first; a single one where there is no list.
        now : int
            Time, ms.

        Returns
        -------
        tuple
            The option.

        Raises
        ------
        VoipError
            For an unknown feature, no value or one that it cannot have, or a number that is the other's to set.
        """
        if feature not in FEATURES:
            raise VoipError(f"feature {feature} is unknown: 1 to 9 are known")
        known = FEATURES[feature]
        if not known.listed and not (own and len(values) == 1):
            raise VoipError(f"{known.name} is one number, and its owner's to set")
        least = 32 if feature == 3 else 0
        if not values or not all(isinstance(v, int) and least <= v <= known.most for v in values):
            raise VoipError(f"{known.name} takes values from {least} to {known.most}")
        self.likes[own, feature] = self.asked[own, feature] = list(values)
        self.timers[own, feature] = now + self.rtt, self.rtt
        return (CHANGE_L if own else CHANGE_R), _written(feature, values)

    def again(self, now: int) -> list[Option]:
        """Give each Change once more that has waited too long for its Confirm (section 6.6.3).

        The first wait is a round trip, each further one twice as long, up to 64 s. A Confirm is never repeated: the
        Change that is sent again brings a new one.

        Parameters
        ----------
        now : int
            Time, ms.

        Returns
        -------
        list of tuple
            Options, each on a packet with a new sequence number.
        """
        options: list[Option] = []
        for (own, feature), (at, wait) in list(self.timers.items()):
            if now >= at:
                wait = min(2 * wait, max(MOST_WAIT, self.rtt))
                self.timers[own, feature] = now + wait, wait
                options.append((CHANGE_L if own else CHANGE_R, _written(feature, self.asked[own, feature])))
        return options

    @property
    def next_at(self) -> int | None:
        """When `again` has something to send, ms; None: all is confirmed."""
        return min((at for at, _ in self.timers.values()), default=None)

    def on_options(self, options: Sequence[Option]) -> list[Option]:
        """Take in the other end's options, and give the answers to them.

        Parameters
        ----------
        options : sequence of tuple
            Types and values, as `header.decode` gives them.

        Returns
        -------
        list of tuple
            Confirms.

        Raises
        ------
        FeatureError
            For what a Reset must answer: a value that no feature can have, a Confirm that the lists do not give, an
            unknown feature that is mandatory.
        """
        answers, mandatory = [], False
        for kind, raw in options:
            if kind in (CHANGE_L, CHANGE_R):
                answers.append(_answer(self, kind == CHANGE_R, raw, mandatory))
            elif kind in (CONFIRM_L, CONFIRM_R):
                _confirmed(self, kind == CONFIRM_R, raw, mandatory)
            mandatory = kind == MANDATORY
        return answers


def _written(feature: int, values: Sequence[int]) -> bytes:
    if FEATURES[feature].listed:
        return bytes([feature, *values])
    return bytes([feature]) + values[0].to_bytes(6 if feature == 3 else 2, "big")


def _answer(end: Negotiator, own: bool, raw: bytes, mandatory: bool) -> Option:
    """Answer a Change, of this end's feature (own) or of the other's (sections 6.6.2, 6.6.7, 6.6.8)."""
    kind = CONFIRM_L if own else CONFIRM_R
    feature = raw[0] if raw else 0
    if feature not in FEATURES or (own and not FEATURES[feature].listed):
        if mandatory:
            raise FeatureError(MANDATORY_FAILURE, f"feature {feature} cannot be changed so")
        return kind, raw[:1]  # an empty Confirm
    if not FEATURES[feature].listed:
        end.agreed[own, feature] = value = _number(feature, raw[1:])
        return kind, _written(feature, [value])
    theirs, before = [_number(feature, bytes([v])) for v in raw[1:]], end.value(own, feature)
    ours = end.likes.get((own, feature), [before])
    lists = (ours, theirs) if end.role == SERVER else (theirs, ours)
    end.agreed[own, feature] = value = reconcile(*lists, before)
    return kind, bytes([feature, value, *ours])


def _confirmed(end: Negotiator, own: bool, raw: bytes, mandatory: bool) -> None:
    """Take a Confirm; where nothing is asked for it is ignored (section 6.6.2): a Change sent twice may have two.

    A number is its owner's, who alone may ask for it (section 6.3.2); so the other end cannot have been asked.
    """
    feature = raw[0] if raw else 0
    known = FEATURES.get(feature)
    if (own, feature) not in end.asked:
        if known is None and (mandatory or not raw):
            code = MANDATORY_FAILURE if mandatory else OPTION_ERROR
            raise FeatureError(code, f"a Confirm of feature {feature}, which nobody knows")
        if known and not known.listed and not own:
            raise FeatureError(OPTION_ERROR, f"a Confirm of {known.name}, which is the other end's to set")
        return
    ours, known = end.asked[own, feature], FEATURES[feature]
    value, before = None, end.value(own, feature)
    if len(raw) > 1:  # else the other end does not know it: all stays as it is
        value = raw[1] if known.listed else _number(feature, raw[1:])
        lists = (ours, list(raw[2:])) if end.role == SERVER else (list(raw[2:]), ours)
        if value != (reconcile(*lists, before) if known.listed else ours[0]):
            raise FeatureError(OPTION_ERROR, f"{known.name} is confirmed as {value}, which the lists do not give")
    del end.asked[own, feature], end.timers[own, feature]
    end.agreed[own, feature] = before if value is None else value


def agree(client: Sequence[int], server: Sequence[int], feature: int = 1) -> tuple[int, int]:
    """Let a client ask for a feature of the server's, and give what each of both ends then believes.

    Parameters
    ----------
    client, server : sequence of int
        What each would take, the best first.
    feature : int
        A key of `FEATURES` with a list; 1 is the CCID.

    Returns
    -------
    tuple of int
        The client's value and the server's.

    Raises
    ------
    VoipError
        For values that the feature cannot have.

    Examples
    --------
    >>> agree(client=[2, 3], server=[3, 2])
    (3, 3)
    """
    one, other = Negotiator(CLIENT), Negotiator(SERVER)
    other.likes[True, feature] = list(server)
    answers = other.on_options([one.change(False, feature, client)])
    one.on_options(answers)
    return one.value(False, feature), other.value(True, feature)


_CCIDS = checks.each(checks.whole(0, 255))


@checks.takes(
    error=VoipError, client=_CCIDS, server=_CCIDS, lost=checks.each(checks.whole(0, 10**6), least=0),
    rtt=checks.whole(2, 10**6),
)  # fmt: skip
def settle(
    client: Sequence[int], server: Sequence[int], lost: Sequence[int], rtt: int = 100
) -> list[tuple[int, str]]:
    """Let a client ask for a CCID of the server's over a path that loses packets, until both know the value.

    Parameters
    ----------
    client, server : sequence of int
        What each would take, the best first.
    lost : sequence of int
        Packets that are lost, counted from 0 in the order in which both ends send them.
    rtt : int
        Round trip, ms; an even number.

    Returns
    -------
    list of (int, str)
        When each packet left, ms, and what it had; the last line is when the client knows the value.

    Raises
    ------
    VoipError
        For values that no CCID can have.

    Notes
    -----
    RFC 4340 section 6.6.3.

    Examples
    --------
    The Change is lost, then the Confirm: twice the client waits, and longer the second time.

    >>> for at, what in settle([2, 3], [3, 2], lost=[0, 2]):
    ...     print(at, what)
    0 Change R 2 3, lost
    100 Change R 2 3
    150 Confirm L 3 3 2, lost
    300 Change R 2 3
    350 Confirm L 3 3 2
    400 CCID 3
    """
    one, other = Negotiator(CLIENT, rtt=rtt), Negotiator(SERVER, rtt=rtt)
    other.likes[True, 1] = list(server)
    told: list[tuple[int, str]] = []
    flight: list[tuple[int, Negotiator, Option]] = []

    def send(now: int, to: Negotiator, option: Option) -> None:
        gone = len(told) in lost
        named = "Change R" if option[0] == CHANGE_R else "Confirm L"
        told.append((now, f"{named} {' '.join(map(str, option[1][1:]))}{', lost' if gone else ''}"))
        if not gone:
            flight.append((now + rtt // 2, to, option))

    send(0, other, one.change(False, 1, client))
    while one.next_at is not None:
        if flight and flight[0][0] <= one.next_at:
            now, end, option = flight.pop(0)
            for answer in end.on_options([option]):
                send(now, one, answer)
        else:
            now = one.next_at
            for option in one.again(now):
                send(now, other, option)
    return [*told, (now, f"CCID {one.value(False, 1)}")]
