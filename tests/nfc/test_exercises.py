"""Each check takes right answers in other forms, and tells the usual wrong ones what went wrong."""

import math
import re

import nbformat
import numpy as np
import pytest
from asking import of
from hypothesis import given
from hypothesis import strategies as st

from voicewire.nfc.channel import Channel
from voicewire.nfc.link import Link
from voicewire.nfc.session import RESPONSE_LATENCY, Session
from voicewire_book import paths
from voicewire_book.chapters.nfc.exercises import errors_and_timers, reproduction, slow_link

LINK = Link()
INF = float("inf")


def far(delay):
    return math.ceil((delay + RESPONSE_LATENCY) / 0.01)


def stall(delay):
    return (max(far(delay), 13) - 5) / 100


def stall_by_cases(delay):
    return 0.08 if delay < 0.0539 else np.float64(far(delay) - 5) * 0.01


def window(mss, delay):
    """The rule of the solution: all but two segments outlast the response."""
    return mss * (2 + math.ceil(far(delay) / (LINK.slots(mss + 40) + 5)))


def share(mss, every):
    return mss / (10 * (LINK.slots(mss + 40) + 5 / every))


def slots_of(size, usable=9):
    return math.ceil((size + 6) / usable)


def wait(p, m):
    first = m / 2 if p == 0.5 else p * (1 - (2 * p) ** m) / (1 - 2 * p)
    return first + 2**m * p ** (m + 1) / (1 - p)


def wait_by_series(p, m):
    return sum(p**k * 2 ** min(k - 1, m) for k in range(1, 400))


def to_bad(rate, length, share):
    return rate / share / (1 - rate / share) / length


def wall(bits, length, start=True):
    rates = np.linspace(0.5, 1.2, 20_001) * length * math.log(2) / bits
    lost = 1 - (1 - rates * start) * (1 - rates / (1 - rates) / length) ** (bits - 1)
    return np.interp(0.5, lost, rates)


