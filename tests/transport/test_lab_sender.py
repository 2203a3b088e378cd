"""The lab on a sender in every state: the solution stage by stage, nothing, and each usual mistake."""

from __future__ import annotations

import math

import pytest

from voicewire_book.chapters.transport import lab_sender as lab


def pipe(waiting):
    return sum(not x["sacked"] and (x["again"] or not x["lost"]) for x in waiting)


def grow(cwnd, ssthresh):
    return cwnd + (1 if cwnd < ssthresh else 1 / cwnd)


def push(state, now, timer=True, repair_first=True, alone=True, arrived=True):
    left = []
    while True:
        lost = [x for x in state["waiting"] if x["lost"] and not ((x["sacked"] and arrived) or x["again"])]
        out = pipe(state["waiting"])
        if (out or not alone) and out + 1 > state["cwnd"]:
            return left
        if repair_first and state["recover"] >= 0 and lost:
            lost[0]["again"] = True
            left.append(lost[0]["number"])
        elif state["next"] < state["total"]:
            state["waiting"].append({"number": state["next"], "sacked": False, "lost": False, "again": False})
            left.append(state["next"])
            state["next"] += 1
        else:
            return left
        if timer and state["timer"] == math.inf:
            state["timer"] = now + min(state["rto"] * state["backoff"], 64)


def halve(state):
    state["ssthresh"] = max((state["next"] - state["una"]) / 2, 2)


def mark(state, sacked, needed=3):
    found, above = False, 0
    for x in reversed(state["waiting"]):
        x["sacked"] |= any(low <= x["number"] < high for low, high in sacked)
        above += x["sacked"]
        if above >= needed and not (x["sacked"] or x["lost"]):
            x["lost"] = found = True
    return found


def acknowledge(state, now, upto, sacked, needed=3, once=True, held=True):
    new = upto > state["una"]
    if new:
        state["una"], state["backoff"] = upto, 1.0
        state["waiting"] = [x for x in state["waiting"] if x["number"] >= upto]
        state["timer"] = now + min(state["rto"], 64)
        if upto >= state["recover"]:
            state["recover"], state["fast"] = -1, False
    if mark(state, sacked, needed) and (state["recover"] < 0 or not once):
        halve(state)
        state["cwnd"], state["recover"], state["fast"] = state["ssthresh"], state["next"], True
    if new and not (state["fast"] and held):
        state["cwnd"] = grow(state["cwnd"], state["ssthresh"])
    if not state["waiting"]:
        state["timer"] = math.inf


def expire(state, first_only=True, window=1.0, doubled=2):
    if state["backoff"] == 1 or not first_only:
        halve(state)
    state["cwnd"], state["recover"], state["fast"] = window, state["next"], False
    state["timer"], state["backoff"] = math.inf, min(doubled * state["backoff"], 64)
    for x in state["waiting"]:
        x["lost"], x["again"], x["sacked"] = True, False, False


SOLUTION = push, acknowledge, expire
STAGES = [
    (lab.check_pipe, pipe),
    (lab.check_grow, grow),
    (lab.check_push, push),
    (lab.check_acknowledge, acknowledge),
    (lab.check_expire, expire),
    (lab.check_sender, SOLUTION),
]


@pytest.mark.parametrize(("check", "solution"), STAGES, ids=lambda x: getattr(x, "__name__", ""))
def test_the_solution_passes_stage_by_stage_and_nothing_is_not_answered(check, solution):
    assert check(solution), check(solution).message
    assert "not answered" in check(None).message
    assert not check(lambda *given: None)


def forgets_sacked(state):
    expire(state)
    state["waiting"][0]["sacked"] = True


def never_rests(state, now, upto, sacked):
    acknowledge(state, now, upto, sacked)
    state["timer"] = min(state["timer"], now + 1)


@pytest.mark.parametrize(
    ("check", "answer", "hint"),
    [
        (lab.check_pipe, len, "has arrived"),
        (lab.check_pipe, lambda waiting: sum(not x["sacked"] for x in waiting), "a lost one"),
        (lab.check_pipe, lambda waiting: sum(not (x["sacked"] or x["lost"]) for x in waiting), "once more"),
        (lab.check_grow, lambda cwnd, ssthresh: 2 * cwnd, "doubles in a round trip"),
        (lab.check_grow, lambda cwnd, ssthresh: cwnd + 1, "by 1/cwnd"),
        (lab.check_grow, lambda cwnd, ssthresh: cwnd + (1 if cwnd <= ssthresh else 1 / cwnd), "by 1/cwnd"),
        (lab.check_push, lambda state, now: push(state, now, timer=False), "it starts when"),
        (lab.check_push, lambda state, now: push(state, now, repair_first=False), "a repair"),
        (lab.check_push, lambda state, now: push(state, now, alone=False), "nothing under way"),
        (lab.check_push, lambda state, now: push(state, now, arrived=False), "has arrived after all"),
        (lab.check_push, lambda state, now: push({**state, "waiting": state["waiting"]}, now), "next: "),
        (lab.check_acknowledge, lambda s, now, upto, sacked: acknowledge(s, now, upto, sacked, needed=2), "three"),
        (lab.check_acknowledge, lambda s, now, upto, sacked: acknowledge(s, now, upto, ()), "mark what is SACKed"),
        (lab.check_acknowledge, lambda s, now, upto, sacked: acknowledge(s, now, upto, sacked, held=False), "cwnd"),
        (lab.check_acknowledge, never_rests, "rests"),
        (lab.check_expire, forgets_sacked, "SACKed or not"),
        (lab.check_expire, lambda state: expire(state, first_only=False), "not again"),
        (lab.check_expire, lambda state: expire(state, window=10.0), "one segment"),
        (lab.check_expire, lambda state: expire(state, doubled=1), "twice as long"),
        (lab.check_sender, (push, acknowledge), "three functions"),
        (lab.check_sender, (push, acknowledge, lambda state: None), "world"),
        (lab.check_sender, (push, lambda s, t, u, x: acknowledge(s, t, u, x, once=False), expire), "is wanted"),
        (lab.check_sender, (lambda state, now: [], acknowledge, expire), "the timer rests"),
        (lab.check_sender, (lambda state, now: 1 / 0, acknowledge, expire), "ZeroDivisionError"),
        (lab.check_grow, 5, "function itself"),
    ],
)
def test_a_usual_mistake_fails_where_it_should_with_its_own_hint(check, answer, hint):
    feedback = check(answer)
    assert not feedback
    assert hint in feedback.message


def test_the_last_stage_has_worlds_in_which_timers_fire_and_sack_repairs():
    words = lab.check_sender(SOLUTION).message.split()
    assert int(words[words.index("timers") - 1]) > 30
    assert not lab.check_sender((push, lambda s, now, upto, sacked: acknowledge(s, now, upto, ()), expire))
