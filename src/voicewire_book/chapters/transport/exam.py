"""The questions of the transport part's exam paper, and the inputs of its assignment's hidden tests."""

from __future__ import annotations

import math
from itertools import islice

import numpy as np

from voicewire.transport.overhead_formulas import delivery_time, packet_bytes
from voicewire_book.kit.questions import Question, Step, shown

__all__ = ["hidden", "questions"]


def questions(rng: np.random.Generator) -> list[Question]:
    """Return the questions, their numbers drawn."""
    return [_packet(rng), _time(rng), _worth(rng), _nonces(rng), _even(rng)]


def _packet(rng: np.random.Generator) -> Question:
    letters, payload = int(rng.integers(4, 20)), int(rng.integers(150, 3000))
    body = 2 + letters + 2 + payload
    return Question(
        "The bytes of a PUBLISH",
        f"A PUBLISH at QoS 1 has a topic of {letters} letters and a payload of {payload} bytes. How many bytes has the "
        "packet? What is different at QoS 0? From which payload on does the Remaining Length take a byte more?",
        (
            Step(2, f"After the fixed header: $2 + {letters}$ for the topic, 2 for the packet id, {payload}: {body} "
                    "bytes."),
            Step(1, f"One byte of type, two of length: {body + 3} bytes."),
            Step(1, "No packet id at QoS 0: two bytes less."),
            Step(1, f"Three bytes of length from 16384 on: a payload of {16384 - 4 - letters} bytes."),
        ),
        float(body + 3),
        float(packet_bytes(payload, 1, "t" * letters)),
        10,
    )


def _time(rng: np.random.Generator) -> Question:
    rtt, size = int(rng.choice([10, 20, 30, 40, 80])), int(rng.integers(2, 14)) * 100
    whole = 2.5 * rtt + 0.5 * rtt
    found = 1e3 * delivery_time("mqtt", 0, "fresh", rtt=rtt / 1e3, size=size)
    return Question(
        "Over two links",
        f"A publisher opens a connection to a broker, waits for CONNACK, and sends one message of {size} bytes at "
        "QoS 0. "
        f"Both links, publisher to broker and broker to subscriber, have a round trip of {rtt} ms and a high rate; "
        "the subscriber's session has been open for long. After how many milliseconds from the start has the "
        "subscriber's program the message? Draw who sends what. Which one change saves most for the next message?",
        (
            Step(3, "Five flights to the broker: SYN, SYN+ACK, CONNECT (with the ACK), CONNACK, PUBLISH."),
            Step(1, "One more to the subscriber."),
            Step(1, f"Six halves of a round trip: {shown(whole)} ms."),
            Step(2, "Keep the session open: the next message takes two flights, one round trip."),
        ),
        whole,
        found,
        16,
    )


def _worth(rng: np.random.Generator) -> Question:
    samples, memory = int(rng.choice([100, 144, 225, 400])), float(rng.choice([0.2, 0.4, 0.5, 0.6]))
    spread = float(rng.choice([1.5, 2.0, 3.0]))
    worth = samples * (1 - memory) / (1 + memory)
    summed = samples / (1 + 2 * sum(memory**k for k in range(1, 400)))
    half = 1.96 * spread / math.sqrt(worth)
    return Question(
        "What times are worth that remember",
        f"{samples} successive times have a standard deviation of {spread:g} ms; samples that lie $k$ apart are "
        f"correlated by ${memory:g}^k$. How many independent samples are they worth? How wide is half an interval for "
        "the mean, with the quantile 1.96? Somebody uses all of them as if they were independent: what is wrong with "
        "the interval, and what would a check with many repeated runs show?",
        (
            Step(2, f"$1 + 2\\sum r^k = (1+r)/(1-r)$, so $n(1-r)/(1+r) = {shown(worth)}$."),
            Step(1, f"$1.96 \\cdot {spread:g}/\\sqrt{{{shown(worth)}}} = {shown(half)}$ ms."),
            Step(2, f"It is too narrow, by the factor $\\sqrt{{(1+r)/(1-r)}} = {shown(math.sqrt(samples / worth))}$."),
            Step(1, "It would cover the true mean in fewer than 95 % of the runs."),
        ),
        worth,
        summed,
        14,
    )


