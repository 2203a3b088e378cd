"""Checks of the first two chapters' exercises. Each returns an `exercises.Feedback`, whatever it is given."""

from __future__ import annotations

import math

from voicewire.mqtt.packets import encode_length
from voicewire_book.chapters.transport._student import judged, matched
from voicewire_book.chapters.transport.drawn import HEADER, RARE
from voicewire_book.kit.exercises import Feedback, number, sequence, unanswered

__all__ = [
    "check_causes", "check_counters", "check_effective_samples", "check_encode", "check_header_bytes",
    "check_iterations", "check_kept_open", "check_largest_payload", "check_on_wire", "check_rare",
    "check_remaining_length", "check_tag_key", "check_undercount",
]  # fmt: skip


def check_header_bytes(answer: object, seed: int | None = None) -> Feedback:
    """TCP header bytes of a connection that carries 12,000 bytes in full segments, every second one acknowledged (01).
    """
    return HEADER.own(seed).check(answer)


_LENGTHS = (
    ([1, 156, 171], "the lowest seven bits go first."),
    ([43, 28, 1], "these are the groups of seven bits; a set highest bit has to say that more follow."),
    ([171, 28, 1], "more follows behind the second byte too."),
    ([171, 156], "156 has its highest bit set and so announces one more byte."),
    ([171, 156, 129], "nothing follows the last byte, so its highest bit is not set."),
    ([78, 43], "this is the number with eight bits a byte; here a byte holds seven."),
)


def check_remaining_length(answer: object) -> Feedback:
    """The bytes that encode a Remaining Length of 20,011, lowest first (01)."""
    for wrong, hint in _LENGTHS:
        if not unanswered(answer) and sequence(answer, wrong, 1e-9):
            return Feedback(False, hint)
    said = "20,011 = 43 + 28 · 128 + 1 · 128², and all but the last say: more follows."
    return sequence(answer, [171, 156, 1], 1e-9, right=said)


def check_largest_payload(answer: object) -> Feedback:
    """The largest payload of a QoS 1 PUBLISH on "ict/object" whose Remaining Length takes one byte (01)."""
    return number(
        answer, 113, 1e-9, unit="bytes",
        hints={127: "the topic and the packet identifier are counted by the Remaining Length too.",
               115: "at QoS 1 two bytes identify the packet.",
               117: "topic: ten bytes; what else stands before the payload?",
               111: "the Remaining Length counts what follows it: not the first byte, and not itself.",
               114: "one byte holds seven bits: at most 127, not 128.",
               241: "a byte of length holds seven bits, not eight.",
               129: "what is asked is the payload, not the packet."},
        right="127 - (2 + 10) - 2: from 114 bytes on, the field takes two.",
    )  # fmt: skip


_DIFFER = {
    ("listen", "sack"): "three acknowledgements with one block each make 36 bytes; 40 is another number.",
    ("listen", "offload"): "a card that cuts late lets the capture see fewer headers, not more.",
    ("offload", "listen"): "a socket that counts too few segments gives a positive difference.",
    ("offload", "sack"): "SACK blocks are in the capture: they give a positive difference.",
    ("sack", "listen"): "what the listening socket misses is a SYN-ACK, and that has 40 bytes.",
    ("sack", "offload"): "a card that cuts late lets the capture see fewer headers, not more.",
}


def check_counters(answer: object) -> Feedback:
    """Why a capture and the kernel differ by +40, -480 and +36 header bytes (01)."""
    said = "one SYN-ACK of 40 bytes; 15 headers that a card adds later; three acknowledgements with 12 bytes more."
    return matched(answer, ("listen", "offload", "sack"), _DIFFER, said)


def check_kept_open(answer: object) -> Feedback:
    """A function n -> TCP header bytes of n small messages over one connection, from opening to closing (01)."""
    return judged(
        answer, [(n,) for n in (1, 2, 10, 150)], lambda n: 64 * n + 208,
        [
            (lambda n: 272 * n, "this opens and closes a connection for each message."),
            (lambda n: 64 * n + 240, "the last message needs no acknowledgement of its own: it comes with the FIN's."),
            (lambda n: 32 * n + 240, "each message but the last is acknowledged by a segment of its own."),
            (lambda n: 64 * n + 192, "the SYNs carry 8 bytes more each."),
            (lambda n: 64 * n, "the connection is opened and closed as well."),
            (lambda n: 40 * n + 128, "the timestamps add 12 bytes to each header, also where nothing is negotiated."),
        ],
        "64 bytes a message, 208 for opening and closing: for one message the 272 of the text.",
    )  # fmt: skip


