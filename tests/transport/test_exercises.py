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
from hypothesis import given
from hypothesis import strategies as st

from voicewire.mqtt.packets import encode_length
from voicewire.transport import measurement_runs, overhead_formulas
from voicewire.transport.icto_format import overhead
from voicewire.transport.reference import block_option, header_bytes
from voicewire_book import paths
from voicewire_book.chapters.transport import analysis, extension_timings, readings
from voicewire_book.chapters.transport import exercises as a
from voicewire_book.chapters.transport import exercises_compared as b
from voicewire_book.chapters.transport._student import judged
from voicewire_book.kit.exercises import UNANSWERED, Feedback

Check = Callable[[object], Feedback]
CHECKS = [getattr(module, name) for module in (a, b) for name in module.__all__]


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
    (a.check_header_bytes, 656, {
        624: "short", 528: "without payload", 640: "SYNs carry", 688: "with the FIN", 784: "every second",
        416: "timestamps", 800: "longer options"}),
    (a.check_largest_payload, 113, {
        127: "topic and the packet identifier", 115: "QoS 1", 117: "what else", 111: "not itself", 114: "not 128",
        241: "not eight", 129: "not the packet"}),
    (a.check_undercount, 416, {
        448: "see one", 13: "how many header bytes", 14: "leave the card", 384: "short", 260: "32", 520: "SYNs"}),
    (a.check_effective_samples, 65, {
        72.43: "neighbours", 93.9: "twice", 58.3: "stop where", 62.6: "in a pair", 36.74: "already",
        105.6: "stands before"}),
    (a.check_rare, 1197, {
        400: "37 %", 8000: "20 times", 20.5: "5 % to miss", 21: "5 % to miss", 380: "61 %", 520: "bases",
        448: "150"}),
    (b.check_round_trips, 155, {
        200: "10 ms", 125: "mean", 105: "QoS 0 or 1", 115: "not at PUBLISH", 145: "subscriber too", 175: "PUBCOMP",
        310: "half a round trip", 170: "open already", 0.155: "thousand"}),
    (b.check_icto_overhead, 469, {
        390: "in the list", 458: "names stand", 467: "length stands", 465: "length stands", 405: "32 bytes",
        882: "once", 175: "two add"}),
    (b.check_link_bytes, 20_252, {
        19_628: "3 segments", 19_316: "acknowledgements", 22_152: "once", 19_872: "session's own", 19_532: "IP's",
        3692: "6 are", 19_004: "do not fit"}),
]  # fmt: skip