def best(rate, rto, of=lambda mss: mss + 40, ack=5, whole=True, odds=lambda p: p / (1 - p)):
    """The best size, by the formula of the chapter and not by its function."""
    sizes = np.arange(64, 1461)
    p = 1 - (1 - rate) ** (8.0 * of(sizes))
    each = (-(-(sizes + 46) // 10) + ack) * 0.01 + rto * odds(p)
    count = -(-50_000 // sizes) if whole else 50_000 / sizes
    return int(sizes[np.argmin(count * each)])


RIGHT = [
    (of("nfc-ex-slots"), [354, 354.0, np.int64(354), "354", "354 bytes", [354]]),
    (of("nfc-ex-by-hand"), [4.18, np.float64(4.18), "4.18 s", "4,18", 418 * 0.01]),
    (of("nfc-ex-delay"), [stall, stall_by_cases]),
    (of("nfc-ex-window"), [window, lambda mss, delay: np.int64(window(mss, delay))]),
    (of("nfc-ex-goodput"), [share, lambda mss, every: [share(mss, every)]]),
    (of("nfc-ex-gap"), ["c", "C)", "(c)"]),
    (of("nfc-ex-loss"), [223, "223 bytes", 223.0]),
    (of("nfc-ex-chain"), [to_bad, lambda rate, length, share: rate / length / (share - rate)]),
    (of("nfc-ex-wait"), [wait, wait_by_series, lambda p, m: np.float64(wait(p, m))]),
    (of("nfc-ex-wall"), [wall, lambda bits, length: float(f"{wall(bits, length):.4g}")]),
    (of("nfc-ex-timer"), [2.15, "2.15 s", "2,15", [2.15]]),
    (of("nfc-ex-pauses"), ["b", "(b)", "B"]),
    (of("nfc-ex-saved"), [0.1084, "10.84 %", "0,1084", 0.12163 / 1.12163, "0.108"]),
    (of("nfc-ex-identifiable"), ["b", "B)", "b."]),
    (of("nfc-ex-control"), [[20, 20, 30, 50], "20, 20, 30, 50", np.array([20, 20, 30, 50]), (20.0, 20, 30, 50)]),
    (of("nfc-ex-mss"), [best, lambda rate, rto: np.int64(best(rate, rto))]),
    (of("nfc-ex-checksum"), [lambda size, rate: slots_of(size) * (1 - rate) ** -112]),
    (of("nfc-ex-runs"), [277, 276.6, "277", 2 * (1.96 * 6) ** 2]),
]
WRONG = [
    (of("nfc-ex-slots"), [(400, "headers"), (360, "framing"), (394, "40 bytes"), (514, "10 of them")]),
    (of("nfc-ex-slots"), [(355, "slot of its"), (350, "not full"), ("many", "number")]),
    (of("nfc-ex-by-hand"), [(3.1, "responses"), (3.58, "G', not G"), (4.78, "three responses only")]),
    (of("nfc-ex-by-hand"), [(3.78, "three times"), (4.03, "acknowledgements"), (3.88, "set-up")]),
    (of("nfc-ex-by-hand"), [(4.68, "500 bytes"), (4.15642, "round up")]),
    (
        of("nfc-ex-delay"),
        [
            (lambda d: d, "on top of the delay"),
            (lambda d: far(d) / 100, "crosses during"),
            (lambda d: far(2 * d) / 100, "once, not twice"),
            (lambda d: (far(d) - 5) / 100, "holds the link"),
            (lambda d: max(far(d), 13) / 100, "of the N"),
            (lambda d: max(d + 0.02607, 0.08), "round up"),
            (lambda d: max(far(d), 13) - 5, "in seconds"),
            (0.73, "function itself"),
            (lambda d: 0.08, ""),
        ],
    ),
    (
        of("nfc-ex-window"),
        [
            (lambda mss, delay: 3 * mss, "three segments are enough only"),
            (lambda mss, delay: window(mss, delay) / mss, "in bytes"),
            (lambda mss, delay: 2 * mss, "waits once"),
            (lambda mss, delay: mss, "stop and wait"),
            (lambda mss, delay: window(mss, delay) - mss, "still stalls"),
            (lambda mss, delay: window(mss, delay) + mss, "one segment less"),
        ],
    ),
    (
        of("nfc-ex-goodput"),
        [
            (lambda mss, every: mss / (mss + 40), "half duplex"),
            (lambda mss, every: mss / (mss + 46), "half duplex"),
            (lambda mss, every: mss / (10 * LINK.slots(mss + 40)), "half duplex"),
            (lambda mss, every: share(mss, 1), "several segments"),
            (lambda mss, every: mss / (mss + 46 + 46 / every), "round up"),
            (lambda mss, every: mss / (mss + 40 + 40 / every), "framing"),
            (lambda mss, every: 8000 * share(mss, every), "as a share"),
        ],
    ),
    (of("nfc-ex-gap"), [("a", "once"), ("b", "those before"), ("d", "3 s"), ("e", "none")]),
    (of("nfc-ex-loss"), [(263, "headers"), (224, "more often"), (210, "upper bound"), (250, "upper bound")]),
    (of("nfc-ex-loss"), [(2107, "bits"), (2067, "less 40"), (1787, "bits"), (5716, "gets through")]),
    (
        of("nfc-ex-chain"),
        [
            (lambda e, n, h: e / (n * (1 - e)), "more often"),
            (lambda e, n, h: to_bad(e * h, n, 1), "divide"),
            (lambda e, n, h: e / (n * h), "good state only"),
            (lambda e, n, h: e / h, "share of the bits"),
            (lambda e, n, h: e / (h - e), "leave"),
            (lambda e, n, h: n * e / (h - e), "not the length"),
        ],
    ),
    (
        of("nfc-ex-wait"),
        [
            (lambda p, m: p / (1 - 2 * p), "another tail"),
            (lambda p, m: p / (1 - 2 * p) if p < 0.5 else INF, "another tail"),
            (lambda p, m: p / (1 - p), "constant timeout"),
            (lambda p, m: sum(p**k * 2 ** (k - 1) for k in range(1, m + 1)), "not given up"),
            (lambda p, m: sum(p**k * 2 ** (k - 1) for k in range(1, m + 2)), "not given up"),
            (lambda p, m: wait(p, m) - 2**m * p ** (m + 1) / (1 - p) / 2, "not 2^(m"),
            (lambda p, m: wait(p, m + 1), "one doubling too many"),
            (lambda p, m: 2**m * p / (1 - p), "wait less"),
            (lambda p, m: p * (1 - (2 * p) ** m) / (1 - 2 * p) + 2**m * p ** (m + 1) / (1 - p), "zero by zero"),
            (3, "function"),
            (lambda p, m: None, "return"),
        ],
    ),
    (
        of("nfc-ex-wall"),
        [
            (lambda bits, length: 1 - 0.5 ** (1 / bits), "independent"),
            (lambda bits, length: length * (1 - 0.5 ** (1 / bits)), "exactly"),
            (lambda bits, length: length * math.log(2) / bits, "exactly"),
            (lambda bits, length: wall(bits, length, start=False), "begin in the bad"),
            (lambda bits, length: wall(bits + 1, length), "B − 1"),
            (lambda bits, length: 0.5, "which bit error rate"),
            (lambda bits, length: (1 - 0.5 ** (1 / bits)) / length, "higher rate"),
        ],
    ),
    (of("nfc-ex-timer"), [(2.05, "before that moves"), (0.9875, "four"), (1.0, "floor"), (1.4, "half of itself")]),
    (of("nfc-ex-timer"), [(1.975, "eighth"), (3.9, "another came"), (1.5, "second is missing"), (2150, "milli")]),
    (of("nfc-ex-pauses"), [("a", "second cross"), ("c", "never lost"), ("d", "covers"), ("f", "none")]),
    (of("nfc-ex-saved"), [(0.12163, "solve it"), (24.33, "number of losses"), (0.19567, "both"), (0.24327, "both")]),
    (of("nfc-ex-saved"), [(0.33267, "without a loss"), (0.24963, "without a loss"), (0.10245, "predicts")]),
    (of("nfc-ex-identifiable"), [("a", "same packets"), ("c", "scatter"), ("d", "no packet"), ("e", "none")]),
    (
        of("nfc-ex-control"),
        [
            ([14, 17.5, 28, 46.7], "Eq. 7.4"),
            ([14, 18, 28, 47], "rounded up to slots"),
            ([20, 25, 40, 66.7], "stretch first"),
            ([20, 20, 30, 30], "divide"),
            ([10, 20, 30, 50], "has begun"),
            ([2, 2, 3, 5], "in slots"),
            ([20, 20], "4 items"),
            ([50, 30, 20, 20], "other way round"),
        ],
    ),
    (
        of("nfc-ex-mss"),
        [
            (lambda rate, rto: 1460, "without errors"),
            (lambda rate, rto: best(rate, 3.0), "second argument"),
            (lambda rate, rto: reproduction.expected_bulk(best(rate, rto), rate, rto=rto), "the latency"),
            (lambda rate, rto: best(rate, rto, of=lambda mss: mss), "headers"),
            (lambda rate, rto: best(rate, rto, of=lambda mss: (mss + 40) / 8), "bits"),
            (lambda rate, rto: best(rate, rto, odds=lambda p: p), "lost too"),
            (lambda rate, rto: best(rate, rto, ack=0), "acknowledged"),
            (lambda rate, rto: best(rate, rto, whole=False), "whole turn"),
            (lambda rate, rto: 512, ""),
        ],
    ),
    (
        of("nfc-ex-checksum"),
        [
            (lambda size, rate: slots_of(size, 10) / (1 - rate) ** 112, "one of the ten"),
            (lambda size, rate: (size + 6) / 9 / (1 - rate) ** 112, "round up"),
            (lambda size, rate: slots_of(size - 6) / (1 - rate) ** 112, "framing"),
            (lambda size, rate: slots_of(size) / (1 - rate) ** (8 * size), "only the slot"),
            (lambda size, rate: slots_of(size) / (1 - rate) ** 80, "usable"),
            (lambda size, rate: slots_of(size) / (1 - rate) ** 72, "data alone"),
            (lambda size, rate: slots_of(size) / (1 - rate) ** 14, "bits"),
            (lambda size, rate: slots_of(size) * (2 - (1 - rate) ** 112), "hit again"),
        ],
    ),
    (of("nfc-ex-runs"), [(138.3, "both means"), (11.76, "square"), (16.63, "square"), (23.52, "square")]),
    (of("nfc-ex-runs"), [(72, "one standard error"), (288, "not 2"), (553, "each"), (1106, "either side")]),
]
TABLES = [chapter.EXERCISES for chapter in (slow_link, errors_and_timers, reproduction)]
CHECKS = [of(label) for table in TABLES for label in table if label.startswith("nfc-ex-")]  # the labs': test_labs


@pytest.mark.parametrize(("check", "answer"), [(c, a) for c, answers in RIGHT for a in answers])
def test_right_answers_in_other_forms(check, answer):
    assert check(answer), check(answer)


@pytest.mark.parametrize(("check", "answer", "hint"), [(c, a, h) for c, pairs in WRONG for a, h in pairs])
def test_usual_wrong_answers_get_a_hint(check, answer, hint):
    feedback = check(answer)
    assert not feedback
    assert hint in feedback.message
    assert "close" not in feedback.message


@pytest.mark.parametrize("check", CHECKS)
def test_unanswered(check):
    assert "not answered yet" in check(...).message
    assert "not answered yet" in check(None).message


def test_every_check_is_tested_both_ways_and_knows_three_mistakes():
    hints = {c: {h for check, pairs in WRONG if check == c for _, h in pairs if h} for c in CHECKS}
    assert set(CHECKS) == {c for c, _ in RIGHT}
    assert all(len(known) >= 3 for known in hints.values())


class Odd:
    def __float__(self):
        raise ValueError("odd")

    def __array__(self, *_):
        raise RuntimeError("odd")


HANDED = ["a word", 3, -1, [1, 2, 3], {"a": 1}, {1, 2}, object(), Odd(), math.nan, INF, 10**400, True, b"x", 1j, ""]
GIVEN = [lambda *a: None, lambda: 1, lambda *a: 1 / 0, lambda *a: "x", lambda *a: np.ones(2), lambda *a: Odd()]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("answer", [*HANDED, *GIVEN, lambda *a: math.nan, lambda *a: -INF, lambda *a: 10**400])
def test_whatever_is_handed_over_a_check_answers_with_a_sentence(check, answer):
    feedback = check(answer)
    assert not feedback.ok
    assert feedback.message


NUMBERS = {check: float(answers[0]) for check, answers in RIGHT if isinstance(answers[0], float | int)}


@given(st.sampled_from(list(NUMBERS)), st.floats(-3, 3))
def test_close_is_said_only_of_what_is_close(check, octaves):
    answer = NUMBERS[check] * 2**octaves
    feedback = check(answer)
    assert feedback.ok <= (abs(octaves) < 0.02)
    assert ("close" in feedback.message) <= (abs(octaves) < 0.05)


@pytest.mark.parametrize("delay", [0.0, 0.001, 0.03, 0.2, 0.333, 0.7, 1.0])
def test_the_stalls_formula_is_what_the_simulation_gives(delay):
    small, large = (Session(size=50_000, window=w, ethernet_delay=delay).run().seconds for w in (2048, 8192))
    assert stall(delay) == pytest.approx(small - large)


@pytest.mark.parametrize(("mss", "delay"), [(536, 0.0), (536, 1.0), (400, 0.3), (300, 1.0), (1024, 1.0)])
def test_no_window_between_whole_segments_is_enough(mss, delay):
    def slots(w):
        return Session(20_000, mss, w, ethernet_delay=delay).run().slots

    enough = window(mss, delay)
    assert slots(enough) == slots(8192)
    assert all(slots(w) > slots(8192) for w in range(enough - mss, enough, 67))
    assert slots(enough - 1) > slots(8192)


def test_the_figures_for_the_questions_show_what_they_ask():
    waiting = Session(1024, mss=256, window=256, window_limit=256).run(log=True)
    gaps = waiting.packets[1:, 0] - waiting.packets[:-1, 0] - waiting.packets[:-1, 1]
    assert set(gaps.tolist()) == {0, 8}
    two = Session(20_000, window=2048, window_limit=2048, channel=Channel.periodic(8))
    paused = two.run(np.random.default_rng(73))
    assert (paused.data_lost, paused.timeouts, paused.fast) == (2, 2, 0)


def test_the_best_mss_is_best():
    times = {mss: reproduction.expected_bulk(mss, 1e-4) for mss in (1460, 1024, 512, 256)}
    assert min(times, key=times.__getitem__) == 512


CHAPTERS = sorted((paths.root() / "notebooks" / "nfc").glob("0*.ipynb"))
chapters = pytest.mark.parametrize("path", CHAPTERS, ids=[path.stem for path in CHAPTERS])


def cells(path):
    return nbformat.read(path, as_version=4).cells


def shown(cell):
    return "".join(str(o.get("text", "") or o.get("data", {}).get("text/plain", "")) for o in cell.get("outputs", []))


@chapters
def test_each_question_has_its_place_its_check_and_its_worked_solution(path):
    rows, kinds = cells(path), set()
    asked = [i for i, cell in enumerate(rows) if cell.source.startswith("```{exercise}")]
    starts = [i for i in asked if not rows[i].source.startswith("```{exercise} The lab's stages")]  # test_labs
    assert len(asked) == len(starts) + 1
    for i in starts:
        kind = re.search(r"\((by hand|derive|interpret|build), (easy|medium|hard)\)\n:label: (\S+)\n", rows[i].source)
        place, check, start, prose, solved, end = rows[i + 1 : i + 7]
        name = re.search(r"^answer_(\w+) = None  # your answer$", place.source, re.M)[1]
        assert re.fullmatch(rf'check\("{kind[3]}", answer_{name}(?:, my_seed)?\)', check.source)
        assert "not answered yet" in shown(check)
        assert start.source.startswith(f"```{{solution-start}} {kind[3]}\n:class: dropdown")
        assert len(prose.source.split()) >= 25, "how one finds it, in words"
        assert solved.source.endswith(f'check("{kind[3]}", solved_{name})')
        assert "Right: " in shown(solved)
        assert end.source.startswith("```{solution-end}")
        kinds.add(kind[1])
    assert len(starts) >= 6
    assert kinds == {"by hand", "derive", "interpret", "build"}


@chapters
def test_no_answer_stands_on_its_page(path):
    """A number of three digits or more that is asked for is to be found, not copied."""
    page, folded = "", False
    for cell in cells(path):
        folded = folded or cell.source.startswith("```{solution-start}")
        page += "" if folded else cell.source + shown(cell)
        folded = folded and not cell.source.startswith("```{solution-end}")
    asked = {check.label: f"{value:g}" for check, value in NUMBERS.items() if f'check("{check.label}"' in page}
    assert len(asked) == 2
    assert not [number for number in asked.values() if re.search(rf"(?<![\d.]){number}", page)]