def check_tag_key(answer: object) -> Feedback:
    """A function m1, t1, m2, t2, p -> the secret h of two tags that were made with the same nonce (01)."""

    def right(m1: int, t1: int, m2: int, t2: int, p: int) -> int:
        return (t1 - t2) * pow(m1 - m2, -1, p) % p

    cases = [(3, 3 * h % p + s, m, m * h % p + s, p) for h, s, m, p in
             ((77, 50, 8, 101), (45, 9, 60, 101), (1000, 3, 9, 1009), (58, 20, 2, 61))]
    return judged(
        answer, cases, right,
        [
            (lambda m1, t1, m2, t2, p: (t1 - t2) // (m1 - m2),
             "tags are sums modulo p: to divide is to multiply by the inverse, pow(x, -1, p)."),
            (lambda m1, t1, m2, t2, p: (t1 - t2) // (m1 - m2) % p,
             "a remainder taken behind an ordinary division is too late: use the inverse, pow(x, -1, p)."),
            (lambda m1, t1, m2, t2, p: (t1 - t2) / (m1 - m2),
             "h is a whole number: use the inverse modulo p, pow(x, -1, p)."),
            (lambda m1, t1, m2, t2, p: t1 * pow(m1, -1, p) % p,
             "s is still in the tag: only the difference of both is free of it."),
            (lambda m1, t1, m2, t2, p: (t1 - t2) * pow(m2 - m1, -1, p) % p,
             "one of the two differences is the other way round."),
            (lambda m1, t1, m2, t2, p: (t1 - t2) * pow(m1 - m2, -1, p),
             "of which numbers is h one? Take the remainder modulo p."),
        ],
        "t1 - t2 = (m1 - m2) h modulo p, and s is gone: so a nonce is used once.",
    )  # fmt: skip


def check_encode(answer: object) -> Feedback:
    """A function value -> the bytes that encode it as a Remaining Length (01)."""
    return judged(
        answer, [(n,) for n in (0, 1, 127, 128, 300, 16_383, 16_384, 268_435_455)], lambda n: list(encode_length(n)),
        [
            (lambda n: [n], "a byte holds seven bits: from 128 on it takes more than one."),
            (lambda n: list(encode_length(n))[::-1], "the lowest seven bits go first."),
            (lambda n: [b & 127 for b in encode_length(n)], "nothing says that more follow: set the highest bit."),
            (lambda n: [b | 128 for b in encode_length(n)], "the highest bit of the last byte stays clear."),
            (lambda n: list(encode_length(n)) if n else [], "zero takes a byte as well."),
        ],
        "from one to four bytes, and zero takes one too.",
    )  # fmt: skip


def check_undercount(answer: object) -> Feedback:
    """Header bytes that a capture above a card's segmentation misses, of 20,000 bytes (02)."""
    return number(
        answer, 416, 1e-9, unit="bytes",
        hints={448: "the capture did see one of them.",
               13: "so many segments are missed; how many header bytes is that?",
               14: "so many segments leave the card; one of them was seen, and header bytes are asked.",
               384: "the last segment is short, and a segment all the same.",
               260: "with timestamps a header has 32 bytes.", 520: "only SYNs have 40."},
        right="14 segments leave the card, one is seen: 13 headers of 32 bytes are missed.",
    )  # fmt: skip