RIGHT: list[tuple[Check, list[object]]] = [
    (a.check_remaining_length, [[171, 156, 1], np.array([171, 156, 1]), "171, 156, 1", b"\xab\x9c\x01"]),
    (a.check_counters, [["listen", "offload", "sack"], "listen, offload, SACK", ("Listen", "offload ", "sack")]),
    (a.check_causes, [["loss", "stall", "warm-up", "memory"], "Loss, Stall, Warm-up, Memory"]),
    (a.check_kept_open, [lambda n: 64 * n + 208, lambda n: 32.0 * (2 * n + 6) + 16]),
    (a.check_tag_key, [tag_key, lambda m1, t1, m2, t2, p: (t2 - t1) * pow(m2 - m1, p - 2, p) % p]),
    (a.check_encode, [encode, encode_length, lambda v: np.array(encode(v))]),
    (a.check_iterations, [iterations, lambda *given: math.ceil(iterations(*given))]),
    (a.check_on_wire, [on_wire, lambda x, m: np.float64(on_wire(x, m))]),
    (b.check_secure_session, ["d", "D", "(d)"]),
    (b.check_two_networks, ["d", "D)"]),
    (b.check_replay, ["c", "C."]),
    (b.check_all_links, ["c", " c "]),
    (b.check_merged, [merged, lambda n, size: 2 * 32 * -(-n * size // 1448)]),
    (b.check_block, [block, lambda o: list(block(o)), lambda o: np.array(block(o))]),
    (b.check_break_even, [even, lambda x, y, z: (x - y) // (z - y) + 1]),
    (b.check_long_run, [long_run, lambda m: 6 - 8 / (m + 2)]),
    (b.check_guard, [guard, lambda seen, s, n: int(guard(seen, s, n))]),
]  # fmt: skip

WRONG: list[tuple[Check, object, str]] = [
    (a.check_remaining_length, [1, 156, 171], "lowest seven bits"),
    (a.check_remaining_length, "43, 28, 1", "groups of seven"),
    (a.check_remaining_length, [171, 28, 1], "second byte"),
    (a.check_remaining_length, [171, 156], "one more byte"),
    (a.check_remaining_length, [171, 156, 129], "nothing follows"),
    (a.check_remaining_length, [78, 43], "eight bits a byte"),
    (a.check_counters, "sack offload listen", "A: three acknowledgements"),
    (a.check_counters, "offload listen sack", "A: a card that cuts late"),
    (a.check_counters, ["listen", "sack", "offload"], "B: SACK blocks"),
    (a.check_counters, ["listen", "listen", "sack"], "B: a socket"),
    (a.check_counters, ["listen", "offload", "listen"], "C: what the listening"),
    (a.check_counters, ["listen", "offload", "offload"], "C: a card"),
    (a.check_kept_open, lambda n: 272 * n, "each message"),
    (a.check_kept_open, lambda n: 64 * n + 240, "the FIN's"),
    (a.check_kept_open, lambda n: 32 * n + 240, "segment of its own"),
    (a.check_kept_open, lambda n: 64 * n + 192, "SYNs"),
    (a.check_kept_open, lambda n: 64 * n, "opened and closed"),
    (a.check_kept_open, lambda n: 40 * n + 128, "timestamps"),
    (a.check_tag_key, lambda m1, t1, m2, t2, p: (t1 - t2) // (m1 - m2), "to divide"),
    (a.check_tag_key, lambda m1, t1, m2, t2, p: (t1 - t2) // (m1 - m2) % p, "too late"),
    (a.check_tag_key, lambda m1, t1, m2, t2, p: (t1 - t2) / (m1 - m2), "whole number"),
    (a.check_tag_key, lambda m1, t1, m2, t2, p: t1 * pow(m1, -1, p) % p, "s is still"),
    (a.check_tag_key, lambda m1, t1, m2, t2, p: (t2 - t1) * pow(m1 - m2, -1, p) % p, "other way round"),
    (a.check_tag_key, lambda m1, t1, m2, t2, p: (t1 - t2) * pow(m1 - m2, -1, p), "remainder"),
    (a.check_encode, lambda v: [v], "more than one"),
    (a.check_encode, lambda v: encode(v)[::-1], "lowest seven bits"),
    (a.check_encode, lambda v: [x & 127 for x in encode(v)], "more follow"),
    (a.check_encode, lambda v: [x | 128 for x in encode(v)], "stays clear"),
    (a.check_encode, lambda v: encode(v) if v else [], "zero"),
    (a.check_encode, lambda v: [v] if v <= 128 else encode(v), "(128)"),
    (a.check_iterations, lambda c, h, r: (1.96 * c / h) ** 2, "memory r"),
    (a.check_iterations, lambda c, h, r: (1.96 * c / h) ** 2 * (1 - r) / (1 + r), "not for fewer"),
    (a.check_iterations, lambda c, h, r: iterations(c, h, r) * h / (1.96 * c), "square it"),
    (a.check_iterations, lambda c, h, r: 4 * iterations(c, h, r), "half width"),
    (a.check_iterations, lambda c, h, r: (1.96 * c / h * (1 + r) / (1 - r)) ** 2, "in the square"),
    (a.check_iterations, lambda c, h, r: (1.96 * c / h) ** 2 / (1 - r), "both sides"),
    (a.check_iterations, lambda c, h, r: (c / h) ** 2 * (1 + r) / (1 - r), "quantile"),
    (a.check_causes, "stall loss warm-up memory", "A: a stall"),
    (a.check_causes, "warm-up stall loss memory", "A: a warm-up"),
    (a.check_causes, "memory stall warm-up loss", "A: one time"),
    (a.check_causes, "loss memory warm-up stall", "B: nothing changes"),
    (a.check_causes, "loss warm-up stall memory", "B: the last"),
    (a.check_causes, "loss loss warm-up memory", "B: all of them"),
    (a.check_causes, "loss stall memory warm-up", "C: it fades"),
    (a.check_causes, "loss stall loss memory", "C: a timer"),
    (a.check_causes, "loss stall stall memory", "C: the stall's"),
    (a.check_causes, "loss stall warm-up warm-up", "D: the first four"),
    (a.check_causes, "loss stall warm-up stall", "D: a stall"),
    (a.check_causes, "loss stall warm-up loss", "D: no timer"),
    (a.check_causes, "loss stall warm-up", "4 items"),
    (a.check_on_wire, lambda x, m: len(x), "captured ones"),
    (a.check_on_wire, lambda x, m: sum(math.ceil(n / m) for n in x), "without payload"),
    (a.check_on_wire, lambda x, m: math.ceil(sum(x) / m), "by itself"),
    (a.check_on_wire, lambda x, m: sum(max(1, n // m) for n in x), "the rest at the end"),
    (a.check_on_wire, lambda x, m: sum(n // m + 1 for n in x), "evenly"),
    (b.check_secure_session, "a", "120 ms remain"),
    (b.check_secure_session, "b", "PUBACK"),
    (b.check_secure_session, "c", "same two turns"),
    (b.check_merged, lambda n, size: 64 * n, "without merging"),
    (b.check_merged, lambda n, size: 32 * math.ceil(n * size / 1448), "one of its own"),
    (b.check_merged, lambda n, size: 64 * n * size / 1448, "whole"),
    (b.check_merged, lambda n, size: 64 * (n * size // 1448), "rest at the end"),
    (b.check_merged, lambda n, size: 64 * n * math.ceil(size / 1448), "stream"),
    (b.check_merged, lambda n, size: 104 * math.ceil(n * size / 1448), "TCP's alone"),
    (b.check_two_networks, "a", "both rise"),
    (b.check_two_networks, "b", "a twentieth"),
    (b.check_two_networks, "c", "both are steady"),
    (b.check_block, lambda o: (*block(o)[:2], block(o)[2] // 16), "plus 4"),
    (b.check_block, lambda o: (*block(o)[:2], math.log2(block(o)[2]) - 4), "an exponent"),
    (b.check_block, lambda o: (*block(o)[:2], math.log2(block(o)[2])), "size is asked"),
    (b.check_block, lambda o: (block(o)[0], not block(o)[1], block(o)[2]), "set bit"),
    (b.check_block, lambda o: (int.from_bytes(o, "big") >> 3, *block(o)[1:]), "four bits"),
    (b.check_block, lambda o: block(o[::-1]), "highest byte"),
    (b.check_block, lambda o: (o[-1] >> 4, bool(o[-1] & 8), 16), "IndexError"),
    (b.check_break_even, lambda x, y, z: math.ceil((x - y) / (z - y)), "both cost the same"),
    (b.check_break_even, lambda x, y, z: (x - y) / (z - y), "whole number"),
    (b.check_break_even, lambda x, y, z: (x - y) // (z - y), "up to here"),
    (b.check_break_even, lambda x, y, z: x // (z - y) + 1, "n - 1 follow"),
    (b.check_break_even, lambda x, y, z: math.ceil(x / (z - y)), "n - 1 follow"),
    (b.check_break_even, lambda x, y, z: x // z + 1, "session something"),
    (b.check_replay, "a", "over by then"),
    (b.check_replay, "b", "signature"),
    (b.check_replay, "d", "private key"),
    (b.check_all_links, "a", "sender's link"),
    (b.check_all_links, "b", "link of its own"),
    (b.check_all_links, "d", "every link"),
    (b.check_long_run, lambda m: 6, "goes to"),
    (b.check_long_run, lambda m: 10 / 3, "stay open"),
    (b.check_long_run, lambda m: 3 * m + 2, "divide"),
    (b.check_long_run, lambda m: (5 + 3 * m) / (1.5 + 0.5 * m), "m - 1"),
    (b.check_long_run, lambda m: (m + 2) / (1 + m / 2), "QoS 0 or 1"),
    (b.check_long_run, lambda m: 1 / long_run(m), "reciprocal"),
    (b.check_guard, lambda seen, s, n: True, "ever refused"),
    (b.check_guard, lambda seen, s, n: guard(seen, "", n), "for itself"),
    (b.check_guard, lambda seen, s, n: n == seen.get(s) or guard(seen, s, n), "is the replay"),
    (b.check_guard, lambda seen, s, n: n == seen.get(s, n - 1) + 1 and guard(seen, s, n), "a gap"),
    (b.check_guard, lambda seen, s, n: (n > seen.get(s, 0), seen.update({s: n}))[0], "lower the number"),
    (b.check_guard, lambda seen, s, n: (n not in seen.setdefault(s, []), seen[s].append(n))[0], "have to grow"),
    (b.check_guard, lambda seen, s, n: seen.update({s: n}), "return missing"),
    (b.check_guard, lambda seen, s, n: guard(seen, s, n) or n == 7, "look again at item"),
    (b.check_guard, guard({}, "ann", 1), "the function itself"),
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
    asking = re.compile(rf"\b{check.__name__}\(")
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
    assert stands(272, pages[a.check_header_bytes])  # what the first exercises of these chapters asked for
    assert stands(9600, pages[b.check_round_trips])


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

    assert a.check_on_wire(emptied)
    cases = [([1, 2],)]
    assert judged(lambda x: x.pop(), cases, lambda x: 2, [], "two.")
    assert cases == [([1, 2],)]


# What the checks take for right, by the package's own counts


def test_headers_by_the_equation_of_the_chapter() -> None:
    flags = ["S", "SA", "A", *["PA"] * 9, *["A"] * 4, "FA", "A", "FA", "A"]
    assert a.check_header_bytes(header_bytes(flags))
    for n in (1, 4):
        kept = ["S", "SA", "A", *["PA", "A"] * (n - 1), "PA", "FA", "A", "FA", "A"]
        assert header_bytes(kept) == 64 * n + 208


def test_the_largest_payload_is_the_one_before_the_length_grows() -> None:
    sizes = {size: overhead_formulas.packet_bytes(size, 1, "ict/object") for size in range(105, 120)}
    grown = next(size for size in sizes if sizes[size + 1] - sizes[size] == 2)
    assert a.check_largest_payload(grown)
    assert 130 not in sizes.values()


def test_samples_with_the_correlations_of_the_question_are_worth_that_many() -> None:
    rho = [1.0, 0.4, 0.3, 0.1, 0.05, -0.1, 0.2]
    total = 0.0
    for pair in zip(rho[::2], rho[1::2], strict=False):
        if sum(pair) <= 0:
            break
        total += sum(pair)
    assert a.check_effective_samples(169 / (2 * total - 1))


def test_two_links_by_the_flights_of_the_package() -> None:
    way = overhead_formulas.flights("mqtt", 2, "fresh")
    to_broker = way.index("PUBLISH to subscriber")
    assert b.check_round_trips(to_broker * 20 + (len(way) - to_broker) * 5)


def test_the_secure_session_by_its_flights() -> None:
    names = ("mqtt-tls-fresh-nagle", "mqtt-tls-fresh", "fan-1x1")
    trips = {name: extension_timings.CATALOGUE[name].round_trips() for name in names}
    assert trips == {"mqtt-tls-fresh-nagle": 5, "mqtt-tls-fresh": 4, "fan-1x1": 1}


def test_the_object_by_its_format() -> None:
    assert overhead(["r0"], {"part": 1}) == 294
    assert b.check_icto_overhead(overhead(["r0", "nurse", "doctor"], {"part": 3}))


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
