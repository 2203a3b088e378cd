"""Every derived number of the paper, recomputed by its natural reading, with what the forensics say about it.

The natural reading is what a reader would compute: a mean over the listed tokens, a standard deviation over the same
tokens, a percentage of the value that it is said to be relative to. Explained in notebook ``04_reproduction``.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from scipy.stats import rankdata

from voicewire.pharyngeal import paper
from voicewire.pharyngeal.paper import cell, tokens
from voicewire.pharyngeal.statistics import correlation, table_forensics
from voicewire_book.chapters.pharyngeal import articulatory_measurements
from voicewire_book.chapters.pharyngeal.articulatory_measurements import Derived, rise, text_articulation

__all__ = [
    "context_means",
    "correlation_claim",
    "everything",
    "larynx_f1",
    "mended",
    "printed_percent",
    "raised",
    "repaired_ayn",
    "shifts",
    "table_1",
    "table_2",
    "text_acoustics",
    "text_articulation",
]

_PLAIN_TT: Final = ("tt-ttuttina", "tt-ttwajen")  # the two tokens beside /tˁ/ without /ʕ/
BASELINES: Final = {
    "the text": lambda: {f: float(paper.TEXT_PLAIN[f]) for f in paper.FORMANTS},
    "Table II": lambda: {f: _t2("plain-mean", f) for f in paper.FORMANTS},
}
"""The two plain vowels of the paper, F1 to F4 in Hz."""
_SHIFTED: Final = {"F3": "F2 - F1", "F4": "F3"}  # what the cells of F3 and F4 beside /ʕ/ hold in Table II
_CONTEXTS: Final = {"tt": "tt-mean", "ayntah": "a-ayntah", "ayn": "ayn-mean"}  # the rows of Table II by context


def _t2(row: str, formant: str) -> float:
    return float(cell(2, row, formant))


def table_1() -> Derived:
    """Recompute the derived cells of Table I: claim id -> (value, what the forensics say)."""
    out: Derived = {}
    for quantity in paper.ARTICULATORS:
        every = tokens(1, quantity, "tt")
        plain = [every[name] for name in _PLAIN_TT]
        search = table_forensics.mean_readings(cell(1, "tt-mean", quantity), every)
        out[f"table-1.mean-{quantity}-tt"] = (float(np.mean(plain)), search.describe(float(np.mean(plain))))
        if quantity in ("hyoid", "larynx"):
            search = table_forensics.sd_readings(cell(1, "tt-sd", quantity), every)
            out[f"table-1.sd-{quantity}-tt"] = (float(np.std(plain, ddof=1)), search.describe())
        vowels = tokens(1, quantity, "a")
        printed = cell(1, "a-mean", quantity)
        search = table_forensics.mean_readings(printed, vowels)
        mean = float(np.mean(list(vowels.values())))
        if quantity == "location":
            words = (
                f"Over the six tokens listed it is {mean:.4f} cm. "
                f"{search.describe()} The tokens beyond 12 cm are left out there; so must be the seventh token that "
                "the row's other cells need, unless it lies at 1.13 cm."
            )
            out["table-1.location-a"] = (mean, words)
        else:
            out |= _averages_of_a(quantity)
    return out


def _told(quantity: str) -> str:
    """Say where the text itself has the unlisted token: of the larynx alone it gives the rise."""
    if quantity != "larynx":
        return ""
    depth = float(cell(1, "rest", "larynx")) - float(paper.LARYNX_RISE["tt"])
    return f" Section III has it: {paper.LARYNX_RISE['tt']} cm above rest, at {depth:.4f} cm."


def _sevenths(quantity: str) -> dict[str, float]:
    """Solve for the token of /a/ that the table lacks (cm): by the printed SD alone, and by the printed mean alone."""
    listed = list(tokens(1, quantity, "a").values())
    lost = table_forensics.missing_token(cell(1, "a-mean", quantity), listed)
    return {
        "SD": table_forensics.tokens_for_sd(cell(1, "a-sd", quantity), listed)[0],
        "mean": (lost.low + lost.high) / 2,
    }


def _averages_of_a(quantity: str) -> Derived:
    """Recompute mean and SD of /a/ over what is listed, and say what one token more would do."""
    vowels, seventh = tokens(1, quantity, "a"), _sevenths(quantity)
    listed = list(vowels.values())
    mean, spread = float(np.mean(listed)), float(np.std(listed, ddof=1))
    of_mean = table_forensics.mean_readings(cell(1, "a-mean", quantity), vowels)
    of_sd = table_forensics.sd_readings(cell(1, "a-sd", quantity), vowels)
    return {
        f"table-1.mean-{quantity}-a": (
            mean,
            f"Over the six tokens listed it is {mean:.4f} cm. {of_mean.describe()} With a seventh of "
            f"{seventh['SD']:.4f} cm, the lower of the two that the printed SD alone allows, the mean is as printed; "
            f"the table lists none.{_told(quantity)}",
        ),
        f"table-1.sd-{quantity}-a": (
            spread,
            f"Over the six tokens listed it is {spread:.4f} cm. {of_sd.describe()} With a seventh of "
            f"{seventh['mean']:.4f} cm, solved for from the printed mean alone, the SD is as printed; "
            f"the table lists none.{_told(quantity)}",
        ),
    }


def _repaired_averages() -> dict[str, float]:
    """Recompute the averages of /a/ (cm) as they must have been made: a token more, or three of them left out."""
    out: dict[str, float] = {}
    for quantity in ("hyoid", "larynx", "opening"):
        listed, seventh = list(tokens(1, quantity, "a").values()), _sevenths(quantity)
        out[f"table-1.mean-{quantity}-a"] = float(np.mean([*listed, seventh["SD"]]))
        out[f"table-1.sd-{quantity}-a"] = float(np.std([*listed, seventh["mean"]], ddof=1))
    front = [place for place in tokens(1, "location", "a").values() if place < 12]
    return out | {"table-1.location-a": float(np.mean(front))}


def _percent(row: str, formant: str, base: str = "plain-mean") -> float:
    return 100 * (_t2(row, formant) - _t2(base, formant)) / _t2(base, formant)


def _candidates(formant: str) -> dict[str, float]:
    return {
        "/tˁ/": _t2("tt-mean", formant),
        "/ʕ/": _t2("ayn-mean", formant),
        "/ʕtˁ/": _t2("a-ayntah", formant),
        "plain (Table II)": _t2("plain-mean", formant),
        "plain (text)": float(paper.TEXT_PLAIN[formant]),
    }


def repaired_ayn() -> dict[str, float]:
    """Return the /ʕ/ row of Table II as it must have been: F1 to F3 unshifted, F4 from the text's increase (Hz)."""
    row = table_forensics.unshift(*(_t2("ayn-mean", formant) for formant in paper.FORMANTS))
    f4 = float(paper.TEXT_PLAIN["F4"]) + float(paper.TEXT_SHIFT["ayn"]["F4"])
    return {"F1": row["F1"], "F2": row["F2"], "F3": row["F3"], "F4": f4}


