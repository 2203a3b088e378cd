"""The questions of the voice part's exam paper, and the inputs of its assignment's hidden tests."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq

from voicewire.voip.emodel import codec, r_factor
from voicewire_book.kit.questions import Question, Step, shown

__all__ = ["hidden", "questions"]


def questions(rng: np.random.Generator) -> list[Question]:
    """Return the questions, their numbers drawn."""
    return [_interval(rng), _loss(rng), _events(rng), _quality(rng), _buffer(rng)]


def _interval(rng: np.random.Generator) -> Question:
    history = [int(n) * 10 for n in rng.integers(2, 30, 9)]
    weights = [1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2]
    closed = sum(w * i for w, i in zip(weights, history[1:], strict=True)) / 6
    opened = sum(w * i for w, i in zip(weights, history[:8], strict=True)) / 6
    counts = history[0] > sum(history[4:9]) / 5
    return Question(
        "The mean loss interval",
        f"A receiver has lost nothing for {history[0]} packets. The closed intervals before that have, the newest "
        f"first, {', '.join(map(str, history[1:]))} packets. What is the mean loss interval of TFRC? Give a criterion "
        "for when the open interval counts that needs no second mean.",
        (
            Step(2, f"Without the open interval: {shown(closed, 4)} packets (weights 1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2)."),
            Step(1, f"With it: {shown(opened, 4)}."),
            Step(1, f"The larger one: {shown(max(closed, opened), 4)}."),
            Step(2, "It counts if it is longer than the mean of the intervals 4 to 8: "
                    f"{history[0]} against {shown(sum(history[4:9]) / 5)}."),
        ),
        max(closed, opened),
        opened if counts else closed,
        12,
    )  # fmt: skip


def _loss(rng: np.random.Generator) -> Question:
    delay = int(rng.integers(8, 40)) * 5
    packets = 50 * 2 * delay / 1000
    p = 1.5 / packets**2
    found = float(brentq(lambda q: 1 / math.sqrt(2 * q / 3) - packets, 1e-9, 1))
    return Question(
        "How much loss a voice can bear",
        f"A voice makes 50 packets a second, and the path has a delay of {delay} ms one way. Keep the first term only "
        "of the denominator of the TCP-friendly equation, $X = s/(R\\sqrt{2p/3})$. At which loss event rate does it "
        "allow just what the voice needs? Does the whole equation allow more or less there, and why?",
        (
            Step(1, f"The voice makes $n = 50 \\cdot {2 * delay / 1000:g} = {packets:g}$ packets in a round trip."),
            Step(2, "$1/\\sqrt{2p/3} = n$ gives $p = 3/(2n^2)$."),
            Step(1, f"$p = {shown(p)}$."),
            Step(2, "Less: the second term stands for timeouts, and makes the denominator larger."),
        ),
        p,
        found,
        12,
    )


def _events(rng: np.random.Generator) -> Question:
    share, packets = int(rng.integers(5, 60)) / 1000, int(rng.integers(3, 16))
    rate = share / (1 + packets * share)
    gaps = np.arange(1, 20_000)
    mean = float(np.sum((packets + gaps) * share * (1 - share) ** (gaps - 1)))
    return Question(
        "Losses and loss events",
        f"Each packet is lost with a probability of {share:g}, independently; {packets} packets go out in a round "
        "trip. "
        "A loss event takes in all losses within one round trip of its first. Derive the loss event rate $p$, and give "
        "its value. Which of loss rate and loss event rate does a codec feel, and which the sender?",
        (
            Step(2, f"After the first loss of an event $n = {packets}$ packets belong to it; then it takes $1/q$ "
                    "more on "
                    "average to the next loss."),
            Step(1, "So an event comes every $n + 1/q$ packets: $p = q/(1 + nq)$."),
            Step(1, f"$p = {shown(rate)}$."),
            Step(2, "The codec feels every lost packet, $q$; the sender's rate follows $p$, which is smaller."),
        ),
        rate,
        1 / mean,
        14,
    )  # fmt: skip


def _quality(rng: np.random.Generator) -> Question:
    delay, share = int(rng.integers(19, 34)) * 10, float(rng.choice([0.01, 0.02, 0.03, 0.05]))
    name = str(rng.choice(["G.711", "G.729"]))
    about = codec(name)
    heard = about.lambda1 + about.lambda2 * math.log(1 + about.lambda3 * share)
    waits = 0.024 * delay + 0.11 * (delay - 177.3)
    score = 94.2 - heard - waits
    return Question(
        "What the ear makes of it",
        f"A call with {name} ($\\lambda_1 = {about.lambda1:g}$, $\\lambda_2 = {about.lambda2:g}$, "
        f"$\\lambda_3 = {about.lambda3:g}$) has a mouth-to-ear delay of {delay} ms, and {100 * share:g} % of its "
        "frames "
        "are lost or late. Compute $R = 94.2 - I_e - I_d$ with $I_e = \\lambda_1 + \\lambda_2 \\ln(1 + \\lambda_3 "
        "e)$ and "
        "$I_d = 0.024\\,d + 0.11\\,(d - 177.3)$, the last term for $d > 177.3$ only. A playout buffer that is 20 ms "
        "shorter loses another hundredth of the frames: does it pay?",
        (
            Step(2, f"$I_e = {shown(heard)}$."),
            Step(2, f"$I_d = {shown(waits)}$."),
            Step(1, f"$R = {shown(score)}$."),
            Step(3, _shorter(delay, share, name)),
        ),
        score,
        float(r_factor(delay, share, name)),
        14,
    )


def _shorter(delay: int, share: float, name: str) -> str:
    before, after = float(r_factor(delay, share, name)), float(r_factor(delay - 20, share + 0.01, name))
    word = "It pays" if after > before else "It does not pay"
    return f"{word}: $R$ becomes {shown(after)}. What it saves in $I_d$ is set against what it costs in $I_e$."


def _buffer(rng: np.random.Generator) -> Question:
    places, rate = int(rng.integers(4, 9)), float(rng.choice([5.0, 8.0, 10.0, 12.5, 20.0]))
    leaves = 0.0
    for _ in range(places):  # all places are taken, and one packet leaves at each tick of the rate
        leaves += 1 / rate
    return Question(
        "A buffer that was to delay by little",
        f"A sender has a buffer of {places} packets, each with 20 ms of voice. Its author writes that it delays a "
        "packet "
        f"by at most {places * 20} ms. For how many milliseconds can a packet wait while the transport allows "
        f"{rate:g} packets a second? Which assumption is wrong, and how would you test the author's sentence so that "
        "it "
        "could fail?",
        (
            Step(2, f"The last of {places} packets leaves after ${places}/{rate:g}$ s: {shown(1e3 * places / rate)} "
                    "ms."),
            Step(2, "Packets leave at the rate that is allowed, not at the rate of the voice."),
            Step(2, "A test that can fail: a path whose allowed rate is below 50 packets a second, the wait of each "
                    "packet measured, and the bound fixed before the run."),
        ),
        1e3 * places / rate,
        1e3 * leaves,
        14,
    )  # fmt: skip


def hidden(rng: np.random.Generator) -> dict[str, list[tuple[str, str]]]:
    """Return calls with which an assignment's hidden tests try the functions that it asks for."""
    rates = [
        (int(rng.integers(20, 1460)), int(rng.integers(2, 40)) / 100, int(rng.integers(1, 300)) / 1000) for _ in "123"
    ]
    histories = [[int(n) for n in rng.integers(1, 400, 9)] for _ in "1234"]
    delays = [10 * int(n) + int(m) for n, m in rng.integers((1, 1), (40, 10), (4, 2))]  # none at an edge
    spurts = [[float(n) for n in rng.integers(40, 900, int(rng.integers(3, 9)))] for _ in "123"]
    return {
        "throughput-test": [(f"float(throughput({s}, {rtt}, {p}))", "") for s, rtt, p in rates],
        "interval-test": [(f"float(average({history}))", "") for history in histories],
        "floor-test": [(f"packets_needed({delay})", "") for delay in delays],
        "playout-test": [(f"float(best({spurt}))", "") for spurt in spurts],
    }