def check_iterations(answer: object) -> Feedback:
    """A function spread, half, r -> iterations for a half width, at the normal quantile and geometric memory (02)."""
    def many(spread: float, half: float, r: float) -> float:
        return (1.96 * spread / half) ** 2 * (1 + r) / (1 - r)

    return judged(
        answer, [(0.5, 0.005, 0.0), (0.5, 0.005, 0.5), (0.3, 0.002, 0.8), (1.0, 0.02, 0.25)], many,
        [
            (lambda c, h, r: (1.96 * c / h) ** 2, "right for independent samples; what does the memory r take away?"),
            (lambda c, h, r: (1.96 * c / h) ** 2 * (1 - r) / (1 + r), "memory asks for more samples, not for fewer."),
            (lambda c, h, r: 1.96 * c / h * (1 + r) / (1 - r), "the width falls with the square root of n: square it."),
            (lambda c, h, r: many(c, h, r) * 4, "the half width is asked, not the whole."),
            (lambda c, h, r: (1.96 * c / h * (1 + r) / (1 - r)) ** 2,
             "the memory's factor stands beside n, not in the square."),
            (lambda c, h, r: (1.96 * c / h) ** 2 / (1 - r), "each lag counts on both sides: 1 + 2 (r + r² + …)."),
            (lambda c, h, r: (c / h) ** 2 * (1 + r) / (1 - r), "the quantile is missing."),
        ],
        "(1.96 · spread/half)², times (1 + r)/(1 - r) for the memory.", tolerance=2e-4,
    )  # fmt: skip


def check_effective_samples(answer: object) -> Feedback:
    """What 169 samples are worth by the sum, with correlations 0.4, 0.3, 0.1, 0.05, -0.1, 0.2 (02)."""
    return number(
        answer, 65, 0.002,
        hints={169 * 0.6 / 1.4: "this is the form for neighbours only; 0.3 is not 0.4².",
               169 / 1.8: "each lag counts twice: once forwards, once backwards.",
               169 / 2.9: "do not add all: stop where a pair is no longer positive.",
               169 / 2.7: "0.05 stands in a pair with -0.1, and that pair is no longer positive.",
               169 / 4.6: "ρ₀ = 1 stands in the first pair, and in the denominator as the 1 already.",
               169 / 1.6: "2 · 0.8 is the sum; a 1 stands before it."},
        right="pairs 1.4 and 0.4, then -0.05 ends it: 169/(1 + 2 · 0.8).",
    )  # fmt: skip


def check_rare(answer: object, seed: int | None = None) -> Feedback:
    """Iterations that miss what strikes one message in 400 in at most 5 % of all cases (02)."""
    return RARE.own(seed).check(answer)


_CONFUSED = {
    ("loss", "stall"): "a stall takes 40 ms; a whole second is another timer.",
    ("loss", "warm-up"): "a warm-up comes first and fades.",
    ("loss", "memory"): "one time stands alone: its neighbours do not resemble it.",
    ("stall", "loss"): "all of them are late by the same amount; a loss strikes a few.",
    ("stall", "warm-up"): "the last is as late as the first.",
    ("stall", "memory"): "nothing changes from one to the next; where do 38 ms in each come from?",
    ("warm-up", "loss"): "a timer does not fade over three messages.",
    ("warm-up", "stall"): "the stall's 40 ms do not fade.",
    ("warm-up", "memory"): "it fades from the first one on and does not come back.",
    ("memory", "loss"): "no timer is as short as 1.5 ms.",
    ("memory", "stall"): "a stall takes 40 ms.",
    ("memory", "warm-up"): "the first four are as short as the last four.",
}


def check_causes(answer: object) -> Feedback:
    """Which of loss, stall, warm-up and memory each of four runs shows (02)."""
    said = "a second is a timer, 40 ms in each are a setting, a slow start is a beginning, and a wave is memory."
    return matched(answer, ("loss", "stall", "warm-up", "memory"), _CONFUSED, said)


def check_on_wire(answer: object) -> Feedback:
    """A function lengths, mss -> segments on the wire, from the payloads of the captured ones (02)."""
    def on_wire(lengths: list[int], mss: int) -> int:
        return sum(max(1, math.ceil(n / mss)) for n in lengths)

    return judged(
        answer, [([0, 0], 1448), ([100, 0, 1448], 1448), ([65_536, 0, 2000, 1449], 1448), ([3000], 1000)],
        on_wire,
        [
            (lambda x, m: len(x), "these are the captured ones; the card cuts what is longer than mss."),
            (lambda x, m: sum(math.ceil(n / m) for n in x), "a segment without payload is a segment too."),
            (lambda x, m: math.ceil(sum(x) / m), "each is cut by itself; and what has no payload counts too."),
            (lambda x, m: sum(max(1, n // m) for n in x), "the rest at the end needs a segment of its own."),
            (lambda x, m: sum(n // m + 1 for n in x), "a payload that is cut evenly leaves no rest."),
        ],
        "each captured one is cut by itself, and leaves at least one.",
    )  # fmt: skip