def table_2() -> Derived:
    """Recompute the derived cells of Table II: claim id -> (value, what the forensics say)."""
    out: Derived = {}
    repaired = repaired_ayn()
    for formant in paper.FORMANTS:
        low = formant.lower()
        listed = tokens(2, formant, "tt")
        search = table_forensics.mean_readings(cell(2, "tt-mean", formant), listed)
        mean = float(np.mean(list(listed.values())))
        out[f"table-2.mean-{low}-tt"] = (mean, search.describe(mean))
        rows = {"tt": "tt-mean", "ayn": "ayn-mean", "ayntah": "a-ayntah"}
        for group, row in rows.items():
            value = _percent(row, formant)
            search = table_forensics.percent_readings(cell(2, f"{group}-percent", formant), _candidates(formant))
            words = search.describe(value)
            if group == "ayn" and formant in ("F3", "F4"):
                words = f"From the printed cell it follows, {value:.2f} %; but that cell holds {_SHIFTED[formant]}."
                base = _t2("plain-mean", formant)
                value = 100 * (repaired[formant] - base) / base
            out[f"table-2.{low}-percent-{group}"] = (value, words)
    plain = {formant: float(paper.TEXT_PLAIN[formant]) for formant in paper.FORMANTS}
    shift = {formant: float(text) for formant, text in paper.TEXT_SHIFT["ayn"].items()}
    for formant in ("F1", "F2"):
        words = f"The same sum as text.{formant.lower()}-shift-ayn, from its other end."
        out[f"table-2.{formant.lower()}-ayn"] = (plain[formant] + shift[formant], words)
    third, near = _t2("ayn-mean", "F3"), {name: base()["F3"] for name, base in BASELINES.items()}
    gap = _t2("ayn-mean", "F2") - _t2("ayn-mean", "F1")
    out["table-2.f3-ayn"] = (
        near,
        f"F3 is said to be less influenced, so it must lie near the plain {near['the text']:.0f} Hz of the text and "
        f"{near['Table II']:.0f} Hz of Table II; the cell holds "
        f"F2 - F1 = {gap:.2f} Hz (printed {third:.2f})",
    )
    out["table-2.f4-ayn"] = (
        repaired["F4"],
        "The cell holds F3; F4 itself is lost, and only the text's increase gives it.",
    )
    return out


