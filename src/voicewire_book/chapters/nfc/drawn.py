"""The exercises by hand of these chapters whose numbers each reader draws: see `voicewire_book.kit.drawn`."""

from __future__ import annotations

import math

from voicewire_book.kit.drawn import Drawn, Exercise

__all__ = ["LOSS", "SAVED", "SLOTS"]


def _slots(most: int) -> Drawn:
    usable = 10.0 * most
    return Drawn(
        f"n = {most} slots",
        usable - 46,
        (
            (usable, "the headers are missing: IP and TCP take 40 bytes, the tunnel 6."),
            (usable - 40, "the tunnel's framing takes 6 bytes more."),
            (usable - 6, "IP and TCP have headers, too: 40 bytes."),
            (14.0 * most - 46, "14 bytes are on air, but only 10 of them are usable."),
            (usable - 45, "one byte too many: it takes a slot of its own."),
            (usable - 50, "the last slot is not full yet: framing takes 6 bytes of it, not 10."),
        ),
        f"{most} slots carry {usable:g} usable bytes, so the IP packet has at most {usable:g} - 6 = {usable - 6:g}.\n"
        f"40 of these are headers: {usable - 46:g}.",
        unit="bytes",
        right=f"{usable:g} bytes fit into {most} slots, and 46 of them are headers and framing.",
        tolerance=1e-9,
    )


SLOTS = Exercise("slots", (40,), lambda rng: (int(rng.integers(15, 120)),), _slots)


def _loss(millionths: int, every: int) -> Drawn:
    rate = millionths * 1e-6
    bits = math.floor(math.log(1 - 1 / every) / math.log(1 - rate))
    product, size = 1 / every / rate / 8, bits // 8 - 40
    through = math.floor(math.log(1 / every) / math.log(1 - rate) / 8) - 40
    bound = "the product is an upper bound; the exact probability is 1 - (1 - BER)^B."
    return Drawn(
        f"ε = {rate:g}, one time in {every}",
        float(size),
        (
            (size + 40.0, "the headers are in the packet too: 40 bytes."),
            (size + 1.0, f"rounded up, it is lost a little more often than one time in {every}."),
            (product - 40, bound),
            (product, f"{bound} And 40 bytes are headers."),
            (float(bits), "these are bits, headers included: bytes of payload, please."),
            (float(bits - 40), "these are bits, less 40 bytes: turn the bits into bytes first."),
            (float(bits - 320), "these are bits: bytes of payload, please."),
            (float(through), f"this one gets through one time in {every}."),
        ),
        f"ln(1 - 1/{every}) / ln(1 - {rate:g}) = {math.log(1 - 1 / every) / math.log(1 - rate):.0f} bits at most.\n"
        f"These are {bits // 8} whole bytes; 40 are headers, {size} are left.",
        unit="bytes",
        right=f"{bits} bits survive often enough: {bits // 8} bytes, and 40 of them are headers.",
        tolerance=1e-9,
    )


LOSS = Exercise(
    "loss", (50, 10), lambda rng: (int(rng.choice([10, 20, 25, 40, 50, 80])), int(rng.choice([4, 5, 8, 10, 20]))), _loss
)


def _saved(floor: float, printed: float) -> Drawn:
    tries, rto = 200, 3
    waiting = printed - floor
    odds = waiting / (tries * rto)
    only = f"without a loss it takes {floor:g} s: only the rest is waiting."
    return Drawn(
        f"T = {printed:.2f} s, floor {floor:g} s",
        odds / (1 + odds),
        (
            (odds, "this is p/(1 - p), losses for each packet that gets through: solve it for p."),
            (odds * tries, "this is the number of losses: of how many tries?"),
            (2 * odds / (1 + 2 * odds), "both ends send 100 packets each."),
            (2 * odds, "both ends send 100 packets each; and this would be p/(1 - p)."),
            (printed / (tries * rto), only),
            (printed / (tries * rto + printed), only),
            (0.102454, "this is what the chain predicts; asked is what the printed latency says."),
        ),
        f"Beyond the floor are {waiting:.2f} s, or {waiting / rto:.1f} timeouts of 3 s.\n"
        f"Each of the 2 · 100 packets loses p/(1 - p) = {odds:.4f} on average.\n"
        f"p = {odds:.4f} / {1 + odds:.4f} = {odds / (1 + odds):.3f}.",
        right=f"{waiting:.0f} s beyond the floor are {waiting / rto:.1f} timeouts of 200 packets, and p/(1 - p) = "
        f"{odds:.4f}.",
        tolerance=0.005,
    )


SAVED = Exercise(
    "saved",
    (126.62, 199.60),
    lambda rng: ((floor := int(rng.integers(110, 141))), floor + 600 * int(rng.choice([3, 5, 8, 15, 20, 25])) / 100),
    _saved,
)
