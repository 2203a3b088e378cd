"""The questions of the NFC part's exam paper, and the inputs of its assignment's hidden tests."""

from __future__ import annotations

import math

import numpy as np

from voicewire.nfc.channel import Channel
from voicewire.nfc.link import Link
from voicewire.nfc.session import Session
from voicewire_book.kit.questions import Question, Step, shown

__all__ = ["hidden", "questions"]


def questions(rng: np.random.Generator) -> list[Question]:
    """Return the questions, their numbers drawn."""
    return [_slots(rng), _latency(rng), _losses(rng), _timers(rng), _size(rng)]


def _slots(rng: np.random.Generator) -> Question:
    usable, framing = int(rng.choice([8, 12, 14, 16])), int(rng.integers(2, 9))
    packet, period = int(rng.integers(300, 1400)), int(rng.choice([4, 5, 8]))
    slots = -(-(packet + framing) // usable)
    rate = 8000 * usable / period
    return Question(
        "Slots",
        f"A link has a slot every {period} ms, with {usable} usable bytes in each. Its tunnel adds {framing} bytes of "
        f"framing to an IP packet. How many milliseconds is an IP packet of {packet} bytes on the link? How many bit/s "
        "of usable bytes does the link carry at most?",
        (
            Step(2, f"$({packet} + {framing})/{usable}$, rounded up: {slots} slots."),
            Step(1, f"{slots} slots of {period} ms are {slots * period} ms."),
            Step(1, f"$8 \\cdot {usable}$ bits in each {period} ms: {shown(rate, 4)} bit/s."),
        ),
        float(slots * period),
        1e3 * period / 1e3 * Link(period / 1e3, usable, framing).slots(packet),
        8,
    )


def _latency(rng: np.random.Generator) -> Question:
    mss, segments = int(rng.choice([512, 640, 768, 1024])), int(rng.integers(5, 12))
    size = mss * segments
    data = -(-(mss + 46) // 10)
    total = 15 + segments * data + 5 * segments + 15 + 6 * 8
    return Question(
        "A session without errors",
        "The link of the chapter (10 usable bytes every 10 ms, 6 bytes of framing, headers of 40 bytes) carries "
        f"{size} "
        f"bytes in segments of {mss}. SYN, ACK and FIN take 5 slots each; a response takes 8 slots at either end, and "
        "there is no delay on the Ethernet. The window never stalls the sender. How many seconds does the session "
        "take? Say why there are six responses and not more.",
        (
            Step(2, f"A data packet: $({mss} + 40 + 6)/10$, rounded up: {data} slots; {segments} of them."),
            Step(2, f"Handshake 15 slots, teardown 15, ACKs $5 \\cdot {segments} = {5 * segments}$."),
            Step(2, f"With 48 slots of responses: {total} slots, {total / 100:.2f} s."),
            Step(2, "Six times one end waits while nobody is on the link (after SYN, SYN+ACK, the last data packet, "
                    "the last ACK, FIN, FIN+ACK); every other response passes while a data packet crosses."),
        ),
        float(total),
        float(Session(size, mss, 8192).run().slots),
        16,
    )  # fmt: skip


def _losses(rng: np.random.Generator) -> Question:
    packet, error = int(rng.integers(30, 90)) * 10, int(rng.integers(20, 120)) / 1e6
    lost = 1 - (1 - error) ** (8 * packet)
    again = Channel.random(error).loss(8 * packet)
    return Question(
        "A packet among bit errors",
        f"Of a million bits {round(error * 1e6)} are wrong, independently of each other. A packet has {packet} "
        "bytes. With which probability is it lost? How often is it sent on average until it arrives?",
        (
            Step(2, f"All {8 * packet} bits must be right: $p = 1 - (1 - \\varepsilon)^B = {shown(lost)}$."),
            Step(2, f"The number of attempts is geometric: $1/(1 - p) = {shown(1 / (1 - lost))}$."),
            Step(1, "The attempts are taken as independent of each other, and it is said."),
        ),
        1 / (1 - lost),
        1 / (1 - again),
        10,
    )


def _timers(rng: np.random.Generator) -> Question:
    p, rto = int(rng.integers(8, 43)) / 100, float(rng.choice([1.5, 2.0, 2.5, 4.0]))
    constant, doubling = rto * p / (1 - p), rto * p / (1 - 2 * p)
    series = sum((1 - p) * p**k * rto * (2**k - 1) for k in range(1, 400))
    return Question(
        "Two timers",
        f"Each attempt of a packet fails with the probability $p$, independently. A failure costs a timeout; the "
        f"first is {rto:g} s. Derive the mean time that one packet loses to timeouts, (a) for a timeout that stays "
        f"as it is, (b) for one that doubles with each failure. Give both numbers for $p = {p:g}$, and say from which "
        "$p$ on (b) has no mean.",
        (
            Step(2, "(a) $k$ failures have the probability $(1-p)p^k$ and cost $kR$: $R\\,p/(1-p) = "
                    f"{shown(constant)}$ s."),
            Step(3, "(b) $k$ failures cost $R(2^k - 1)$; the sum of $(1-p)(2p)^k$ less that of $(1-p)p^k$ is "
                    "$R\\,p/(1-2p)$."),
            Step(1, f"The number: {shown(doubling)} s."),
            Step(2, "From $p = 1/2$ on: the terms $(2p)^k$ do not fall. A single rare packet then decides the mean."),
        ),
        doubling,
        series,
        20,
    )  # fmt: skip


def _size(rng: np.random.Generator) -> Question:
    million = int(rng.integers(15, 140))
    error = million / 1e6
    header, alpha = 46, 8 * error
    best = (math.sqrt(header**2 + 4 * header / alpha) - header) / 2
    sizes = np.arange(1, 20_000) / 2.0
    found = float(sizes[np.argmax(sizes / (sizes + header) * np.exp(-alpha * (sizes + header)))])
    return Question(
        "The best size, and what it leaves out",
        f"A packet of $m$ bytes carries $h = {header}$ more, and of a million bits {million} are wrong, each on "
        f"its own. "
        "The share of the sent bytes that are useful and arrive is $m/(m+h)\\cdot e^{-\\alpha(m+h)}$ with "
        "$\\alpha = 8\\varepsilon$. Derive the best $m$. A colleague sets the MSS to this number and finds that a "
        "smaller one is not slower. Name two things on this link that the formula leaves out, and say for each in "
        "which direction it moves the best size.",
        (
            Step(3, "The derivative of the logarithm is zero: $1/m - 1/(m+h) = \\alpha$, so $m^2 + hm - h/\\alpha = "
                    "0$."),
            Step(1, f"$m = {shown(best)}$ bytes."),
            Step(2, "One thing with its direction: a timeout for each loss makes losses dearer (smaller packets); each "
                    "segment brings an ACK and turns on a half-duplex link (larger packets); whole slots make steps."),
            Step(2, "A second thing with its direction."),
        ),
        best,
        found,
        18,
    )  # fmt: skip


def hidden(rng: np.random.Generator) -> dict[str, list[tuple[str, str]]]:
    """Return calls with which an assignment's hidden tests try the functions that it asks for."""
    sizes = [int(n) for n in rng.integers(60, 1500, 6)]
    right = "[slots(n) for n in (40, 44, 540)] == [4, 4, 46]"  # else the function is judged with the student's own
    # whole segments, so that each packet takes longer than a response, as the question says
    segments = [(int(rng.integers(200, 1400)), int(rng.integers(1, 9))) for _ in "123"]
    transfers = [(count * mss, mss, 0.005 * int(rng.integers(0, 12))) for mss, count in segments]
    packets = [(int(rng.integers(40, 1500)), float(rng.integers(1, 90)) * 1e-6) for _ in "123"]
    timers = [(int(rng.integers(1, 49)) / 100, float(rng.integers(1, 9)), bool(k % 2)) for k in range(4)]
    return {
        "t1": [(f"slots({n})", "") for n in sizes],
        "t2": [(f"latency({size}, {mss}, {response:.3f})", right) for size, mss, response in transfers],
        "t3": [(f"loss({n}, {error:.6f})", "") for n, error in packets],
        "t4": [(f"expected_wait({p}, {rto}, {doubling})", "") for p, rto, doubling in timers],
    }
