"""The lab on a sender in every state: the solution stage by stage, nothing, and each usual mistake."""

from __future__ import annotations

import math

import pytest
from asking import check, of


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
CHECKS = {
    stage: of(f"transport-sender-lab-{stage}") for stage in ("pipe", "grow", "push", "acknowledge", "expire", "sender")
}
STAGES = [
    ("pipe", pipe),
    ("grow", grow),
    ("push", push),
    ("acknowledge", acknowledge),
    ("expire", expire),
    ("sender", SOLUTION),
]


@pytest.mark.parametrize(("stage", "solution"), STAGES, ids=lambda x: getattr(x, "__name__", ""))
def test_the_solution_passes_stage_by_stage_and_nothing_is_not_answered(stage, solution):
    check = CHECKS[stage]
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
    ("stage", "answer", "hint"),
    [
        ("pipe", len, "has arrived"),
        ("pipe", lambda waiting: sum(not x["sacked"] for x in waiting), "a lost one"),
        ("pipe", lambda waiting: sum(not (x["sacked"] or x["lost"]) for x in waiting), "once more"),
        ("grow", lambda cwnd, ssthresh: 2 * cwnd, "doubles in a round trip"),
        ("grow", lambda cwnd, ssthresh: cwnd + 1, "by 1/cwnd"),
        ("grow", lambda cwnd, ssthresh: cwnd + (1 if cwnd <= ssthresh else 1 / cwnd), "by 1/cwnd"),
        ("push", lambda state, now: push(state, now, timer=False), "it starts when"),
        ("push", lambda state, now: push(state, now, repair_first=False), "a repair"),
        ("push", lambda state, now: push(state, now, alone=False), "nothing under way"),
        ("push", lambda state, now: push(state, now, arrived=False), "has arrived after all"),
        ("push", lambda state, now: push({**state, "waiting": state["waiting"]}, now), "next: "),
        ("acknowledge", lambda s, now, upto, sacked: acknowledge(s, now, upto, sacked, needed=2), "three"),
        ("acknowledge", lambda s, now, upto, sacked: acknowledge(s, now, upto, ()), "mark what is SACKed"),
        ("acknowledge", lambda s, now, upto, sacked: acknowledge(s, now, upto, sacked, held=False), "cwnd"),
        ("acknowledge", never_rests, "rests"),
        ("expire", forgets_sacked, "SACKed or not"),
        ("expire", lambda state: expire(state, first_only=False), "not again"),
        ("expire", lambda state: expire(state, window=10.0), "one segment"),
        ("expire", lambda state: expire(state, doubled=1), "twice as long"),
        ("sender", (push, acknowledge), "three functions"),
        ("sender", (push, acknowledge, lambda state: None), "world"),
        ("sender", (push, lambda s, t, u, x: acknowledge(s, t, u, x, once=False), expire), "is wanted"),
        ("sender", (lambda state, now: [], acknowledge, expire), "the timer rests"),
        ("sender", (lambda state, now: 1 / 0, acknowledge, expire), "ZeroDivisionError"),
        ("grow", 5, "function itself"),
    ],
)
def test_a_usual_mistake_fails_where_it_should_with_its_own_hint(stage, answer, hint):
    feedback = CHECKS[stage](answer)
    assert not feedback
    assert hint in feedback.message


def test_the_last_stage_has_worlds_in_which_timers_fire_and_sack_repairs():
    words = check("transport-sender-lab-sender", SOLUTION).message.split()
    assert int(words[words.index("timers") - 1]) > 30
    no_sack = (push, lambda s, now, upto, sacked: acknowledge(s, now, upto, ()), expire)
    assert not check("transport-sender-lab-sender", no_sack)