def _formant_shifts() -> Derived:
    """Recompute by how many hertz each formant is said to move in each context."""
    out: Derived = {}
    for group, row in _CONTEXTS.items():
        for formant, printed in paper.TEXT_SHIFT[group].items():
            if (group, formant) == ("ayn", "F4"):
                continue  # that cell holds F3: no difference of it is one of F4
            plain = float(paper.TEXT_PLAIN[formant])
            values = {
                "the context": _t2(row, formant), "plain (text)": plain,
                "plain (Table II)": _t2("plain-mean", formant), "the mean of /tˁ/": _t2("tt-mean", formant),
                "the five tokens' mean before it is cut": float(np.mean(list(tokens(2, formant, "tt").values()))),
            }  # fmt: skip
            found = _t2(row, formant) - plain
            words = table_forensics.difference_readings(printed, values).describe(found)
            out[f"text.{formant.lower()}-shift-{group}"] = (found, words)
    return out


def _f1_over(group: str) -> float:
    """Return by how many percent F1 of /ʕtˁ/ lies above that of another context."""
    return 100 * (_t2("a-ayntah", "F1") / _t2(_CONTEXTS[group], "F1") - 1)


def _f1_percents() -> Derived:
    """Recompute by how many percent F1 of /ʕtˁ/ is said to lie above those of /tˁ/ and /ʕ/."""
    out: Derived = {}
    for printed, group in (("23.64", "tt"), ("14.64", "ayn")):
        named = {cell(2, f"{name}-percent", "F1"): printed_percent(name, "F1") for name in ("ayntah", group)}
        search = table_forensics.difference_readings(printed, named)
        words = f"{search.describe()} That would be points, not percent."
        out[f"text.f1-percent-over-{group}"] = (_f1_more(group), words)
    return out


def _f1_more(group: str) -> dict[str, float]:
    """Return how much higher F1 of /ʕtˁ/ is than that of another context, in percent and in points of Table II."""
    points = printed_percent("ayntah", "F1") - printed_percent(group, "F1")
    return {"percent": _f1_over(group), "percentage points": points}


def shifts(context: str, baseline: str) -> dict[str, float]:
    """Return the change of F1 to F4 in a context against either plain vowel; the row of /ʕ/ as mended."""
    row = repaired_ayn() if context == "ayn" else {f: _t2(_CONTEXTS[context], f) for f in paper.FORMANTS}
    return {f: row[f] - plain for f, plain in BASELINES[baseline]().items()}


def printed_percent(context: str, formant: str) -> float:
    """Return a percentage of Table II's last rows."""
    return float(cell(2, f"{context}-percent", formant))


def _token_changes(formant: str, percent: bool = False) -> dict[str, list[float]]:
    """Return how far a formant of Table II's five tokens beside /tˁ/ lies from either plain vowel, Hz or percent."""
    found = {}
    for name, plain in BASELINES.items():
        base = plain()[formant]
        changes = [hertz - base for hertz in tokens(2, formant, "tt").values()]
        found[name] = [100 * change / base for change in changes] if percent else changes
    return found


