"""The exercises of the part both ways: right in every form, and a hint of its own for each usual mistake."""

from __future__ import annotations

import re
from fractions import Fraction

import nbformat
import numpy as np
import pytest
from asking import check, of
from hypothesis import given
from hypothesis import strategies as st

from voicewire.emqtt import counting, trace
from voicewire.emqtt.reference import after, cut, hold, link_delay, publish, read_length, read_publish
from voicewire.mqtt import BrokerThread, Config, encode
from voicewire.mqtt import packets as p
from voicewire_book import paths
from voicewire_book.chapters.emqtt.exercises import end_to_end, packets, reproduction


def missing(stream):
    size, body = read_length(stream, 1)
    return max(0, body + size - len(stream))


def quorum(groups, answers):
    holds = [hold((len(g) + 1) // 2, set(g), set()) for g in groups]
    for count, name in enumerate(answers, 1):
        if all(verdict == "complete" for verdict in [after(held, "answer", name).verdict for held in holds]):
            return count
    return 0


def bridged(n, arrivals, total=max, near=set):
    for count in range(1, len(arrivals) + 1):
        come = arrivals[:count]
        far = [what for side, what in come if side == "far"]
        if len(near(what for side, what in come if side == "near")) + (total(far) if far else 0) >= n:
            return count
    return 0


def until(groups, answers, enough):
    """The first count of answers after which `enough` holds of every group."""
    counts = range(1, len(answers) + 1)
    return next((k for k in counts if all(enough(answers[:k], group) for group in groups)), 0)


def gain(n, h):
    """By the chapter's own function, on a link so slow that nothing but the bytes counts."""
    return link_delay("MQTT", n, 1e-6, 1.0, h) / link_delay("E-MQTT", n, 1e-6, 1.0, h)


def load(n):
    return 25 * (1 + n) / (27 + 2 * n + (n >= 58))


RIGHT = {
    of("emqtt-ex-first-byte"): [0x3D, 61.0, np.int64(61), "61", "0x3d", "3D", b"\x3d", "0b111101", "00111101", [0x3D]],
    of("emqtt-ex-length"): [2011, "2011 bytes", 2011.0, "2,011"],
    of("emqtt-ex-capture"): [[258, 7], "258, 7", {"id": 258, "bytes": 7}, (258.0, 7)],
    of("emqtt-ex-counting"): [
        lambda n, t, m: (1 + n) * (18 + t + m),
        lambda n, t, m: 18 + t + m + n * t + n * m + 18 * n,
    ],
    of("emqtt-ex-puback"): ["a", "A)", " (a) "],
    of("emqtt-ex-pubrel"): ["a", "A"],
    of("emqtt-ex-missing"): [missing, lambda s: max(0, (len(cut(s)[0]) == 0) * missing(s))],
    of("emqtt-ex-eighty"): [196, "196", 196.0, [196]],
    of("emqtt-ex-link"): [
        263,
        "263 ms",
        1e3 * (link_delay("MQTT", 5, 8e3, 0.03, 40) - link_delay("E-MQTT", 5, 8e3, 0.03, 40)),
    ],
    of("emqtt-ex-ward"): [0.9**4 * 1.4, "91.85 %", 0.919],
    of("emqtt-ex-naming"): [lambda t, m: 3 + t + m, lambda t, m: len(publish("x" * t, bytes(m))) - 1],
    of("emqtt-ex-gain"): [gain, lambda n, h: Fraction(17 + 2 * h + n * (13 + h), 19 + 2 * h)],
    of("emqtt-ex-too-few"): ["c", "C."],
    of("emqtt-ex-line"): ["a"],
    of("emqtt-ex-quorum"): [quorum],
    of("emqtt-ex-table3"): [58, "58", 58.0],
    of("emqtt-ex-load"): [load, lambda n: np.float64(25 * (1 + n)) / (counting.publish_size(3, n) + 12)],
    of("emqtt-ex-pairs"): [2, "2", 16 ** (1 / 4), np.exp(np.log([2, 8, 1, 1]).mean())],
    of("emqtt-ex-gauge"): [[0.75, 2.5], "3/4, 5/2", [Fraction(3, 4), Fraction(5, 2)], ("75 %", "250 %")],
    of("emqtt-ex-pair"): ["c"],
    of("emqtt-ex-near-one"): ["c"],
    of("emqtt-ex-bridge"): [bridged],
}

WRONG = [
    (of("emqtt-ex-first-byte"), 0x35, "first time"),
    (of("emqtt-ex-first-byte"), "0x3c", "RETAIN"),
    (of("emqtt-ex-first-byte"), 0x3B, "QoS 2 is bit 2"),
    (of("emqtt-ex-first-byte"), 0x3F, "QoS 3"),
    (of("emqtt-ex-first-byte"), 0x39, "missing"),
    (of("emqtt-ex-first-byte"), 13, "upper four bits"),
    (of("emqtt-ex-length"), 2026, "Remaining Length"),
    (of("emqtt-ex-length"), 2013, "two bytes too many"),
    (of("emqtt-ex-length"), 2009, "two bytes too few"),
    (of("emqtt-ex-length"), 4059, "eight bits of each byte"),
    (of("emqtt-ex-length"), 2139, "eighth bit only says"),
    (of("emqtt-ex-length"), 91, "another byte of the length"),
    (of("emqtt-ex-capture"), [513, 7], "high byte first"),
    (of("emqtt-ex-capture"), [3, 7], "length of the topic"),
    (of("emqtt-ex-capture"), [258, 9], "variable header"),
    (of("emqtt-ex-capture"), [258, 14], "among them"),
    (of("emqtt-ex-capture"), [258, 11], "packet of their own"),
    (of("emqtt-ex-capture"), [7, 258], "first, then"),
    (of("emqtt-ex-counting"), lambda n, t, m: n * (18 + t + m), "own leg"),
    (of("emqtt-ex-counting"), lambda n, t, m: (1 + n) * (6 + t + m), "PUBLISH alone"),
    (of("emqtt-ex-counting"), lambda n, t, m: (1 + n) * (10 + t + m), "three packets come after"),
    (of("emqtt-ex-counting"), lambda n, t, m: (1 + n) * (16 + t + m), "two bytes a leg"),
    (of("emqtt-ex-counting"), lambda n, t, m: (1 + n) * (14 + t + m), "four bytes a leg"),
    (of("emqtt-ex-counting"), lambda n, t, m: 6 + t + m + n * (18 + t + m), "gets and gives"),
    (of("emqtt-ex-puback"), "b", "does anybody tell"),
    (of("emqtt-ex-puback"), "c", "came from a subscriber"),
    (of("emqtt-ex-puback"), "d", "wait for"),
    (of("emqtt-ex-pubrel"), "b", "DUP"),
    (of("emqtt-ex-pubrel"), "c", "nothing left"),
    (of("emqtt-ex-pubrel"), "d", "forgotten"),
    (of("emqtt-ex-missing"), lambda s: max(0, 2 + s[1] - len(s)), "has its eighth bit"),
    (of("emqtt-ex-missing"), lambda s: max(0, 2 + s[1] % 128 - len(s)), "another byte follows"),
    (of("emqtt-ex-missing"), lambda s: sum(read_length(s, 1)) - len(s), "more than one packet"),
    (of("emqtt-ex-missing"), lambda s: max(0, read_length(s, 1)[0] - len(s)), "on top"),
    (of("emqtt-ex-missing"), lambda s: max(0, 1 + read_length(s, 1)[0] - len(s)), "hold the length"),
    (of("emqtt-ex-missing"), lambda s: sum(read_length(s, 1)), "has come already"),
    (of("emqtt-ex-eighty"), 3 * 68, "own four packets"),
    (of("emqtt-ex-eighty"), 192, "between publisher and broker"),
    (of("emqtt-ex-eighty"), 4 + 6 * 16, "QoS 0"),
    (of("emqtt-ex-eighty"), 4 + 12 * 17, "divide the others"),
    (of("emqtt-ex-eighty"), 4 + 12 * 68, "not of subscribers"),
    (of("emqtt-ex-link"), 63, "40 bytes of TCP"),
    (of("emqtt-ex-link"), 65, "40 bytes around it; and"),
    (of("emqtt-ex-link"), 265, "equally long"),
    (of("emqtt-ex-link"), 267, "lost, not won"),
    (of("emqtt-ex-link"), 323, "cancels"),
    (of("emqtt-ex-link"), 422, "MQTT's delay; how long does E-MQTT"),
    (of("emqtt-ex-link"), 159, "E-MQTT's delay; how long does MQTT"),
    (of("emqtt-ex-link"), 51, "five responses"),
    (of("emqtt-ex-ward"), 0.59049, "all five"),
    (of("emqtt-ex-ward"), 0.32805, "exactly four"),
    (of("emqtt-ex-ward"), 0.6561, "four certain ones"),
    (of("emqtt-ex-ward"), 0.06561, "one choice"),
    (of("emqtt-ex-ward"), 0.08146, "too few"),
    (of("emqtt-ex-ward"), 0.00046, "to be late"),
    (of("emqtt-ex-naming"), lambda t, m: 4 + t + m, "before each id"),
    (of("emqtt-ex-naming"), lambda t, m: 5 + t + m, "no packet id"),
    (of("emqtt-ex-naming"), lambda t, m: 2 + t + m, "as many bytes are allowed"),
    (of("emqtt-ex-naming"), lambda t, m: 1 + t + m, "two bytes are missing"),
    (of("emqtt-ex-naming"), lambda t, m: t + m, "stands before each of them"),
    (of("emqtt-ex-gain"), lambda n, h: (17 + 13 * n) / 19, "h bytes"),
    (of("emqtt-ex-gain"), lambda n, h: n * (13 + h) / (19 + 2 * h), "send its query"),
    (of("emqtt-ex-gain"), lambda n, h: (17 + 2 * h + n * (25 + 4 * h)) / (19 + 2 * h), "do not count"),
    (of("emqtt-ex-gain"), lambda n, h: 1 / gain(n, h), "divide MQTT's delay"),
    (of("emqtt-ex-gain"), lambda n, h: 1 + n * (13 + h) / (17 + 2 * h), "two bytes more"),
    (of("emqtt-ex-gain"), lambda n, h: 1.0, "slower, not faster"),
    (of("emqtt-ex-too-few"), "a", "under way"),
    (of("emqtt-ex-too-few"), "b", "lost for good"),
    (of("emqtt-ex-too-few"), "d", "takes no message back"),
    (of("emqtt-ex-line"), "b", "who sends the PUBACK"),
    (of("emqtt-ex-line"), "c", "PUBREL too"),
    (of("emqtt-ex-line"), "d", "packet of its own"),
    (
        of("emqtt-ex-quorum"),
        lambda g, a: until(g, a, lambda come, one: 2 * sum(c in one for c in come) >= len(one)),
        "counts once",
    ),
    (
        of("emqtt-ex-quorum"),
        lambda g, a: until(g, a, lambda come, one: len(set(come) & set(one)) >= len(one) // 2),
        "less than half",
    ),
    (
        of("emqtt-ex-quorum"),
        lambda g, a: until(g, a, lambda come, one: 2 * len(set(come) & set(one)) > len(one)),
        "not more than half",
    ),
    (of("emqtt-ex-quorum"), lambda g, a: quorum([sorted({c for one in g for c in one})], a), "all together"),
    (of("emqtt-ex-quorum"), lambda g, a: max(0, quorum(g, a) - 1), "index"),
    (of("emqtt-ex-quorum"), lambda g, a: min(filter(None, (quorum([one], a) for one in g)), default=0), "not just one"),
    (of("emqtt-ex-table3"), 57, "seven bits still"),
    (of("emqtt-ex-table3"), 59, "waited_packet_num"),
    (of("emqtt-ex-table3"), 61, "payload"),
    (of("emqtt-ex-table3"), 64, "not all that follows"),
    (of("emqtt-ex-table3"), 115, "two bytes"),
    (of("emqtt-ex-table3"), 128, "not the number of ids"),
    (of("emqtt-ex-load"), lambda n: 1 + n, "these are packets"),
    (of("emqtt-ex-load"), lambda n: 25 * (1 + n) / 27, "names are missing"),
    (of("emqtt-ex-load"), lambda n: 25 * (1 + n) / (27 + 2 * n), "up to 57"),
    (of("emqtt-ex-load"), lambda n: load(n) * (25 + 13 * n) / (25 + 25 * n), "three acknowledgements"),
    (of("emqtt-ex-load"), lambda n: load(n) * n / (1 + n), "query has to be sent"),
    (of("emqtt-ex-load"), lambda n: load(n) * (25 + 11 * n) / (25 + 25 * n), "QoS 0"),
    (of("emqtt-ex-pairs"), 3, "arithmetic"),
    (of("emqtt-ex-pairs"), 1.5, "median"),
    (of("emqtt-ex-pairs"), "52/15", "means"),
    (of("emqtt-ex-pairs"), 4.5 / 4, "pairs are lost"),
    (of("emqtt-ex-pairs"), 0.5, "over MQTT's"),
    (of("emqtt-ex-pairs"), 16, "product"),
    (of("emqtt-ex-gauge"), [1, 1.8], "both levels"),
    (of("emqtt-ex-gauge"), ["4/3", "4/3"], "ratio of the readings"),
    (of("emqtt-ex-gauge"), [5 / 4, 3 / 2], "divides the least use"),
    (of("emqtt-ex-gauge"), [0.6, 5 / 3], "first use reads"),
    (of("emqtt-ex-gauge"), [2 / 5, 4 / 3], "divide the first use"),
    (of("emqtt-ex-gauge"), [2.5, 0.75], "other way round"),
    (of("emqtt-ex-pair"), "a", "PUBREC comes before"),
    (of("emqtt-ex-pair"), "b", "subscriber's leg"),
    (of("emqtt-ex-pair"), "d", "neither"),
    (of("emqtt-ex-near-one"), "a", "slower the link"),
    (of("emqtt-ex-near-one"), "b", "more responses"),
    (of("emqtt-ex-near-one"), "d", "payload"),
    (of("emqtt-ex-bridge"), lambda n, a: bridged(n, a, sum), "not added up"),
    (of("emqtt-ex-bridge"), lambda n, a: bridged(n, a, lambda far: far[-1]), "takes nothing back"),
    (of("emqtt-ex-bridge"), lambda n, a: bridged(n, a, len), "carries a count"),
    (of("emqtt-ex-bridge"), lambda n, a: bridged(n, a, near=list), "counts once"),
    (of("emqtt-ex-bridge"), lambda n, a: bridged(n + 1, a), "not more than n"),
    (of("emqtt-ex-bridge"), lambda n, a: max(0, bridged(n, a) - 1), "index"),
]


@pytest.mark.parametrize(("ask", "answer"), [(ask, a) for ask, answers in RIGHT.items() for a in answers])
def test_a_right_answer_in_any_form(ask, answer):
    feedback = ask(answer)
    assert feedback.ok, feedback
    assert "not answered yet" in ask(None).message


@pytest.mark.parametrize(("ask", "answer", "hint"), WRONG)
def test_each_usual_mistake_gets_its_own_hint(ask, answer, hint):
    feedback = ask(answer)
    assert not feedback.ok
    assert hint in feedback.message


@pytest.mark.parametrize("ask", RIGHT, ids=lambda ask: ask.label)
def test_at_least_three_mistakes_are_known_and_told_apart(ask):
    said = {ask(answer).message for other, answer, _ in WRONG if other == ask}
    assert len(said) >= 3


def test_every_exercise_is_tried():
    tables = (packets.EXERCISES, end_to_end.EXERCISES, reproduction.EXERCISES)
    assert {ask.label for ask in RIGHT} == {label for table in tables for label in table if "-ex-" in label}


class Hostile:
    """Fails at whatever is tried with it."""

    def __str__(self):
        raise RuntimeError("no")

    __repr__ = __array__ = __float__ = __iter__ = __eq__ = __call__ = __str__
    __hash__ = None


WHATEVER = ["a word", -7, [1, 2, 3], [], {}, {1, 2}, b"\xff\x00\x01", "0xzz", "face", 10**400, float("nan"), True, 1j]
FUNCTIONS = [
    lambda *a: None,
    lambda: 1,
    lambda *a: 1 / 0,
    lambda *a: "x",
    lambda *a: [1, 2],
    lambda *a: Hostile(),
    print,
]


@pytest.mark.parametrize(
    "answer", [*WHATEVER, *FUNCTIONS, Hostile(), Hostile, object()], ids=lambda a: type(a).__name__
)
@pytest.mark.parametrize("ask", RIGHT, ids=lambda ask: ask.label)
def test_whatever_is_handed_over_gets_a_sentence(ask, answer):
    feedback = ask(answer)
    assert not feedback.ok
    assert len(feedback.message) > 10


EXACT = {
    of("emqtt-ex-first-byte"): 0x3D,
    of("emqtt-ex-eighty"): 196,
    of("emqtt-ex-link"): 263,
    of("emqtt-ex-table3"): 58,
}


@pytest.mark.parametrize("ask", EXACT, ids=lambda ask: ask.label)
@given(off=st.integers(-60, 60).filter(bool))
def test_where_a_whole_number_is_asked_none_beside_it_is_close(ask, off):
    feedback = ask(EXACT[ask] + off)
    assert not feedback.ok
    assert "close" not in feedback.message


def test_a_function_may_change_what_it_is_given():
    def greedy(groups, answers):
        found = quorum(groups, answers)
        groups.clear()
        answers.clear()
        return found

    assert check("emqtt-ex-quorum", greedy)


# What the questions take for granted, by the package


def test_the_captured_stream_is_what_its_check_says():
    text = "3a 0e 00 03 61 2f 62 01 02 6f 70 65 6e 21 0d 0a 40 02 01 01"
    ((first, body), other), rest = cut(bytes.fromhex(text))
    found = read_publish(first, body)
    assert (found["packet_id"], len(found["payload"])) == (258, 7)
    assert bytes([other[0], 2]) + other[1] == encode(p.Puback(257))
    assert rest == b""


@pytest.mark.parametrize(("n", "t", "m"), [(1, 1, 6), (7, 20, 90)])
def test_a_messages_weight_is_that_of_its_packets(n, t, m):
    packets = (p.Publish("x" * t, bytes(m), 2, packet_id=1), p.Pubrec(1), p.Pubrel(1), p.Pubcomp(1))
    assert (1 + n) * sum(len(encode(packet)) for packet in packets) == (1 + n) * (18 + t + m)


def test_counts_of_the_questions():
    assert (counting.messages("all", 16), counting.messages("mqtt-2", 16)) == (68, 196)
    short = [counting.publish_size(3, n) - counting.papers_count(counting.publish_size(3, n)) for n in range(81)]
    assert short.index(2) == 58
    for n in (1, 57, 58, 80):
        each = counting.publish_size(2) + 12
        assert load(n) == (1 + n) * each / (counting.publish_size(3, n) + 12)


@pytest.mark.parametrize(("t", "m"), [(1, 6), (9, 2)])
@pytest.mark.parametrize("more", [0, 1])
def test_the_longest_id_is_as_long_as_a_response_allows(t, m, more):
    names = tuple(f"{i:0{3 + t + m + more}d}" for i in range(6))
    bare = p.Publish("T", b"", 3, packet_id=1, waited=6)
    named = p.Publish("T", b"", 3, packet_id=1, waited=6, subscribers=names)
    added = len(read_body(encode(named))) - len(read_body(encode(bare)))
    assert (added <= 6 * len(publish("x" * t, bytes(m)))) is (more == 0)


def read_body(packet):
    return packet[read_length(packet, 1)[1] :]


def test_of_a_response_at_qos_1_as_much_is_received_as_at_qos_0():
    with BrokerThread(Config(port=0)) as broker:
        steps = [trace.one_message(broker.port, qos).steps for qos in range(3)]
    assert [sum(s.source == trace.BROKER and s.target == trace.SUBSCRIBER for s in of) for of in steps] == [1, 1, 2]


def test_only_a_longer_way_brings_both_delays_together():
    def ratio(rate=1e6, n=20, one_way=0.001, payload=6):
        e_mqtt = 2 * one_way + 8 * (9 + payload + 4 + 80) / rate
        return e_mqtt / (2 * one_way + 8 * (7 + payload + 4 + 80 + n * (7 + payload + 40)) / rate)

    assert ratio() == pytest.approx(link_delay("E-MQTT", 20, 1e6, 0.001, 40) / link_delay("MQTT", 20, 1e6, 0.001, 40))
    assert max(ratio(rate=5e5), ratio(n=40), ratio(payload=60)) < ratio() < ratio(one_way=0.01) < 1


@given(*4 * [st.floats(0, 0.999)])
def test_no_levels_behind_the_readings_give_another_ratio(a, b, c, d):
    assert 0.75 < (97 + a - 93 - b) / (96 + c - 93 - d) < 2.5


names = st.sampled_from("abcde")


@given(st.lists(st.lists(names, min_size=1, unique=True), min_size=1, max_size=3), st.lists(names, max_size=8))
def test_a_hold_for_each_group_is_what_the_check_expects(groups, answers):
    assert quorum(groups, answers) == end_to_end._due(groups, answers)


# The form on the page

CHAPTERS = [path for path in paths.chapters() if path.parent.name == "emqtt"]
FORM = re.compile(r"```\{exercise\} .+ \((by hand|derive|interpret|build), (easy|medium|hard)\)\n:label: (\S+)\n")


def shown(cell):
    return "".join(output.get("text", "") + output.get("data", {}).get("text/plain", "") for output in cell.outputs)


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_each_exercise_has_its_place_and_its_check_in_view_and_then_its_fold(path):
    cells = nbformat.read(path, 4).cells
    asked = [i for i, cell in enumerate(cells) if "{exercise}" in cell.source and cell.id != "lab-ask"]  # test_labs
    kinds = set()
    for i in asked:
        kind, _, label = FORM.match(cells[i].source).groups()
        kinds.add(kind)
        name = re.search(r"^(answer_\w+) = None  # your \w.*$", cells[i + 1].source, re.M)[1]
        assert cells[i + 2].metadata["tags"] == ["check"]
        assert re.fullmatch(rf'check\("{label}", {name}(, my_seed)?\)', cells[i + 2].source)
        assert "not answered yet" in shown(cells[i + 2])
        assert cells[i + 3].source == f"```{{solution-start}} {label}\n:class: dropdown\n```"
        end = next(k for k in range(i, len(cells)) if cells[k].source.startswith("```{solution-end}"))
        prose, *code = cells[i + 4 : end]
        assert prose.cell_type == "markdown"
        assert len(prose.source.split()) >= 20, f"{label}: say how one finds it"
        assert all(cell.metadata["tags"] == ["solution"] for cell in code)
        assert "Right: " in shown(code[-1])
    assert len(asked) >= 6
    assert kinds == {"by hand", "derive", "interpret", "build"}


RESULTS = {"01_packets": ("2011", "258"), "02_end_to_end": ("196", "263"), "03_reproduction": ("0.75",)}


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_no_result_of_three_digits_stands_on_the_page(path):
    found, folded = [], False
    for cell in nbformat.read(path, 4).cells:
        folded = "{solution-start}" in cell.source or (folded and "{solution-end}" not in cell.source)
        if not folded:
            page = cell.source + (shown(cell) if cell.cell_type == "code" else "")
            found += [result for result in RESULTS[path.stem] if re.search(rf"(?<![\w.]){result}(?!\w)", page)]
    assert found == []
