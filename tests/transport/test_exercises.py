"""Every check takes right answers in other forms, and answers each usual mistake with its own hint."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable
from typing import Any

import nbformat
import numpy as np
import pytest
from asking import check, of
from hypothesis import given
from hypothesis import strategies as st

from voicewire.mqtt.packets import encode_length
from voicewire.transport import measurement_runs, overhead_formulas
from voicewire.transport.reference import block_option, header_bytes
from voicewire.transport.secure_objects.icto_format import overhead
from voicewire_book import paths
from voicewire_book.chapters.transport import analysis, extension_timings, readings
from voicewire_book.chapters.transport._function_records import Results
from voicewire_book.chapters.transport.exercises import (
    measuring_honestly,
    sockets_and_segments,
    tcp_against_mqtt,
    which_transport,
)
from voicewire_book.kit.exercises import UNANSWERED, Feedback

Check = Callable[[object], Feedback]
CHAPTERS = (sockets_and_segments, measuring_honestly, tcp_against_mqtt, which_transport)
CHECKS = [of(label) for chapter in CHAPTERS for label in chapter.EXERCISES if "-ex-" in label]


def encode(value):
    return list(encode_length(value))


def iterations(spread, half, r):
    return (1.96 * spread / half) ** 2 * (1 + r) / (1 - r)


def on_wire(lengths, mss):
    return sum(max(1, -(-n // mss)) for n in lengths)


def merged(n, size):
    return 64 * math.ceil(n * size / 1448)


def block(option):
    value = int.from_bytes(option, "big")
    return value >> 4, bool(value & 8), 2 ** ((value & 7) + 4)


def even(first, further, each):
    return next(n for n in itertools.count(1) if first + further * (n - 1) < each * n)


def long_run(m):
    return (5 + 3 * (m - 1)) / (1.5 + 0.5 * (m - 1))


def tag_key(m1, t1, m2, t2, p):
    return next(h for h in range(p) if (t1 - t2 - (m1 - m2) * h) % p == 0)


def guard(seen, sender, number):
    if number <= seen.get(sender, -1):
        return False
    seen[sender] = number
    return True


NUMBERS: list[tuple[Check, float, dict[float, str]]] = [
    (of("transport-ex-header"), 656, {
        624: "short", 528: "without payload", 640: "SYNs carry", 688: "with the FIN", 784: "every second",
        416: "timestamps", 800: "longer options"}),
    (of("transport-ex-publish"), 113, {
        127: "topic and the packet identifier", 115: "QoS 1", 117: "what else", 111: "not itself", 114: "not 128",
        241: "not eight", 129: "not the packet"}),
    (of("transport-ex-undercount"), 416, {
        448: "see one", 13: "how many header bytes", 14: "leave the card", 384: "short", 260: "32", 520: "SYNs"}),
    (of("transport-ex-worth"), 65, {
        72.43: "neighbours", 93.9: "twice", 58.3: "stop where", 62.6: "in a pair", 36.74: "already",
        105.6: "stands before"}),
    (of("transport-ex-rare"), 1197, {
        400: "37 %", 8000: "20 times", 20.5: "5 % to miss", 21: "5 % to miss", 380: "61 %", 520: "bases",
        448: "150"}),
    (of("transport-ex-trips"), 155, {
        200: "10 ms", 125: "mean", 105: "QoS 0 or 1", 115: "not at PUBLISH", 145: "subscriber too", 175: "PUBCOMP",
        310: "half a round trip", 170: "open already", 0.155: "thousand"}),
    (of("transport-ex-icto"), 469, {
        390: "in the list", 458: "names stand", 467: "length stands", 465: "length stands", 405: "32 bytes",
        882: "once", 175: "two add"}),
    (of("transport-ex-bytes"), 20_252, {
        19_628: "3 segments", 19_316: "acknowledgements", 22_152: "once", 19_872: "session's own", 19_532: "IP's",
        3692: "6 are", 19_004: "do not fit"}),
]  # fmt: skip

RIGHT: list[tuple[Check, list[object]]] = [
    (of("transport-ex-length"), [[171, 156, 1], np.array([171, 156, 1]), "171, 156, 1", b"\xab\x9c\x01"]),
    (of("transport-ex-counters"),
     [["listen", "offload", "sack"], "listen, offload, SACK", ("Listen", "offload ", "sack")]),
    (of("transport-ex-causes"), [["loss", "stall", "warm-up", "memory"], "Loss, Stall, Warm-up, Memory"]),
    (of("transport-ex-open"), [lambda n: 64 * n + 208, lambda n: 32.0 * (2 * n + 6) + 16]),
    (of("transport-ex-nonce"), [tag_key, lambda m1, t1, m2, t2, p: (t2 - t1) * pow(m2 - m1, p - 2, p) % p]),
    (of("transport-ex-encode"), [encode, encode_length, lambda v: np.array(encode(v))]),
    (of("transport-ex-half"), [iterations, lambda *given: math.ceil(iterations(*given))]),
    (of("transport-ex-wire"), [on_wire, lambda x, m: np.float64(on_wire(x, m))]),
    (of("transport-ex-secure"), ["d", "D", "(d)"]),
    (of("transport-ex-reading"), ["d", "D)"]),
    (of("transport-ex-hides"), ["c", "C."]),
    (of("transport-ex-cheapest"), ["c", " c "]),
    (of("transport-ex-loop"), [merged, lambda n, size: 2 * 32 * -(-n * size // 1448)]),
    (of("transport-ex-block"), [block, lambda o: list(block(o)), lambda o: np.array(block(o))]),
    (of("transport-ex-even"), [even, lambda x, y, z: (x - y) // (z - y) + 1]),
    (of("transport-ex-long"), [long_run, lambda m: 6 - 8 / (m + 2)]),
    (of("transport-ex-guard"), [guard, lambda seen, s, n: int(guard(seen, s, n))]),
]  # fmt: skip

WRONG: list[tuple[Check, object, str]] = [
    (of("transport-ex-length"), [1, 156, 171], "lowest seven bits"),
    (of("transport-ex-length"), "43, 28, 1", "groups of seven"),
    (of("transport-ex-length"), [171, 28, 1], "second byte"),
    (of("transport-ex-length"), [171, 156], "one more byte"),
    (of("transport-ex-length"), [171, 156, 129], "nothing follows"),
    (of("transport-ex-length"), [78, 43], "eight bits a byte"),
    (of("transport-ex-counters"), "sack offload listen", "A: three acknowledgements"),
    (of("transport-ex-counters"), "offload listen sack", "A: a card that cuts late"),
    (of("transport-ex-counters"), ["listen", "sack", "offload"], "B: SACK blocks"),
    (of("transport-ex-counters"), ["listen", "listen", "sack"], "B: a socket"),
    (of("transport-ex-counters"), ["listen", "offload", "listen"], "C: what the listening"),
    (of("transport-ex-counters"), ["listen", "offload", "offload"], "C: a card"),
    (of("transport-ex-open"), lambda n: 272 * n, "each message"),
    (of("transport-ex-open"), lambda n: 64 * n + 240, "the FIN's"),
    (of("transport-ex-open"), lambda n: 32 * n + 240, "segment of its own"),
    (of("transport-ex-open"), lambda n: 64 * n + 192, "SYNs"),
    (of("transport-ex-open"), lambda n: 64 * n, "opened and closed"),
    (of("transport-ex-open"), lambda n: 40 * n + 128, "timestamps"),
    (of("transport-ex-nonce"), lambda m1, t1, m2, t2, p: (t1 - t2) // (m1 - m2), "to divide"),
    (of("transport-ex-nonce"), lambda m1, t1, m2, t2, p: (t1 - t2) // (m1 - m2) % p, "too late"),
    (of("transport-ex-nonce"), lambda m1, t1, m2, t2, p: (t1 - t2) / (m1 - m2), "whole number"),
    (of("transport-ex-nonce"), lambda m1, t1, m2, t2, p: t1 * pow(m1, -1, p) % p, "s is still"),
    (of("transport-ex-nonce"), lambda m1, t1, m2, t2, p: (t2 - t1) * pow(m1 - m2, -1, p) % p, "other way round"),
    (of("transport-ex-nonce"), lambda m1, t1, m2, t2, p: (t1 - t2) * pow(m1 - m2, -1, p), "remainder"),
    (of("transport-ex-encode"), lambda v: [v], "more than one"),
    (of("transport-ex-encode"), lambda v: encode(v)[::-1], "lowest seven bits"),
    (of("transport-ex-encode"), lambda v: [x & 127 for x in encode(v)], "more follow"),
    (of("transport-ex-encode"), lambda v: [x | 128 for x in encode(v)], "stays clear"),
    (of("transport-ex-encode"), lambda v: encode(v) if v else [], "zero"),
    (of("transport-ex-encode"), lambda v: [v] if v <= 128 else encode(v), "(128)"),
    (of("transport-ex-half"), lambda c, h, r: (1.96 * c / h) ** 2, "memory r"),
    (of("transport-ex-half"), lambda c, h, r: (1.96 * c / h) ** 2 * (1 - r) / (1 + r), "not for fewer"),
    (of("transport-ex-half"), lambda c, h, r: iterations(c, h, r) * h / (1.96 * c), "square it"),
    (of("transport-ex-half"), lambda c, h, r: 4 * iterations(c, h, r), "half width"),
    (of("transport-ex-half"), lambda c, h, r: (1.96 * c / h * (1 + r) / (1 - r)) ** 2, "in the square"),
    (of("transport-ex-half"), lambda c, h, r: (1.96 * c / h) ** 2 / (1 - r), "both sides"),
    (of("transport-ex-half"), lambda c, h, r: (c / h) ** 2 * (1 + r) / (1 - r), "quantile"),
    (of("transport-ex-causes"), "stall loss warm-up memory", "A: a stall"),
    (of("transport-ex-causes"), "warm-up stall loss memory", "A: a warm-up"),
    (of("transport-ex-causes"), "memory stall warm-up loss", "A: one time"),
    (of("transport-ex-causes"), "loss memory warm-up stall", "B: nothing changes"),
    (of("transport-ex-causes"), "loss warm-up stall memory", "B: the last"),
    (of("transport-ex-causes"), "loss loss warm-up memory", "B: all of them"),
    (of("transport-ex-causes"), "loss stall memory warm-up", "C: it fades"),
    (of("transport-ex-causes"), "loss stall loss memory", "C: a timer"),
    (of("transport-ex-causes"), "loss stall stall memory", "C: the stall's"),
    (of("transport-ex-causes"), "loss stall warm-up warm-up", "D: the first four"),
    (of("transport-ex-causes"), "loss stall warm-up stall", "D: a stall"),
    (of("transport-ex-causes"), "loss stall warm-up loss", "D: no timer"),
    (of("transport-ex-causes"), "loss stall warm-up", "4 items"),
    (of("transport-ex-wire"), lambda x, m: len(x), "captured ones"),
    (of("transport-ex-wire"), lambda x, m: sum(math.ceil(n / m) for n in x), "without payload"),
    (of("transport-ex-wire"), lambda x, m: math.ceil(sum(x) / m), "by itself"),
    (of("transport-ex-wire"), lambda x, m: sum(max(1, n // m) for n in x), "the rest at the end"),
    (of("transport-ex-wire"), lambda x, m: sum(n // m + 1 for n in x), "evenly"),
    (of("transport-ex-secure"), "a", "120 ms remain"),
    (of("transport-ex-secure"), "b", "PUBACK"),
    (of("transport-ex-secure"), "c", "same two turns"),
    (of("transport-ex-loop"), lambda n, size: 64 * n, "without merging"),
    (of("transport-ex-loop"), lambda n, size: 32 * math.ceil(n * size / 1448), "one of its own"),
    (of("transport-ex-loop"), lambda n, size: 64 * n * size / 1448, "whole"),
    (of("transport-ex-loop"), lambda n, size: 64 * (n * size // 1448), "rest at the end"),
    (of("transport-ex-loop"), lambda n, size: 64 * n * math.ceil(size / 1448), "stream"),
    (of("transport-ex-loop"), lambda n, size: 104 * math.ceil(n * size / 1448), "TCP's alone"),
    (of("transport-ex-reading"), "a", "both rise"),
    (of("transport-ex-reading"), "b", "a twentieth"),
    (of("transport-ex-reading"), "c", "both are steady"),
    (of("transport-ex-block"), lambda o: (*block(o)[:2], block(o)[2] // 16), "plus 4"),
    (of("transport-ex-block"), lambda o: (*block(o)[:2], math.log2(block(o)[2]) - 4), "an exponent"),
    (of("transport-ex-block"), lambda o: (*block(o)[:2], math.log2(block(o)[2])), "size is asked"),
    (of("transport-ex-block"), lambda o: (block(o)[0], not block(o)[1], block(o)[2]), "set bit"),
    (of("transport-ex-block"), lambda o: (int.from_bytes(o, "big") >> 3, *block(o)[1:]), "four bits"),
    (of("transport-ex-block"), lambda o: block(o[::-1]), "highest byte"),
    (of("transport-ex-block"), lambda o: (o[-1] >> 4, bool(o[-1] & 8), 16), "IndexError"),
    (of("transport-ex-even"), lambda x, y, z: math.ceil((x - y) / (z - y)), "both cost the same"),
    (of("transport-ex-even"), lambda x, y, z: (x - y) / (z - y), "whole number"),
    (of("transport-ex-even"), lambda x, y, z: (x - y) // (z - y), "up to here"),
    (of("transport-ex-even"), lambda x, y, z: x // (z - y) + 1, "n - 1 follow"),
    (of("transport-ex-even"), lambda x, y, z: math.ceil(x / (z - y)), "n - 1 follow"),
    (of("transport-ex-even"), lambda x, y, z: x // z + 1, "session something"),
    (of("transport-ex-hides"), "a", "over by then"),
    (of("transport-ex-hides"), "b", "signature"),
    (of("transport-ex-hides"), "d", "private key"),
    (of("transport-ex-cheapest"), "a", "sender's link"),
    (of("transport-ex-cheapest"), "b", "link of its own"),
    (of("transport-ex-cheapest"), "d", "every link"),
    (of("transport-ex-long"), lambda m: 6, "goes to"),
    (of("transport-ex-long"), lambda m: 10 / 3, "stay open"),
    (of("transport-ex-long"), lambda m: 3 * m + 2, "divide"),
    (of("transport-ex-long"), lambda m: (5 + 3 * m) / (1.5 + 0.5 * m), "m - 1"),
    (of("transport-ex-long"), lambda m: (m + 2) / (1 + m / 2), "QoS 0 or 1"),
    (of("transport-ex-long"), lambda m: 1 / long_run(m), "reciprocal"),
    (of("transport-ex-guard"), lambda seen, s, n: True, "ever refused"),
    (of("transport-ex-guard"), lambda seen, s, n: guard(seen, "", n), "for itself"),
    (of("transport-ex-guard"), lambda seen, s, n: n == seen.get(s) or guard(seen, s, n), "is the replay"),
    (of("transport-ex-guard"), lambda seen, s, n: n == seen.get(s, n - 1) + 1 and guard(seen, s, n), "a gap"),
    (of("transport-ex-guard"), lambda seen, s, n: (n > seen.get(s, 0), seen.update({s: n}))[0], "lower the number"),
    (of("transport-ex-guard"), lambda seen, s, n: (n not in seen.setdefault(s, []), seen[s].append(n))[0],
     "have to grow"),
    (of("transport-ex-guard"), lambda seen, s, n: seen.update({s: n}), "return missing"),
    (of("transport-ex-guard"), lambda seen, s, n: guard(seen, s, n) or n == 7, "look again at item"),
    (of("transport-ex-guard"), guard({}, "ann", 1), "the function itself"),
]  # fmt: skip


@pytest.mark.parametrize(("check", "right", "wrong"), NUMBERS, ids=lambda x: getattr(x, "__name__", ""))
def test_numbers(check: Check, right: float, wrong: dict[float, str]) -> None:
    for form in (right, float(right), np.int64(right), np.array([right]), [right], str(right), f"{right:,}"):
        assert check(form), form
    for answer, hint in wrong.items():
        feedback = check(answer)
        assert not feedback, answer
        assert hint in feedback.message, (answer, feedback)
    assert len(wrong) >= 3


@pytest.mark.parametrize(("check", "forms"), RIGHT, ids=lambda x: getattr(x, "__name__", ""))
def test_right_answers_in_other_forms(check: Check, forms: list[object]) -> None:
    for form in forms:
        assert check(form), (form, check(form))


@pytest.mark.parametrize(("check", "answer", "hint"), WRONG)
def test_each_usual_mistake_gets_its_own_hint(check: Check, answer: object, hint: str) -> None:
    feedback = check(answer)
    assert not feedback
    assert hint in feedback.message, feedback


def test_every_check_is_tried_both_ways() -> None:
    right = [case[0] for case in NUMBERS] + [case[0] for case in RIGHT]
    wrong = [case[0] for case in WRONG] + [check for check, _, hints in NUMBERS for _ in hints]
    assert set(right) == set(CHECKS)
    assert all(wrong.count(check) >= 3 for check in CHECKS)


def page(check: Check) -> str:
    """Return what stands in a check's chapter, outputs too, without the worked solutions."""
    asking = re.compile(rf'\bcheck\("{check.__name__}"')
    notebooks = [nbformat.read(path, as_version=4) for path in paths.chapters("transport")]
    (chapter,) = (each for each in notebooks if any(asking.search(cell.source) for cell in each.cells))
    folded, said = False, []
    for cell in chapter.cells:
        folded = "{solution-start}" in cell.source or (folded and "{solution-end}" not in cell.source)
        if not folded:
            said += [cell.source, *(str(output.get("text", output.get("data"))) for output in cell.get("outputs", ()))]
    return re.sub(r"(?:image/png|webp)': '[^']*'", "", "\n".join(said))  # a picture's bytes are not read


