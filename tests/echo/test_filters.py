"""The fast filter is the printed algorithm; the family keeps its promises on good and on bad input."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicewire.echo import (
    WLAPA,
    WLDRRLSDCD,
    WLNLMS,
    WLRLS,
    Responses,
    SignalError,
    StereoNLMS,
    StereoRLS,
    dcd_uncompiled,
    reference,
    stereo,
)
from voicewire.echo.metrics import misalignment
from voicewire.echo.widely_linear import complex_taps, echo, responses


def scene(length: int, samples: int, seed: int, noise: float = 0.01):
    rng = np.random.default_rng(seed)
    paths = Responses(*(rng.standard_normal((4, length)) * np.exp(-3 * np.arange(length) / length)))
    x = rng.standard_normal(samples) + 1j * rng.standard_normal(samples)
    d = echo(paths, x) + noise * (rng.standard_normal(samples) + 1j * rng.standard_normal(samples))
    return x, d, complex_taps(paths)


@settings(max_examples=200, deadline=None)
@given(
    length=st.integers(2, 40),
    reuse=st.integers(1, 8),
    updates=st.integers(1, 8),
    bits=st.integers(4, 24),
    memory=st.floats(1.5, 64),
    epsilon=st.floats(1e-6, 100),
    seed=st.integers(0, 2**32 - 1),
)
def test_fast_is_plain(length, reuse, updates, bits, memory, epsilon, seed):
    x, d, _ = scene(length, 60 + 2 * length, seed)
    given_ = (length, 1 - 1 / (memory * length), reuse, updates, bits, 1.0, epsilon)
    fast, slow = WLDRRLSDCD(*given_), dcd_uncompiled.WLDRRLSDCD(*given_)
    errors = np.concatenate([fast.process(x[:37], d[:37]), fast.process(x[37:], d[37:])])
    expected = slow.process(x, d)
    assert np.array_equal(fast.taps, slow.taps)
    assert np.abs(errors - expected).max() <= 1e-12 * max(1, np.abs(expected).max())


@pytest.mark.parametrize("length", [1, 7, 8, 9, 63, 64, 65, 72])
def test_fast_is_plain_at_the_edges_of_blocks(length):
    x, d, _ = scene(length, 3 * length + 90, length)
    x[50 : 50 + length + 20] = 0  # silence longer than the window
    d[50 : 50 + length + 20] *= 0.1
    fast = WLDRRLSDCD(length, 1 - 1 / (8 * length + 2), 3)
    slow = dcd_uncompiled.WLDRRLSDCD(length, 1 - 1 / (8 * length + 2), 3)
    errors = fast.process(x, d)
    assert np.abs(errors - slow.process(x, d)).max() < 1e-12
    assert np.array_equal(fast.taps, slow.taps)


def test_complex_woodbury_is_the_real_stereo_filter():
    x, d, _ = scene(12, 3000, 5)
    wide, real = WLRLS(12, 1 - 1 / 240, 0.3), StereoRLS(12, 1 - 1 / 240, 0.3)
    a, b = wide.process(x, d), real.process(x, d)
    # the level, which the bar is about; a single sample near zero may differ by a rounding more
    assert abs(10 * np.log10(np.sum(np.abs(a) ** 2) / np.sum(np.abs(b) ** 2))) < 1e-10
    assert np.abs(20 * np.log10(np.abs(a) / np.abs(b))).max() < 1e-8
    assert np.allclose(wide.taps, real.taps, atol=1e-11)
    same = complex_taps(responses(real.taps))
    assert misalignment(wide.taps, same) < -200
    assert misalignment(1.01 * wide.taps, same) == pytest.approx(-40, abs=1e-6)  # a hundredth too large


def test_only_the_symmetric_woodbury_stays_hermitian():
    x, d, truth = scene(4, 3000, 3)
    kept = {}
    for symmetric in (True, False):
        filter_ = WLRLS(4, 0.98, symmetric=symmetric)
        filter_.process(x, d)
        assert misalignment(filter_.taps, truth) < -20
        kept[symmetric] = filter_.save()["P"]
    # the symmetric one keeps a lower triangle and a real diagonal, and they say what the full matrix says
    halves = [np.tril(P, -1) + np.diag(P.diagonal().real) for P in (kept[True], kept[False])]
    assert np.allclose(*halves, rtol=1e-6, atol=1e-9 * np.abs(halves[1]).max())
    assert np.abs(kept[False] - kept[False].conj().T).max() > 0


@settings(max_examples=60, deadline=None)
@given(
    length=st.integers(1, 12),
    reuse=st.integers(1, 5),
    updates=st.integers(1, 8),
    bits=st.integers(4, 24),
    memory=st.floats(1.5, 64),
    epsilon=st.floats(1e-3, 100),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_functions_to_read_are_the_filter(length, reuse, updates, bits, memory, epsilon, seed):
    """Bit for bit: the same products and sums in the same order."""
    x, d, _ = scene(length, 50 + 2 * length, seed)
    x[20 : 20 + length + 3] = 0  # silence longer than the window
    lam = 1 - 1 / (memory * length + 1)
    taps, errors = reference.dr_rls_dcd(x, d, length, lam, reuse, epsilon, N_u=updates, M_b=bits, H=1.0)
    fast = WLDRRLSDCD(length, lam, reuse, updates, bits, 1.0, epsilon)
    found = fast.process(x, d)
    assert np.array_equal(taps, fast.taps)
    # the output of the fast filter is summed in lanes: the last digits of an error may differ
    assert np.abs(errors - found).max() <= 1e-12 * max(1, np.abs(errors).max())


@pytest.mark.parametrize("length", [1, 2, 7, 16])
@pytest.mark.parametrize("kind", ["nlms", "apa", "rls", "stereo"])
def test_the_gradient_and_least_squares_filters_are_those_to_read(kind, length):
    """To 1e-9 of the largest: sums are taken in another order, and the small systems are solved another way."""
    x, d, _ = scene(length, 400, 10 + length)
    if kind == "nlms":
        fast, (taps, errors) = WLNLMS(length, 0.7, 1e-2), reference.nlms(x, d, length, 0.7, 1e-2)
    elif kind == "apa":
        fast, (taps, errors) = WLAPA(length, 3, 0.6, 1e-2), reference.apa(x, d, length, 3, 0.6, 1e-2)
    else:
        filter_ = WLRLS if kind == "rls" else StereoRLS
        fast, (taps, errors) = filter_(length, 0.97, 0.5), reference.rls(x, d, length, 0.97, 0.5)
    found = fast.process(x, d)
    assert np.abs(found - errors).max() < 1e-9 * np.abs(errors).max()
    assert np.abs(fast.taps - taps).max() < 1e-9 * max(1, np.abs(taps).max())


@pytest.mark.parametrize("kind", ["nlms", "apa"])
def test_a_full_step_silences_the_windows_it_looks_at(kind):
    """What the derivation asks for: after a step of 1 the taps are right for the last P windows."""
    rng = np.random.default_rng(3)
    X, d = (rng.standard_normal((*shape, 2)).view(complex)[..., 0] for shape in ((8, 3), (3,)))
    g = rng.standard_normal(8) + 0j
    if kind == "nlms":
        after, _ = reference.nlms_step(g, X[:, 0], d[0], 1.0, 0.0)
        assert np.isclose(np.vdot(after, X[:, 0]), d[0])
        others = X[:, :1]
    else:
        after, _ = reference.apa_step(g, X, d, 1.0, 0.0)
        assert np.allclose(after.conj() @ X, d)
        others = X
    change = after - g  # the shortest: it lies in what the windows span
    assert np.isclose(np.linalg.norm(change), np.linalg.norm(np.linalg.pinv(others) @ change @ others.T))


def test_the_inversion_lemma_gives_the_inverse():
    rng = np.random.default_rng(4)
    a, x = rng.standard_normal((5, 5, 2)).view(complex)[..., 0], rng.standard_normal((5, 2)).view(complex)[..., 0]
    R = a @ a.conj().T + np.eye(5)
    k, P = reference.rls_gain(np.linalg.inv(R), x, 0.9)
    grown = 0.9 * R + np.outer(x, x.conj())
    assert np.allclose(P @ grown, np.eye(5))
    assert np.allclose(grown @ k, x)


@settings(max_examples=100, deadline=None)
@given(size=st.integers(1, 8), seed=st.integers(0, 2**32 - 1))
def test_each_move_of_dcd_lowers_the_cost_by_what_the_chapter_says(size, seed):
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((size, size + 1, 2)).view(complex)[..., 0]
    R, p_0 = a @ a.conj().T, rng.standard_normal((size, 2)).view(complex)[..., 0]

    def cost(h):
        return (np.vdot(h, R @ h) / 2 - np.vdot(h, p_0)).real

    h, r = np.zeros(size, complex), p_0
    for moves in range(1, 7):
        following, left = reference.dcd(R, p_0, moves)
        alpha = np.abs(following - h).max()
        if alpha == 0:
            break
        p, _, v = reference.leading(r)
        assert np.isclose(cost(following) - cost(h), alpha * (alpha / 2 * R[p, p].real - abs(v)), atol=1e-12)
        assert cost(following) < cost(h)
        assert np.allclose(left, p_0 - R @ following)
        h, r = following, left


FAMILY = [
    lambda: WLNLMS(16),
    lambda: StereoNLMS(16),
    lambda: WLAPA(16, 3),
    lambda: WLRLS(16, 0.995),
    lambda: StereoRLS(16, 0.995),
    lambda: WLDRRLSDCD(16, 0.995, 2),
    lambda: WLDRRLSDCD(16, 0.995, 2, dtype=np.float32),
    lambda: dcd_uncompiled.WLDRRLSDCD(16, 0.995, 2),
]
NAMES = ["nlms", "stereo-nlms", "apa", "rls", "stereo-rls", "dcd", "dcd-float32", "reference"]


@pytest.mark.parametrize("make", FAMILY, ids=NAMES)
def test_learns_the_paths(make):
    x, d, truth = scene(16, 4000, 1)
    filter_ = make()
    filter_.process(x, d)
    assert misalignment(filter_.taps, truth) < -25


@pytest.mark.parametrize("make", FAMILY, ids=NAMES)
def test_resumes_mid_stream(make):
    x, d, _ = scene(16, 600, 2)
    whole = make().process(x, d)
    first = make()
    head = first.process(x[:251], d[:251])
    second = make().restore(first.save())
    single = [second.update(complex(x[251]), complex(d[251]))]
    tail = second.process(x[252:], d[252:])
    assert np.array_equal(whole, np.concatenate([head, single, tail]))


def test_pickles_and_copies():
    x, d, _ = scene(16, 600, 2)
    filter_ = WLDRRLSDCD(16, 0.99, 3, dtype=np.float32)
    filter_.process(x[:300], d[:300])
    twins = [pickle.loads(pickle.dumps(filter_)), copy.deepcopy(filter_)]
    expected = filter_.process(x[300:], d[300:])
    for twin in twins:
        assert np.array_equal(twin.process(x[300:], d[300:]), expected)


def test_restore_refuses_another_filters_state():
    with pytest.raises(ValueError, match="not that of a WLDRRLSDCD of length 8"):
        WLDRRLSDCD(8, 0.99).restore(WLDRRLSDCD(9, 0.99).save())


@pytest.mark.parametrize(
    ("length", "memory", "settled"), [(32, 64, 20_000), (128, 64, 60_000), (256, 96, 150_000)]
)  # the second and third are the paper's
def test_float32_reaches_the_same_floor(length, memory, settled):
    x, d, truth = scene(length, settled + 10_000, 4)
    floors = []
    for dtype in (np.float32, np.float64):
        filter_ = WLDRRLSDCD(length, 1 - 1 / (memory * length), 3, dtype=dtype)
        filter_.process(x[:settled], d[:settled])
        power = []
        for start in range(settled, settled + 10_000, 100):
            filter_.process(x[start : start + 100], d[start : start + 100])
            power.append(10 ** (misalignment(filter_.taps, truth) / 10))
        floors.append(10 * np.log10(np.mean(power)))
    assert floors[0] < -30 and abs(floors[0] - floors[1]) < 0.1


@pytest.mark.parametrize("make", FAMILY[2:], ids=NAMES[2:])
def test_bad_samples_are_refused_and_change_nothing(make):
    x, d, _ = scene(16, 100, 2)
    filter_ = make()
    filter_.process(x, d)
    taps = filter_.taps
    for value in (np.nan, np.inf, 1e200):
        bad = x.copy()
        bad[7] = value
        with pytest.raises(SignalError, match=r"sample 7|exceeds"):
            filter_.process(bad, d)
        with pytest.raises(SignalError, match=r"sample 7|exceeds"):
            filter_.process(x, bad)
    with pytest.raises(SignalError, match="mono"):
        filter_.process(x.real, d)
    with pytest.raises(SignalError, match="99"):
        filter_.process(x, d[:99])
    with pytest.raises(SignalError, match="one-dimensional"):
        filter_.process(np.stack([x, x]), np.stack([d, d]))
    assert np.array_equal(filter_.taps, taps)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["silence", "one channel", "clipped", "bias", "tiny", "loud"])
def test_stays_bounded_and_recovers(kind, dtype):
    x, d, truth = scene(16, 6000, 8)
    odd = x[:3000].copy()
    if kind == "silence":
        odd[500:] = 0
    elif kind == "one channel":
        odd = odd.real + 0j
    elif kind == "clipped":
        odd = np.clip(5 * odd.real, -1, 1) + 1j * np.clip(5 * odd.imag, -1, 1)
    elif kind == "bias":
        odd += 10 + 10j
    elif kind == "tiny":
        odd *= 1e-14
    else:
        odd *= 1e4
    filter_ = WLDRRLSDCD(16, 1 - 1 / 320, 3, dtype=dtype)
    errors = filter_.process(odd, echo(responses(truth), odd) + 1e-3 * d[:3000])
    assert np.isfinite(errors).all()
    assert np.abs(filter_.taps).max() < 1e3
    filter_.process(x[3000:], d[3000:])
    filter_.process(x, d)
    assert misalignment(filter_.taps, truth) < -20


def test_longer_than_the_signal_and_empty():
    x, d, _ = scene(8, 20, 1)
    assert np.isfinite(WLDRRLSDCD(300, 0.999).process(x, d)).all()
    assert WLDRRLSDCD(8, 0.99).process(np.array([], complex), np.array([], complex)).size == 0


def test_silence_is_waited_out_without_ageing():
    x, d, _ = scene(8, 400, 1)
    filter_ = WLDRRLSDCD(8, 0.9, 2, dtype=np.float32)
    filter_.process(x, d)
    filter_.process(np.zeros(8, complex), np.zeros(8, complex))
    before = filter_.save()
    out = filter_.process(np.zeros(100_000, complex), np.full(100_000, 0.5j))
    assert (out == 0.5j).all()
    assert np.array_equal(before["R"], filter_.save()["R"])
    assert np.array_equal(before["h"], filter_.save()["h"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"length": 0}, "length"),
        ({"length": 2.5}, "length"),
        ({"forgetting": 0}, "forgetting"),
        ({"forgetting": 1.01}, "forgetting"),
        ({"data_reuse": 0}, "data_reuse"),
        ({"updates": 0}, "updates"),
        ({"bits": 31}, "bits"),
        ({"amplitude": -1}, "amplitude"),
        ({"regularization": 0}, "regularization"),
        ({"dtype": np.int32}, "dtype"),
    ],
)
def test_parameters_are_checked(change, message):
    with pytest.raises(ValueError, match=message):
        WLDRRLSDCD(**({"length": 8, "forgetting": 0.99} | change))


def test_stereo_joins_two_channels():
    assert np.array_equal(stereo([1, 2], [3, 4]), [1 + 3j, 2 + 4j])
    with pytest.raises(SignalError, match="equal length"):
        stereo([1], [1, 2])
    with pytest.raises(SignalError, match="real"):
        stereo([1j], [1])


@pytest.mark.parametrize("variant", ["eq12-plus", "eq13-e0", "both"])
def test_printed_variants_part_only_with_reuse(variant):
    x, d, _ = scene(8, 200, 3)
    for reuse, same in ((1, True), (3, False)):
        repaired = dcd_uncompiled.WLDRRLSDCD(8, 0.95, reuse).process(x, d)
        printed = dcd_uncompiled.WLDRRLSDCD(8, 0.95, reuse, variant=variant).process(x, d)
        assert np.array_equal(repaired, printed) is same


@pytest.mark.slow
def test_ten_million_samples_without_drift():
    rng = np.random.default_rng(0)
    filter_ = WLDRRLSDCD(8, 1 - 1 / 512, 3, dtype=np.float32)
    x, d, truth = scene(8, 100_000, 9)
    filter_.process(x, d)
    first = misalignment(filter_.taps, truth)
    for _ in range(100):
        shift = int(rng.integers(1000))
        filter_.process(x[shift:], d[shift:])
    assert abs(misalignment(filter_.taps, truth) - first) < 2
