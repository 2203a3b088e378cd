"""The exercises by hand of these chapters whose numbers each reader draws: see `voicewire_book.kit.drawn`."""

from __future__ import annotations

import math

import numpy as np

from voicewire_book.kit.drawn import Drawn, Exercise

__all__ = ["HEADER", "LINK", "RARE", "TRIPS"]

_MSS = 1448


def _header(size: int) -> Drawn:
    data = -(-size // _MSS)
    acks = (data - 1) // 2

    def total(n: int) -> float:
        return 32.0 * n + 16

    n = 3 + data + acks + 4
    return Drawn(
        f"N = {size} bytes",
        total(n),
        (
            (total(n - 1), "a last segment that is short is a segment all the same: round up."),
            (total(n - acks), "the acknowledgements are segments too, without payload."),
            (32.0 * n, "the two SYNs carry 8 bytes more each."),
            (total(n + 1), "the last one is acknowledged with the FIN: it needs no segment of its own."),
            (total(3 + data + (data - 1) + 4), "only every second data segment is acknowledged."),
            (20.0 * n + 16, "the timestamps add 12 bytes to each header."),
            (40.0 * n, "only the two SYNs carry the longer options."),
        ),
        f"{size}/{_MSS} = {size / _MSS:.1f}, so {data} segments carry data; {acks} acknowledgements go on the way, the "
        "last one's with the FIN.\n"
        f"Opening takes three, closing four: n = 3 + {data} + {acks} + 4 = {n}.\n"
        f"32 · {n} + 8 · 2 = {total(n):.0f} bytes.",
        unit="bytes",
        right=f"3 + {data} + {acks} + 4 segments of 32 bytes, and 8 more on each SYN.",
        tolerance=1e-9,
    )


HEADER = Exercise("header", (12_000,), lambda rng: (1000 * int(rng.integers(5, 31)),), _header)


def _rare(every: int, percent: int) -> Drawn:
    chance, miss = percent / 100, math.log(1 - 1 / every)
    n = math.ceil(math.log(chance) / miss)
    meets = math.log(1 - chance) / miss
    return Drawn(
        f"one in N = {every}, at most q = {percent} %",
        float(n),
        (
            (float(every), "as many as one in how many: these miss it in 37 % of the cases."),
            (every / chance,
             f"so many meet it {1 / chance:.0f} times on the average; asked is only that they meet it at all."),
            (meets, f"this is {percent} % to meet it; asked is {percent} % to miss it."),
            (float(math.ceil(meets)), f"this is {percent} % to meet it; asked is {percent} % to miss it."),
            (every * (1 - chance),
             f"so many meet it in {100 - 100 * math.exp(miss * every * (1 - chance)):.0f} % of the "
             "cases: the chance to miss it falls as a power."),
            (float(math.ceil(math.log10(chance) / miss)), "the logarithms have different bases."),
            (float(math.ceil(math.log(chance) / math.log(1 - 1 / 150))), "this is for one message in 150."),
        ),
        f"n messages miss it with (1 - 1/{every})^n.\n"
        f"ln {chance:g} = {math.log(chance):.3f} and ln(1 - 1/{every}) = {miss:.6f}: their quotient is "
        f"{math.log(chance) / miss:.1f}.\n"
        f"So from n = {n} on.",
        right=f"(1 - 1/{every})ⁿ ≤ {chance:g} from n = {n} on.",
        tolerance=0.003,
    )


RARE = Exercise(
    "rare", (400, 5), lambda rng: (int(50 * rng.integers(2, 21)), int(rng.choice([1, 2, 5, 10]))), _rare
)


def _trips(near: int, far: int) -> Drawn:
    there, here = near / 2, far / 2
    value = 7 * there + 3 * here
    return Drawn(
        f"A = {near} ms, B = {far} ms",
        value,
        (
            (10 * there, f"three of the ten flights are on the subscriber's link, and its round trip is {far} ms."),
            (5 * (there + here), "seven flights are on one link and three on the other: their mean is not that of the "
             "links."),
            (5 * there + here, "that is QoS 0 or 1: at QoS 2 the broker waits for PUBREL."),
            (5 * there + 3 * here, "the broker passes the message on at PUBREL, not at PUBLISH."),
            (7 * there + here, "the subscriber too waits for PUBREL."),
            (8 * there + 3 * here, "PUBCOMP comes after the broker has passed the message on."),
            (2 * value, "a flight takes half a round trip."),
            (7 * there + 6 * here, "the subscriber's session is open already."),
        ),
        f"SYN, SYN-ACK, CONNECT, CONNACK, PUBLISH, PUBREC, PUBREL: 7 · {near}/2 = {7 * there:g} ms to the broker.\n"
        f"Then PUBLISH, PUBREC and PUBREL behind it: 3 · {far}/2 = {3 * here:g} ms.\n"
        f"Together {value:g} ms.",
        unit="ms",
        right=f"seven flights of {there:g} ms to the broker, three of {here:g} ms behind it.",
        tolerance=0.001,
    )  # fmt: skip


TRIPS = Exercise(
    "trips", (40, 10),
    lambda rng: (int(rng.choice([20, 30, 50, 60, 80, 100])), int(rng.choice([4, 10, 16, 24, 70]))), _trips,
)  # fmt: skip


def _link(objects: int, size: int, session: int) -> Drawn:
    full = -(-size // _MSS)

    def whole(segments: float, header: int = 52) -> float:
        return objects * (size + header * segments) + float(session)

    return Drawn(
        f"k = {objects} objects of S = {size} bytes; opening and closing {session} bytes",
        whole(2 * full),
        (
            (whole(2 * full - 2), f"{size} bytes need {full} segments: the last one is short."),
            (whole(full), "acknowledgements cross the sender's link as well."),
            (whole(2 * full) + (objects - 1) * session, "the session is opened and closed once."),
            (whole(2 * full) - session, "the session's own bytes are missing."),
            (whole(2 * full, 32), "52 bytes a segment: IP's 20 as well as TCP's 32."),
            ((whole(2 * full) - session) / objects + session, f"that is one object; {objects} are sent."),
            (whole(2), f"{size} bytes do not fit one segment of {_MSS}."),
        ),
        f"{size}/{_MSS} = {size / _MSS:.2f}: an object needs {full} segments and as many acknowledgements.\n"
        f"{size} + 52 · {2 * full} = {size + 104 * full} bytes an object, {objects} of them "
        f"{objects * (size + 104 * full)}.\n"
        f"With the session {whole(2 * full):.0f} bytes.",
        unit="bytes",
        right=f"{objects} · ({size} + 52 · ({full} + {full})) + {session}.",
        tolerance=1e-9,
    )


def _drawn_link(rng: np.random.Generator) -> tuple[int, ...]:
    return int(rng.integers(3, 10)), 500 * int(rng.integers(6, 15)), int(rng.choice([320, 380, 400]))


LINK = Exercise("link", (6, 3000, 380), _drawn_link, _link)