def _cited_results() -> Derived:
    """Set what the introduction takes from another study beside Table II's tokens."""
    rises, changes = _token_changes("F1"), _token_changes("F2")
    words = "Found of another speaker; here it is asked of this paper's own vowels."
    both = {
        name: {"rise of F1": rises[name], "fall of F2": [-change for change in changes[name]]} for name in BASELINES
    }
    return {
        "intro.f3-unchanged": (_token_changes("F3", percent=True), words),
        "intro.f1-rises-f2-falls": (both, words),
    }


def _two_places() -> Derived:
    """Recompute what one place says from the numbers of another."""
    shift = paper.TEXT_SHIFT
    relief = 1 - float(shift["ayntah"]["F2"]) / float(shift["tt"]["F2"])
    hertz = float(shift["ayntah"]["F4"])
    return {
        "text.f2-relief-half": (
            relief,
            "Hertz and percentages are of two plain vowels: by the text's the fall is lessened by a quarter.",
        ),
        "text.f4-016-percent": (
            {name: 100 * hertz / plain()["F4"] for name, plain in BASELINES.items()},
            "0.16 % is the change from Table II's plain row, by which F4 hardly moves; the hertz are from the text's.",
        ),
    }


def _formant_relations() -> Derived:
    """Recompute what the text says of one formant against another."""
    shift = {key: {f: float(v) for f, v in row.items()} for key, row in paper.TEXT_SHIFT.items()}
    moved = {name: {key: shifts(key, name) for key in _CONTEXTS} for name in BASELINES}
    halves = _f2_left()
    return {
        "text.f3-shift-ayntah": (
            {name: row["ayntah"]["F3"] for name, row in moved.items()},
            "Against Table II's plain row F3 falls by 3 %, as Table II prints.",
        ),
        "text.f3-f4-increase": (
            {f: moved["Table II"]["tt"][f] for f in ("F3", "F4")},
            "The text's figures are differences from its own plain vowel; from Table II's both decrease, and Table II "
            "itself prints -1.1 and -2.47 %.",
        ),
        "text.f2-relief": (shift["ayntah"]["F2"] - shift["tt"]["F2"], ""),
        "text.f1-similar": (
            {name: row["ayn"]["F1"] / row["tt"]["F1"] for name, row in moved.items()}
            | {"printed percentages": printed_percent("ayn", "F1") / printed_percent("tt", "F1")},
            "It is the ratio of the two rises, /ʕ/ over /tˁ/.",
        ),
        "text.f4-superposed": (
            {name: (row["ayn"]["F4"] + row["tt"]["F4"]) / row["ayntah"]["F4"] for name, row in moved.items()},
            "The 91.89 Hz beside /ʕ/ are as printed: Table II has lost that F4. Against its plain row F4 would fall "
            "beside either consonant.",
        ),
        "text.f3-variation": (
            _f3_variation(),
            "Table II itself prints -3.07 %; the text's plain vowel, which this paragraph leaves, gives less.",
        ),
        "text.f2-halved": (
            printed_percent("ayntah", "F2") / printed_percent("tt", "F2"),
            "It is what is left of the fall in /ʕtˁah/, two thirds by the percentages as printed, half by Table II's "
            f"values; by the text's plain vowel, not that of this sentence, {halves['the text']:.2f}.",
        ),
        "text.f4-uninfluenced": (
            {name: 100 * moved[name]["tt"]["F4"] / plain()["F4"] for name, plain in BASELINES.items()},
            "By the text's baseline F4 rises by 0.6 %, by Table II's it falls by 2.5 %. Either is less than the "
            f"standard deviation of the plain F4, {paper.TEXT_PLAIN_SD['F4']} Hz.",
        ),
    }


def _f2_left() -> dict[str, float]:
    """Return what is left in /ʕtˁah/ of the fall of F2 beside /tˁ/, as a share, by either plain vowel."""
    return {name: shifts("ayntah", name)["F2"] / shifts("tt", name)["F2"] for name in BASELINES}


def mended() -> dict[str, Any]:
    """Compute what follows once a misprint is repaired: claim id -> value."""
    return articulatory_measurements.mended() | _repaired_averages() | {"text.f2-halved": _f2_left()["Table II"]}


def _f3_variation() -> dict[str, float]:
    """Return the larger change of F3 in the two emphatic contexts, in percent, by either baseline."""
    found = {
        name: max(abs(100 * shifts(context, name)["F3"] / plain()["F3"]) for context in ("tt", "ayntah"))
        for name, plain in BASELINES.items()
    }
    return found | {"in whole percent": found["Table II"]}


