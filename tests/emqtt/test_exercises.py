"""The exercises of the part both ways: right in every form, and a hint of its own for each usual mistake."""

from __future__ import annotations

import re
from fractions import Fraction

import nbformat
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicewire.emqtt import counting, trace
from voicewire.emqtt.reference import after, cut, hold, link_delay, publish, read_length, read_publish
from voicewire.mqtt import BrokerThread, Config, encode
from voicewire.mqtt import packets as p
from voicewire_book import paths
from voicewire_book.chapters.emqtt import exercises as e


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
    e.check_first_byte: [0x3D, 61.0, np.int64(61), "61", "0x3d", "3D", b"\x3d", "0b111101", "00111101", [0x3D]],
    e.check_payload: [2011, "2011 bytes", 2011.0, "2,011"],
    e.check_capture: [[258, 7], "258, 7", {"id": 258, "bytes": 7}, (258.0, 7)],
    e.check_weight: [lambda n, t, m: (1 + n) * (18 + t + m), lambda n, t, m: 18 + t + m + n * t + n * m + 18 * n],
    e.check_puback: ["a", "A)", " (a) "],
    e.check_pubrel: ["a", "A"],
    e.check_missing: [missing, lambda s: max(0, (len(cut(s)[0]) == 0) * missing(s))],
    e.check_messages: [196, "196", 196.0, [196]],
    e.check_sooner: [
        263,
        "263 ms",
        1e3 * (link_delay("MQTT", 5, 8e3, 0.03, 40) - link_delay("E-MQTT", 5, 8e3, 0.03, 40)),
    ],
    e.check_ward: [0.9**4 * 1.4, "91.85 %", 0.919],
    e.check_longest_id: [lambda t, m: 3 + t + m, lambda t, m: len(publish("x" * t, bytes(m))) - 1],
    e.check_gain: [gain, lambda n, h: Fraction(17 + 2 * h + n * (13 + h), 19 + 2 * h)],
    e.check_late: ["c", "C."],
    e.check_line: ["a"],
    e.check_quorum: [quorum],
    e.check_table3: [58, "58", 58.0],
    e.check_load: [load, lambda n: np.float64(25 * (1 + n)) / (counting.publish_size(3, n) + 12)],
    e.check_pairs: [2, "2", 16 ** (1 / 4), np.exp(np.log([2, 8, 1, 1]).mean())],
    e.check_gauge: [[0.75, 2.5], "3/4, 5/2", [Fraction(3, 4), Fraction(5, 2)], ("75 %", "250 %")],
    e.check_contradiction: ["c"],
    e.check_near_one: ["c"],
    e.check_bridge: [bridged],
}

