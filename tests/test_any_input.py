"""The library's API, fed with anything: a right answer, or one clear refusal.

For each name that a room declares there is one valid call (`valid_arguments.py`), or a reason why not, and for some of
the book's own functions too; one argument at a time is replaced by nonsense, or by the same data in another type, and
the answer judged (`nonsense.py`).
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

import declared
import numpy as np
import pytest
import rooms
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from nonsense import Case, TooLongError, alike, double, finite, limited, numbers, refused, replacements
from valid_arguments import CASES, EXEMPT

pytestmark = pytest.mark.night


def _public() -> dict[str, Any]:
    """What the rooms declare, and the methods of the classes among it, by the module that defines it."""
    found: dict[str, Any] = {}
    for module, own in declared.names():
        thing = getattr(importlib.import_module(module), own)
        if not callable(thing) or getattr(thing, "__module__", None) != module:
            continue  # a constant, or another name for what stands elsewhere
        full = f"{rooms.short(module)}.{own}"
        found[full] = thing
        if inspect.isclass(thing):
            for method, inner in vars(thing).items():
                inner = getattr(inner, "__func__", inner)
                if not method.startswith("_") and inspect.isfunction(inner):
                    found[f"{full}.{method}"] = inner
    return found


def _fed_too(name: str) -> Any:
    """What a case feeds although no room declares it (None if it is not there)."""
    for parts in range(name.count("."), 0, -1):
        module, rest = name.split(".")[:parts], name.split(".")[parts:]
        try:
            thing: Any = rooms.module(".".join(module))
        except ModuleNotFoundError:
            continue
        for part in rest:
            thing = getattr(thing, part, None)
        return getattr(thing, "__func__", thing)
    return None


PUBLIC = _public()
FED = PUBLIC | {name: _fed_too(name) for name in CASES if name not in PUBLIC}


def _arguments(thing: Any) -> list[str]:
    if inspect.isclass(thing) and issubclass(thing, Exception):
        return []
    return [name for name in inspect.signature(thing).parameters if name not in ("self", "cls")]


def _reason(name: str) -> str | None:
    return next((why for prefix, why in EXEMPT.items() if name == prefix or name.startswith(f"{prefix}.")), None)


def test_every_public_function_is_fed_or_exempt_for_a_reason() -> None:
    left = [n for n, thing in PUBLIC.items() if n not in CASES and _reason(n) is None and _arguments(thing)]
    assert not left, f"no valid call and no reason for {left}"
    needless = [each for each in EXEMPT if not any(n == each or n.startswith(f"{each}.") for n in PUBLIC)]
    assert not needless, f"a reason for what no room declares: {needless}"
    gone = [name for name, thing in FED.items() if thing is None]
    assert not gone, f"a case for what is not there: {gone}"
    fed = {n: set(case.make()) for n, case in CASES.items()}
    short = {
        n: missing for n, had in fed.items() if (missing := set(_arguments(FED[n])) - had)
        and not all(FED[n] and _skips(n, a) for a in missing)
    }  # fmt: skip
    assert not short, f"arguments that no case gives: {short}"


def _skips(name: str, argument: str) -> bool:
    kind = inspect.signature(FED[name]).parameters[argument]
    return (
        kind.kind is inspect.Parameter.VAR_KEYWORD
        or kind.default in (None, True, False)
        or argument in (CASES[name].free)
    )


def call(name: str, given: dict[str, Any]) -> list[Any]:
    """Call a public function with arguments by name and flatten what comes back."""
    thing: Callable[..., Any] = FED[name]
    given = dict(given)
    owner = [given.pop("self")] if "self" in given else []
    if "cls" in _raw_arguments(thing):
        owner = [_fed_too(name.rpartition(".")[0])]
    positional = [a for a, p in inspect.signature(thing).parameters.items() if p.kind is p.POSITIONAL_ONLY]
    owner += [given.pop(a) for a in positional if a in given]
    return numbers(thing(*owner, **given))


def _raw_arguments(thing: Any) -> list[str]:
    return list(inspect.signature(thing).parameters)


def judge(name: str, case: Case, argument: str, what: str, value: Any, allowed: str) -> str:
    """Make the call with one argument replaced; '' or what is wrong with the answer."""
    changed = case.make() | {argument: value}
    kind = allowed.split()[-1] if allowed.startswith("refuse ") else ""
    lists = {"nan": case.nan, "NaN": case.nan, "inf": case.inf, "-inf": (), "ragged": case.ragged,
             "empty": case.empty, "shapeless": case.shapeless, "complex": case.complex}  # fmt: skip
    if kind and argument in lists[kind]:
        allowed = "anything"
    if value is None and inspect.signature(FED[name]).parameters[argument].default is None:
        return ""
    if allowed == "refuse ragged" and not _has_partner(case, argument):
        allowed = "finite"
    try:
        with limited():
            answer = call(name, changed)
            right = call(name, case.make() | {argument: double(value)}) if allowed == "same" else answer
    except TooLongError as error:
        return f"{name}({argument} = {what}): {error}"
    except Exception as error:
        return f"{name}({argument} = {what}): {wrong}" if (wrong := refused(error)) else ""
    if allowed.startswith("refuse"):
        return f"{name}({argument} = {what}): answered {answer[:3]}"
    if allowed == "same" and not alike(answer, right):
        return f"{name}({argument} = {what}): {answer[:3]} instead of {right[:3]}"
    if allowed in ("same", "finite") and not case.infinite and not finite(answer):
        return f"{name}({argument} = {what}): not finite, {[x for x in answer if not finite([x])][:3]}"
    return ""


def _has_partner(case: Case, argument: str) -> bool:
    """Whether another argument is an array of the same length."""
    given = case.make()
    return any(
        name != argument and isinstance(other, np.ndarray) and len(other) == len(given[argument])
        for name, other in given.items()
    )


@pytest.mark.parametrize("name", CASES)
def test_an_argument_is_right_or_refused(name: str) -> None:
    case = CASES[name]
    expected = call(name, case.make())
    with limited():
        assert alike(expected, call(name, case.make())), "the valid call gives another answer each time"
    wrong = []
    for argument, good in case.make().items():
        if argument in ("self", *case.free):
            continue
        for what, value, allowed in replacements(good):
            if allowed == "same" and argument in case.unlike:
                continue
            if fault := judge(name, case, argument, what, value, allowed):
                wrong.append(fault)
    assert not wrong, f"{len(wrong)} answers to nonsense:\n" + "\n".join(wrong)


ARRAYS = [
    (name, argument)
    for name, case in CASES.items()
    for argument, good in case.make().items()
    if isinstance(good, np.ndarray) and argument not in (*case.free, *case.unlike)
]
ANY = st.one_of(
    arrays.arrays(
        st.sampled_from([np.float64, np.float32, np.int16, np.uint8, np.int64, np.complex64, np.bool_]),
        arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=6),
    ),
    st.floats(), st.integers(), st.text(max_size=3), st.lists(st.floats(), max_size=4), st.none(),
)  # fmt: skip


@settings(max_examples=400, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(which=st.sampled_from(ARRAYS), value=ANY)
def test_any_array_is_answered_with_numbers_or_refused(which: tuple[str, str], value: Any) -> None:
    name, argument = which
    case = CASES[name]
    special = isinstance(value, np.ndarray) and value.dtype.kind in "fc" and not np.isfinite(value).all()
    fault = judge(name, case, argument, repr(value), value, "anything" if special or case.infinite else "finite")
    assert not fault or (argument in case.empty and np.size(value) == 0), fault


def test_sixteen_bits_and_floats_have_the_same_echo_return_loss() -> None:
    from voicewire.echo.metrics import erle

    loud = (np.random.default_rng(1).uniform(-1, 1, 20_000) * 32_000).round().astype(np.int16)
    soft = (loud // 100).astype(np.int16)
    assert erle(loud, soft) == pytest.approx(40, abs=0.1)
    with pytest.raises(ValueError, match="full scales"):
        erle(loud, soft / 32768)
    with pytest.raises(ValueError, match="silent"):
        erle(np.zeros(10), np.ones(10))


def test_a_film_in_bytes_is_tracked_as_well_and_other_grey_values_are_refused() -> None:
    from voicewire.pharyngeal.films import xray_film

    tracker = xray_film.Tracker()
    for frame in xray_film.film(3, np.random.default_rng(1)):
        truth = tracker.truth(frame.outline)
        for stored in (
            np.clip(frame.image * 255, 0, 255).astype(np.uint8),
            np.clip(frame.image * 65535, 0, 65535).astype(np.uint16),
        ):
            assert np.sqrt(np.mean((tracker.track(stored) - truth) ** 2)) < 0.02
        middle = frame.image.mean()
        for other in (2 * frame.image, 1 - frame.image, 2 * (frame.image - middle) + middle, 0.5 * frame.image):
            with pytest.raises(ValueError, match="grey value"):
                tracker.track(other)
        with pytest.raises(ValueError, match="full scale"):
            tracker.track((frame.image * 255).astype(np.int64))


def test_an_interval_beyond_the_sound_is_refused() -> None:
    from voicewire.pharyngeal import formants, synthesis, textgrid

    token = synthesis.vowel("plain", synthesis.Speaker("s"), np.random.default_rng(1))
    for start, end in ((0.1, 0.5), (5.0, 5.2), (-1.0, 0.1)):
        with pytest.raises(ValueError, match="leaves the sound"):
            formants.measure(token.sound, [textgrid.Interval("a", start, end)])


def test_timeouts_longer_than_can_be_counted_are_refused_and_certain_loss_is_infinite() -> None:
    from voicewire.nfc.channel import Channel
    from voicewire.nfc.exchange import Exchange
    from voicewire.nfc.session import Session

    for thing in (Exchange, Session):
        with pytest.raises(ValueError, match="lower the timeout"):
            thing(backoff=True, rto=1e7, retransmissions=60)  # type: ignore[operator]
    with pytest.raises(ValueError, match="seconds is 1e"):
        Exchange(backoff=True, rto=1e9, retransmissions=60)
    hopeless = Exchange(packets=10, channel=Channel.random(0.01))
    assert hopeless.mean == np.inf or hopeless.mean > 1e9


def test_the_names_of_the_transports_may_be_written_small() -> None:
    from voicewire.voip.calls import call

    assert call("udp", "g729", delay_ms=50.0, seconds=5.0).r == call("UDP", "G.729", delay_ms=50.0, seconds=5.0).r


@pytest.mark.filterwarnings("error")
def test_an_array_of_single_precision_is_compared_with_wide_bounds():
    """The bounds of a rule may lie outside what the array's own type holds."""
    from voicewire.voip import playout

    delays, _ = playout.as_trace(np.array([50, 60], dtype=np.float32), np.zeros(2, dtype=np.float32))
    assert delays.tolist() == [50.0, 60.0]