def raised(formant: str) -> dict[str, float]:
    """Return how far either consonant raises a formant, and both together more than either (Hz)."""
    one = {name: [shifts(context, name)[formant] for context in ("tt", "ayn")] for name in BASELINES}
    both = min(shifts("ayntah", name)[formant] - max(raises) for name, raises in one.items())
    return {"either over plain": min(map(min, one.values())), "both over either": both}


def text_acoustics() -> Derived:
    """Recompute what the text derives from Table II."""
    baseline: Derived = {
        "text.plain-baseline": (
            {formant: _t2("plain-mean", formant) for formant in paper.FORMANTS},
            "Two plain baselines: the text's differences use its own, the percentages use Table II's.",
        )
    }
    rows = {"plain": "plain-mean"} | _CONTEXTS
    orders: Derived = {
        "table-2.order-f1": (raised("F1"), ""),
        "table-2.order-f2": (
            {name: _t2(rows[name], "F2") for name in ("tt", "ayntah", "plain", "ayn")},
            "The text's plain vowel, 1573 Hz, has the same place.",
        ),
    }
    concluded: Derived = {
        "conclusion.f1-14-23": (
            {name: {group: _f1_more(group)[name] for group in ("tt", "ayn")} for name in _f1_more("tt")},
            "Both are differences of percentages of the plain vowel, in points.",
        )
    }
    found = baseline | _formant_shifts() | _f1_percents() | _formant_relations() | orders | concluded
    return found | _cited_results() | _two_places()


def larynx_f1() -> tuple[list[str], list[float], list[float]]:
    """Return the six tokens that stand in both tables: names, larynx rises (cm) and F1 (Hz)."""
    depth, f1 = tokens(1, "larynx", "a"), tokens(2, "F1")
    names = list(depth)
    return names, [float(cell(1, "rest", "larynx")) - depth[n] for n in names], [f1[n] for n in names]


def _hyoid_rises(names: list[str]) -> list[float]:
    """Return how far the hyoid bone stands above rest in these tokens, cm."""
    return [rise(name, "hyoid") for name in names]


def correlation_claim() -> Derived:
    """Test the correlation of larynx rise and F1 over the six common tokens (exact permutation test)."""
    names, rise, f1 = larynx_f1()
    test = correlation.permutation_test(rise, f1)
    lever = correlation.leverage(rise)
    worst = int(np.argmax(lever))
    without = correlation.leave_one_out(rise, f1)[worst]
    means = context_means()
    bone = correlation.permutation_test(_hyoid_rises(names), f1)
    reason = (
        f"It is the p of the permutation test. Over the tokens r = {test.r:.2f} hangs on one of them, {names[worst]}, "
        f"with a leverage of {lever[worst]:.2f}; without it r = {without:.2f}. The means of the four contexts, two of "
        "them from another study, stand in one order by rise and by F1, which one pairing in 24 does; on a line "
        f"r = {correlation.pearson(*means):.2f}. Of the hyoid bone, over the tokens, r = {bone.r:.2f} and "
        f"p = {bone.p_higher:.2f}. (Judged before by the values alone, and of either sign: not reproduced.)"
    )
    found = {}
    for name, (x, y) in (("tokens", (rise, f1)), ("means of the contexts", means)):
        found[f"{name}, on a line"] = correlation.permutation_test(x, y).p_higher
        found[f"{name}, in order"] = correlation.permutation_test(rankdata(x), rankdata(y)).p_higher
    return {"larynx-f1-correlation": (found, reason)}


def context_means() -> tuple[list[float], list[float]]:
    """Return the larynx rises (cm) that the text gives for /a/ in the four contexts, and F1 by Table II (Hz)."""
    rises = [rise("plain-mean", "larynx"), *(float(paper.LARYNX_RISE[name]) for name in ("ayn", "tt", "ayntah"))]
    return rises, [_t2(row, "F1") for row in ("plain-mean", "ayn-mean", "tt-mean", "a-ayntah")]


def everything() -> Derived:
    """Return all derived numbers, in the ledger's order."""
    return table_1() | table_2() | text_articulation() | text_acoustics() | correlation_claim()