def stands(number: float, text: str) -> bool:
    """Whether a whole number stands in a text by itself, with or without a comma."""
    forms = f"{number:.0f}|{number:,.0f}"
    return re.search(rf"(?<![\d.,])({forms})(?![\d,]|\.\d)", text) is not None


def test_no_answer_stands_on_its_page() -> None:
    pages = {check: page(check) for check, *_ in NUMBERS}
    long = [(check, right) for check, right, _ in NUMBERS if right >= 100]
    assert [check.__name__ for check, right in long if stands(right, pages[check])] == []
    assert stands(272, pages[of("transport-ex-header")])  # what the first exercises of these chapters asked for
    assert stands(9600, pages[of("transport-ex-trips")])


class Hostile:
    """An object of a student that fails at whatever is tried with it."""

    def __str__(self) -> str:
        raise RuntimeError("no")

    __repr__ = __array__ = __float__ = __iter__ = __eq__ = __str__  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize("check", CHECKS)
def test_whatever_is_handed_over_gets_a_sentence(check: Check) -> None:
    for blank in (None, ..., "", []):
        assert check(blank) is UNANSWERED
    given: list[Any] = ["no idea", 3, True, 1e400, -1, {"a": 1}, {1, 2}, object(), Hostile(), lambda: 1]
    given += [lambda *x: None, lambda *x: 1 / 0, lambda *x: Hostile(), lambda *x: "word", lambda *x: [1, 2]]
    given += [lambda *x: [], lambda *x: [Hostile()] * 3, lambda *x: np.zeros((3, 3)), Hostile]
    for answer in given:
        feedback = check(answer)
        assert not feedback, (check, type(answer))
        assert len(feedback.message) > 10