def _nonces(rng: np.random.Generator) -> Question:
    bits, exponent = int(rng.choice([32, 40, 48, 56, 64])), int(rng.integers(3, 9))
    messages = 2 ** (bits // 2 - exponent)
    chance = messages**2 / 2 ** (bits + 1)
    exact = -math.expm1(math.fsum(math.log1p(-k / 2**bits) for k in range(messages))) if messages < 2**20 else chance
    return Question(
        "A nonce drawn twice",
        f"Nonces of {bits} bits are drawn at random. $2^{{{bits // 2 - exponent}}}$ messages are sealed under one key. "
        "With which probability, about, has some nonce been used twice? What does it give away if a stream cipher "
        "uses one twice? Name a way to choose nonces that cannot repeat, and what it needs.",
        (
            Step(2, f"There are $n(n-1)/2$ pairs, each equal with $2^{{-{bits}}}$: about $n^2/2^{{{bits + 1}}} = "
                    f"{shown(chance)}$."),
            Step(2, "The stream cancels: $c_1 \\oplus c_2 = p_1 \\oplus p_2$, so who knows one plaintext reads the "
                    "other."),
            Step(2, "A counter; it needs memory that outlives a restart, and one owner of the key."),
        ),
        chance,
        exact,
        12,
    )


def _even(rng: np.random.Generator) -> Question:
    further, each = int(rng.integers(60, 110)), int(rng.integers(240, 420))
    first = each + int(rng.integers(200, 900))
    least = (first - further) // (each - further) + 1
    count = next(n for n in range(1, 10_000) if first + further * (n - 1) < each * n)
    return Question(
        "From how many on",
        f"A session costs {first} header bytes with its first message and {further} with each further one; a fresh "
        f"connection costs {each} for each message. From how many messages on does the session cost less? A paper "
        "measures times, finds the session slower, and explains it by its longer headers. How would you test that "
        "explanation, and what would have to come out for it to be refuted?",
        (
            Step(2, f"${first} + {further}(n-1) < {each}\\,n$ gives $n > ({first} - {further})/({each} - {further})$."),
            Step(1, f"From {least} messages on."),
            Step(2, "Compute how long the header bytes take at the rate of the link, and compare with the difference "
                    "of the times."),
            Step(2, "It is refuted if they explain a small share only; the share that counts is fixed beforehand."),
        ),
        float(least),
        float(count),
        14,
    )


def hidden(rng: np.random.Generator) -> dict[str, list[tuple[str, str]]]:
    """Return calls with which an assignment's hidden tests try the functions that it asks for."""
    counts = [(int(rng.integers(4, 60)), int(rng.integers(1, 4)), bool(k % 2)) for k in range(4)]
    sizes = [int(2 ** rng.uniform(0, 21)) for _ in "12345"]
    packets = [("t" * int(rng.integers(1, 30)), size, int(rng.integers(0, 3))) for size in sizes]
    ways = [
        (int(rng.integers(1, 12)), int(rng.integers(1, 4)), int(rng.integers(0, 9000)), int(rng.integers(1, 99)) / 500)
        for _ in "123"
    ]
    walks = ([int(v) for v in np.cumsum(rng.integers(-3, 4, 14))] for _ in range(1000))
    series = list(islice((walk for walk in walks if _no_pair_is_near_zero(walk)), 3))
    return {
        "t1": [(f"header_bytes({n}, {syns}, {stamps})", "") for n, syns, stamps in counts],
        "t2": [(f"publish_bytes({topic!r}, {size}, {qos})", "") for topic, size, qos in packets],
        "t3": [(f"float(least_time({f}, {legs}, {size}, {rtt}, 1e6))", "") for f, legs, size, rtt in ways],
        "t4": [(f"float(worth({samples}))", "") for samples in series],
    }


def _no_pair_is_near_zero(samples: list[int]) -> bool:
    """Whether rounding cannot decide where the sum of autocorrelations stops."""
    d = np.array(samples) - np.mean(samples)
    r = np.array([d[: d.size - k] @ d[k:] for k in range(d.size)])
    return bool(d.any() and np.all(np.abs(r[0:-1:2] + r[1::2]) > 1e-6 * r[0]))
