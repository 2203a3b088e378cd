"""The questions of the end-to-end MQTT part's exam paper, and the inputs of its assignment's hidden tests."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats
from scipy.integrate import quad

from voicewire.emqtt.counting import messages
from voicewire.mqtt.packets import encode_length
from voicewire_book.kit.questions import Question, Step, shown

__all__ = ["hidden", "questions"]


def questions(rng: np.random.Generator) -> list[Question]:
    """Return the questions, their numbers drawn."""
    return [_length(rng), _count(rng), _link(rng), _in_time(rng), _receipt(rng)]


def _length(rng: np.random.Generator) -> Question:
    value = int(rng.integers(300, 16_000))
    low, high = value % 128, value // 128
    sent = encode_length(value)
    return Question(
        "A length in two bytes",
        f"Which bytes encode a Remaining Length of {value}, in the order in which they are sent? Up to which length do "
        "two bytes reach?",
        (
            Step(2, f"${value} = {high} \\cdot 128 + {low}$: the lower digit goes first."),
            Step(1, f"It says that more follow: {low} + 128 = {low + 128}; then {high}."),
            Step(1, "$128^2 - 1 = 16383$."),
        ),
        float(low + 128 + 256 * high),
        float(sent[0] + 256 * sent[1]),
        8,
    )


def _count(rng: np.random.Generator) -> Question:
    people = int(rng.integers(6, 60))
    total = 4 + 4 * people
    return Question(
        "Who has it, in packets",
        f"A confirmed query in E-MQTT took {total} packets on all connections. How many subscribers confirmed? How "
        "many "
        "packets would the same query take in MQTT with responses at QoS 2? Derive both counts, leg by leg.",
        (
            Step(2, "E-MQTT: four packets between publisher and broker, four between broker and each subscriber: $4 "
                    "+ 4n$."),
            Step(1, f"$n = ({total} - 4)/4 = {people}$."),
            Step(3, "MQTT: four for the query at the publisher, four for it at each subscriber, and each response four "
                    "on its way to the broker and four to the publisher: $4 + 12n$."),
            Step(1, f"{4 + 12 * people} packets."),
        ),
        float(4 + 12 * people),
        float(messages("mqtt-2", people)),
        16,
    )  # fmt: skip


def _link(rng: np.random.Generator) -> Question:
    rate, delay = int(rng.choice([8, 16, 20, 40])), int(rng.choice([20, 30, 50, 80]))
    sizes = [int(rng.integers(15, 60)), 4, int(rng.integers(12, 30))]
    header = 40
    seconds = 2 * delay / 1000 + 8 / (1000 * rate) * sum(size + header for size in sizes)
    passed = 0.0
    for size in sizes:  # one packet after the other, by bits
        passed += (size + header) * 8 / (rate * 1000)
    return Question(
        "A publisher behind its own link",
        f"A publisher is behind a link of {rate} kbit/s, {delay} ms each way, with {header} bytes of TCP and IP around "
        f"each packet. Until it knows, packets of {sizes[0]}, {sizes[1]} and {sizes[2]} bytes pass one after the "
        "other. "
        "How many milliseconds is the end-to-end delay, $T = 2d + \\frac{8}{R}\\sum_i (S_i + h)$? With E-MQTT the "
        "number of packets at this link does not grow with the subscribers: what does that mean for the ratio of the "
        "delays on a slow link, and on a fast one?",
        (
            Step(2, f"The bytes: $\\sum (S_i + h) = {sum(sizes) + 3 * header}$."),
            Step(2, f"$T = {shown(1000 * seconds, 4)}$ ms."),
            Step(2, "Slow: the bytes decide, and MQTT's grow with $n$, so the ratio grows with $n$ towards that of "
                    "the bytes."),
            Step(2, "Fast: $2d$ decides for both, and the ratio goes to 1."),
        ),
        1000 * seconds,
        1000 * (2 * delay / 1000 + passed),
        14,
    )


def _in_time(rng: np.random.Generator) -> Question:
    people, wanted = int(rng.integers(4, 7)), int(rng.integers(2, 4))
    mean, share = int(rng.choice([40, 60, 100, 200])), float(rng.choice([0.8, 0.9, 0.95]))
    chance = sum(math.comb(people, j) * share**j * (1 - share) ** (people - j) for j in range(people - 1, people + 1))
    until = mean * sum(1 / (people - k) for k in range(wanted))

    def late(t: float) -> float:
        return float(stats.binom.cdf(wanted - 1, people, 1 - math.exp(-t / mean)))

    return Question(
        "How long for some of all",
        f"{people} subscribers answer independently. (a) Each is in time with a probability of {share:g}: with which "
        f"probability are at least {people - 1} in time? (b) Their answers take exponentially distributed times with a "
        f"mean of {mean} ms: after how many milliseconds, on average, have {wanted} answered? Derive (b).",
        (
            Step(2, f"(a) All, or all but one: $F^n + n F^{{n-1}}(1-F) = {shown(chance)}$."),
            Step(2, "(b) The first of $n$ comes after $\\mu/n$ on average: $n$ rates add up."),
            Step(2, "An exponential time has no memory, so the next takes $\\mu/(n-1)$ more, and so on."),
            Step(1, f"{shown(until)} ms."),
        ),
        until,
        float(quad(late, 0, 60 * mean, limit=400)[0]),
        14,
    )


def _receipt(rng: np.random.Generator) -> Question:
    near, far = int(rng.integers(3, 30)), int(rng.integers(10, 45)) * 10
    hops = [near, far, far, near]
    return Question(
        "What a receipt proves",
        f"From publisher to broker it takes {near} ms each way, from broker to subscriber {far} ms each way. After how "
        "many milliseconds does the publisher have the PUBACK of a message at QoS 1, and what does it prove? After how "
        "many could it know, at the earliest, that the subscriber's program has the message? Its time is over and no "
        "confirmation has come: what may it say?",
        (
            Step(1, f"PUBACK after {2 * near} ms."),
            Step(2, "It proves that the broker has taken the message over, and nothing of any subscriber."),
            Step(1, f"The message has to get there and word of it back: {2 * (near + far)} ms."),
            Step(2, "Nothing: the subscriber may have the message, and its answer be late or lost."),
        ),
        float(2 * (near + far)),
        float(sum(hops)),
        14,
    )


def hidden(rng: np.random.Generator) -> dict[str, list[tuple[str, str]]]:
    """Return calls with which an assignment's hidden tests try the functions that it asks for."""
    lengths = [int(2 ** rng.uniform(0, 28)) - 1 for _ in range(6)]
    queries = [(int(rng.integers(2, 200)), int(rng.integers(0, 3))) for _ in range(5)]
    words = ["room", "lamp", "door", "", "hall"]
    topics = ["/".join(rng.choice(words, int(rng.integers(1, 5)))) or "room" for _ in range(8)]
    filters = []
    for topic in topics:  # some that match, some that nearly do
        levels = topic.split("/")
        levels[int(rng.integers(len(levels)))] = str(rng.choice(["+", "lamp"]))
        filters.append("/".join(levels) + ("/#" if rng.random() < 0.4 else ""))
    crowds = [[str(c) for c in rng.choice(list("abcdef"), 9)] for _ in "1234"]
    needs = [(int(rng.integers(0, 4)), [str(c) for c in rng.choice(list("abcdef"), 3)]) for _ in crowds]
    return {
        "q1-test": [(f"bytes(encode_length({n}))", "") for n in lengths],
        "q2-test": [(f"messages({n}, {qos})", "") for n, qos in queries],
        "q3-test": [(f"matches({f!r}, {t!r})", "") for f in filters[:4] for t in topics[:4]],
        "q4-test": [
            (f"(lambda hold: [hold.acknowledge(c) for c in {crowd}])(Hold({need}, {named}))", "")
            for crowd, (need, named) in zip(crowds, needs, strict=True)
        ],
    }