WRONG = [
    (e.check_first_byte, 0x35, "first time"),
    (e.check_first_byte, "0x3c", "RETAIN"),
    (e.check_first_byte, 0x3B, "QoS 2 is bit 2"),
    (e.check_first_byte, 0x3F, "QoS 3"),
    (e.check_first_byte, 0x39, "missing"),
    (e.check_first_byte, 13, "upper four bits"),
    (e.check_payload, 2026, "Remaining Length"),
    (e.check_payload, 2013, "two bytes too many"),
    (e.check_payload, 2009, "two bytes too few"),
    (e.check_payload, 4059, "eight bits a byte"),
    (e.check_payload, 2139, "eighth bit only says"),
    (e.check_payload, 91, "another byte of the length"),
    (e.check_capture, [513, 7], "high byte first"),
    (e.check_capture, [3, 7], "length of the topic"),
    (e.check_capture, [258, 9], "variable header"),
    (e.check_capture, [258, 14], "among them"),
    (e.check_capture, [258, 11], "packet of their own"),
    (e.check_capture, [7, 258], "first, then"),
    (e.check_weight, lambda n, t, m: n * (18 + t + m), "own leg"),
    (e.check_weight, lambda n, t, m: (1 + n) * (6 + t + m), "PUBLISH alone"),
    (e.check_weight, lambda n, t, m: (1 + n) * (10 + t + m), "but three"),
    (e.check_weight, lambda n, t, m: (1 + n) * (16 + t + m), "two bytes a leg"),
    (e.check_weight, lambda n, t, m: (1 + n) * (14 + t + m), "four bytes a leg"),
    (e.check_weight, lambda n, t, m: 6 + t + m + n * (18 + t + m), "gets and gives"),
    (e.check_puback, "b", "does anybody tell"),
    (e.check_puback, "c", "came from a subscriber"),
    (e.check_puback, "d", "wait for"),
    (e.check_pubrel, "b", "DUP"),
    (e.check_pubrel, "c", "nothing left"),
    (e.check_pubrel, "d", "forgotten"),
    (e.check_missing, lambda s: max(0, 2 + s[1] - len(s)), "has its eighth bit"),
    (e.check_missing, lambda s: max(0, 2 + s[1] % 128 - len(s)), "another byte follows"),
    (e.check_missing, lambda s: sum(read_length(s, 1)) - len(s), "more than one packet"),
    (e.check_missing, lambda s: max(0, read_length(s, 1)[0] - len(s)), "on top"),
    (e.check_missing, lambda s: max(0, 1 + read_length(s, 1)[0] - len(s)), "hold the length"),
    (e.check_missing, lambda s: sum(read_length(s, 1)), "has come already"),
    (e.check_messages, 3 * 68, "own four packets"),
    (e.check_messages, 192, "between publisher and broker"),
    (e.check_messages, 4 + 6 * 16, "QoS 0"),
    (e.check_messages, 4 + 12 * 17, "divide the others"),
    (e.check_messages, 4 + 12 * 68, "not of subscribers"),
    (e.check_sooner, 63, "40 bytes of TCP"),
    (e.check_sooner, 65, "40 bytes around it; and"),
    (e.check_sooner, 265, "equally long"),
    (e.check_sooner, 267, "lost, not won"),
    (e.check_sooner, 323, "cancels"),
    (e.check_sooner, 422, "MQTT's delay; how long does E-MQTT"),
    (e.check_sooner, 159, "E-MQTT's delay; how long does MQTT"),
    (e.check_sooner, 51, "five responses"),
    (e.check_ward, 0.59049, "all five"),
    (e.check_ward, 0.32805, "exactly four"),
    (e.check_ward, 0.6561, "four certain ones"),
    (e.check_ward, 0.06561, "one choice"),
    (e.check_ward, 0.08146, "too few"),
    (e.check_ward, 0.00046, "to be late"),
    (e.check_longest_id, lambda t, m: 4 + t + m, "before each id"),
    (e.check_longest_id, lambda t, m: 5 + t + m, "no packet id"),
    (e.check_longest_id, lambda t, m: 2 + t + m, "as many are allowed"),
    (e.check_longest_id, lambda t, m: 1 + t + m, "two bytes are missing"),
    (e.check_longest_id, lambda t, m: t + m, "stands before each of them"),
    (e.check_gain, lambda n, h: (17 + 13 * n) / 19, "h bytes"),
    (e.check_gain, lambda n, h: n * (13 + h) / (19 + 2 * h), "send its query"),
    (e.check_gain, lambda n, h: (17 + 2 * h + n * (25 + 4 * h)) / (19 + 2 * h), "do not count"),
    (e.check_gain, lambda n, h: 1 / gain(n, h), "stands above"),
    (e.check_gain, lambda n, h: 1 + n * (13 + h) / (17 + 2 * h), "two bytes more"),
    (e.check_gain, lambda n, h: 1.0, "slower, not faster"),
    (e.check_late, "a", "under way"),
    (e.check_late, "b", "lost for good"),
    (e.check_late, "d", "takes no message back"),
    (e.check_line, "b", "who sends the PUBACK"),
    (e.check_line, "c", "PUBREL too"),
    (e.check_line, "d", "packet of its own"),
    (
        e.check_quorum,
        lambda g, a: until(g, a, lambda come, one: 2 * sum(c in one for c in come) >= len(one)),
        "counts once",
    ),
    (
        e.check_quorum,
        lambda g, a: until(g, a, lambda come, one: len(set(come) & set(one)) >= len(one) // 2),
        "less than half",
    ),
    (
        e.check_quorum,
        lambda g, a: until(g, a, lambda come, one: 2 * len(set(come) & set(one)) > len(one)),
        "not more than half",
    ),
    (e.check_quorum, lambda g, a: quorum([sorted({c for one in g for c in one})], a), "all together"),
    (e.check_quorum, lambda g, a: max(0, quorum(g, a) - 1), "index"),
    (e.check_quorum, lambda g, a: min(filter(None, (quorum([one], a) for one in g)), default=0), "not just one"),
    (e.check_table3, 57, "seven bits still"),
    (e.check_table3, 59, "waited_packet_num"),
    (e.check_table3, 61, "payload"),
    (e.check_table3, 64, "not all that follows"),
    (e.check_table3, 115, "two bytes"),
    (e.check_table3, 128, "not the number of ids"),
    (e.check_load, lambda n: 1 + n, "these are packets"),
    (e.check_load, lambda n: 25 * (1 + n) / 27, "names are missing"),
    (e.check_load, lambda n: 25 * (1 + n) / (27 + 2 * n), "up to 57"),
    (e.check_load, lambda n: load(n) * (25 + 13 * n) / (25 + 25 * n), "three acknowledgements"),
    (e.check_load, lambda n: load(n) * n / (1 + n), "query has to be sent"),
    (e.check_load, lambda n: load(n) * (25 + 11 * n) / (25 + 25 * n), "QoS 0"),
    (e.check_pairs, 3, "arithmetic"),
    (e.check_pairs, 1.5, "median"),
    (e.check_pairs, "52/15", "means"),
    (e.check_pairs, 4.5 / 4, "pairs are lost"),
    (e.check_pairs, 0.5, "over MQTT's"),
    (e.check_pairs, 16, "product"),
    (e.check_gauge, [1, 1.8], "both levels"),
    (e.check_gauge, ["4/3", "4/3"], "ratio of the readings"),
    (e.check_gauge, [5 / 4, 3 / 2], "greatest below"),
    (e.check_gauge, [0.6, 5 / 3], "first use reads"),
    (e.check_gauge, [2 / 5, 4 / 3], "first use is above"),
    (e.check_gauge, [2.5, 0.75], "other way round"),
    (e.check_contradiction, "a", "PUBREC comes before"),
    (e.check_contradiction, "b", "subscriber's leg"),
    (e.check_contradiction, "d", "neither"),
    (e.check_near_one, "a", "slower the link"),
    (e.check_near_one, "b", "more responses"),
    (e.check_near_one, "d", "payload"),
    (e.check_bridge, lambda n, a: bridged(n, a, sum), "not added up"),
    (e.check_bridge, lambda n, a: bridged(n, a, lambda far: far[-1]), "takes nothing back"),
    (e.check_bridge, lambda n, a: bridged(n, a, len), "carries a count"),
    (e.check_bridge, lambda n, a: bridged(n, a, near=list), "counts once"),
    (e.check_bridge, lambda n, a: bridged(n + 1, a), "not more than n"),
    (e.check_bridge, lambda n, a: max(0, bridged(n, a) - 1), "index"),
]


@pytest.mark.parametrize(("check", "answer"), [(c, a) for c, answers in RIGHT.items() for a in answers])
def test_a_right_answer_in_any_form(check, answer):
    feedback = check(answer)
    assert feedback.ok, feedback
    assert "not answered yet" in check(None).message


@pytest.mark.parametrize(("check", "answer", "hint"), WRONG)
def test_each_usual_mistake_gets_its_own_hint(check, answer, hint):
    feedback = check(answer)
    assert not feedback.ok
    assert hint in feedback.message


@pytest.mark.parametrize("check", RIGHT, ids=lambda check: check.__name__)
def test_at_least_three_mistakes_are_known_and_told_apart(check):
    said = {check(answer).message for other, answer, _ in WRONG if other is check}
    assert len(said) >= 3


def test_every_check_is_tried():
    assert {check.__name__ for check in RIGHT} == set(e.__all__)


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
@pytest.mark.parametrize("check", RIGHT, ids=lambda check: check.__name__)
def test_whatever_is_handed_over_gets_a_sentence(check, answer):
    feedback = check(answer)
    assert not feedback.ok
    assert len(feedback.message) > 10


EXACT = {e.check_first_byte: 0x3D, e.check_messages: 196, e.check_sooner: 263, e.check_table3: 58}


@pytest.mark.parametrize("check", EXACT, ids=lambda check: check.__name__)
@given(off=st.integers(-60, 60).filter(bool))
def test_where_a_whole_number_is_asked_none_beside_it_is_close(check, off):
    feedback = check(EXACT[check] + off)
    assert not feedback.ok
    assert "close" not in feedback.message


def test_a_function_may_change_what_it_is_given():
    def greedy(groups, answers):
        found = quorum(groups, answers)
        groups.clear()
        answers.clear()
        return found

    assert e.check_quorum(greedy)


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
    assert quorum(groups, answers) == e._due(groups, answers)


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
        assert re.search(rf"\({name}(, my_seed)?\)", cells[i + 2].source)
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