@given(st.sampled_from([case[:2] for case in NUMBERS]), st.floats(0.5, 2.0))
def test_nothing_is_told_to_be_close_that_is_not(case: tuple[Check, float], factor: float) -> None:
    check, right = case
    message = check(right * factor).message
    assert "close" not in message or abs(factor - 1) < 0.016


def test_a_function_that_changes_what_it_is_given_spoils_no_later_case() -> None:
    def emptied(lengths: list[int], mss: int) -> int:
        total = 0
        while lengths:
            total += max(1, -(-lengths.pop() // mss))
        return total

    assert check("transport-ex-wire", emptied)
    cases = [([1, 2],)]
    assert Results(cases, lambda x: 2, [], "two.").check(lambda x: x.pop())
    assert cases == [([1, 2],)]


# What the checks take for right, by the package's own counts


def test_headers_by_the_equation_of_the_chapter() -> None:
    flags = ["S", "SA", "A", *["PA"] * 9, *["A"] * 4, "FA", "A", "FA", "A"]
    assert check("transport-ex-header", header_bytes(flags))
    for n in (1, 4):
        kept = ["S", "SA", "A", *["PA", "A"] * (n - 1), "PA", "FA", "A", "FA", "A"]
        assert header_bytes(kept) == 64 * n + 208


def test_the_largest_payload_is_the_one_before_the_length_grows() -> None:
    sizes = {size: overhead_formulas.packet_bytes(size, 1, "ict/object") for size in range(105, 120)}
    grown = next(size for size in sizes if sizes[size + 1] - sizes[size] == 2)
    assert check("transport-ex-publish", grown)
    assert 130 not in sizes.values()


def test_samples_with_the_correlations_of_the_question_are_worth_that_many() -> None:
    rho = [1.0, 0.4, 0.3, 0.1, 0.05, -0.1, 0.2]
    total = 0.0
    for pair in zip(rho[::2], rho[1::2], strict=False):
        if sum(pair) <= 0:
            break
        total += sum(pair)
    assert check("transport-ex-worth", 169 / (2 * total - 1))


def test_two_links_by_the_flights_of_the_package() -> None:
    way = overhead_formulas.flights("mqtt", 2, "fresh")
    to_broker = way.index("PUBLISH to subscriber")
    assert check("transport-ex-trips", to_broker * 20 + (len(way) - to_broker) * 5)


def test_the_secure_session_by_its_flights() -> None:
    names = ("mqtt-tls-fresh-nagle", "mqtt-tls-fresh", "fan-1x1")
    trips = {name: extension_timings.CATALOGUE[name].round_trips() for name in names}
    assert trips == {"mqtt-tls-fresh-nagle": 5, "mqtt-tls-fresh": 4, "fan-1x1": 1}


def test_the_object_by_its_format() -> None:
    assert overhead(["r0"], {"part": 1}) == 294
    assert check("transport-ex-icto", overhead(["r0", "nurse", "doctor"], {"part": 3}))


def test_rising_here_and_steady_there_by_the_recorded_loops() -> None:
    recorded = analysis.Recorded(measurement_runs.load_iterations(paths.data("transport")))
    rises = {
        "a": (readings.loop_growth(recorded, "lan"), readings.loop_growth(recorded, "internet")),
        "d": (readings.loop_growth(recorded, "lan"), readings.loop_growth(recorded, "internet", gap=2.0)),
    }
    found = [name for name, (here, there) in rises.items() if here.mean() > 5 and abs(there.mean() - 1) < 0.1]
    assert found == ["d"]


def test_over_all_links_by_the_costs_of_the_package() -> None:
    for size, messages, receivers in itertools.product((1, 1000, 100_000), (1, 10, 150), (1, 2, 10, 50)):
        task = overhead_formulas.advise(rtt=0.04, size=size, messages=messages, subscribers=receivers)
        cost = {option.name: option.cost for option in task}
        assert cost["MQTT QoS 0"].everywhere > cost["TCP, kept open"].everywhere


def test_the_long_run_by_the_costs_of_the_package() -> None:
    for m in (1, 10, 150):
        task = {o.name: o.cost.seconds for o in overhead_formulas.advise(rtt=0.04, size=100, messages=m, subscribers=1)}
        assert task["MQTT QoS 2"] / task["TCP, kept open"] == pytest.approx(long_run(m))


def test_blocks_of_all_sizes_are_read_back() -> None:
    for number, more, size in itertools.product((0, 1, 15, 16, 4095, 2**19), (False, True), (16, 64, 1024)):
        assert block(block_option(number, more, size)) == (number, more, size)
