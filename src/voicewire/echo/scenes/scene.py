"""One conversation, the same for every algorithm: sources, rooms, pre-distortion, echo paths, noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.signal import fftconvolve, lfilter

from voicewire._kit import checks
from voicewire.echo import paper
from voicewire.echo.scenes.room_impulse_responses import decaying, room_response
from voicewire.echo.widely_linear import Responses, complex_taps, echo

__all__ = ["Scene", "Signals", "changed", "predistort"]

Complex = NDArray[np.complex128]
Real = NDArray[np.float64]
Change = Literal["none", "sign", "swap", "drift"]
Family = Literal["decaying", "room"]


@checks.takes(x=checks.array(kind="complex"), amount=checks.number(-10.0, 10.0))
def predistort(x: Complex, amount: float) -> Complex:
    """The half-wave rectifier, equations (14) and (15): left gains its positive half, right its negative one.

    Parameters
    ----------
    x : ndarray of complex, shape (N,)
        Left + 1j*right.
    amount : float
        alpha_r; 0 changes nothing, the paper recommends at most 0.5.

    Returns
    -------
    ndarray of complex, shape (N,)

    Examples
    --------
    >>> predistort(np.array([1 + 1j, -1 - 1j]), 0.5).tolist()
    [(1.5+1j), (-1-1.5j)]
    """
    left, right = x.real, x.imag
    out = np.empty(x.size, complex)
    out.real = left + amount * np.maximum(left, 0)
    out.imag = right + amount * np.minimum(right, 0)
    return out


@checks.takes(paths=checks.a(Responses), change=checks.one_of("none", "sign", "swap", "drift"), rng=checks.generator)
def changed(paths: Responses, change: Change, rng: np.random.Generator) -> Responses:
    """The echo paths after the change.

    "sign" negates all four (Figure 1); "swap" interchanges the microphones, all at once (equation (17) as meant);
    "drift" moves to new random paths of the same decay.

    Parameters
    ----------
    paths : Responses
        The echo paths before.
    change : {"none", "sign", "swap", "drift"}
        What happens.
    rng : Generator
        Source of randomness of a drift.

    Returns
    -------
    Responses

    Raises
    ------
    ValueError
        For an unknown change.

    Examples
    --------
    >>> paths = Responses(*np.eye(4))
    >>> bool((changed(paths, "swap", np.random.default_rng(1)).LL == paths.LR).all())
    True
    """
    if change == "none":
        return paths
    if change == "sign":
        return Responses(*(-path for path in paths))
    if change == "swap":
        return Responses(LL=paths.LR, LR=paths.LL, RL=paths.RR, RR=paths.RL)
    if change == "drift":
        return Responses(*(path + 0.3 * decaying(path.size, rng) for path in paths))
    raise ValueError(f"unknown change {change!r}: none, sign, swap or drift")


@dataclass(frozen=True)
class Signals:
    """What a scene sounds like.

    Attributes
    ----------
    x : ndarray of complex, shape (N,)
        Far end, left + 1j*right.
    d : ndarray of complex, shape (N,)
        Microphones.
    noise, near_end : ndarray of complex, shape (N,)
        What of d is noise, and a near-end talker.
    before, after : Responses
        The echo paths before and after the change.
    change_at : int
        Sample of the change; the end where there is none.
    drift : bool
        Whether the paths move from there to the end, not at once.

    Examples
    --------
    >>> signals = Scene(8, 100, 1).signals()
    >>> signals.x.shape, signals.change_at
    ((100,), 100)
    """

    x: Complex
    d: Complex
    noise: Complex
    near_end: Complex
    before: Responses
    after: Responses
    change_at: int
    drift: bool

    @checks.takes(n=checks.whole())
    def truth(self, n: int) -> Complex:
        """The true complex taps at sample n.

        Parameters
        ----------
        n : int
            Sample.

        Returns
        -------
        ndarray of complex, shape (2L,)
        """
        old, new = complex_taps(self.before), complex_taps(self.after)
        if n < self.change_at:
            return old
        if not self.drift:
            return new
        share = (n - self.change_at) / max(self.x.size - self.change_at, 1)
        return (1 - share) * old + share * new


def _source(name: str, value: object, error: type[ValueError]) -> str | Real:
    """The name of a kind of noise, or a recording that is not silent (a rule)."""
    if isinstance(value, str):
        if value not in ("ar1", "white"):
            raise error(f"unknown source {value!r}: ar1, white, or an array of samples")
        return value
    found: Real = checks.array()(name, value, error)
    if not np.ptp(found) > 0:
        raise error(f"{name} is silent, or constant: a far end of power 1 cannot be made of it")
    return found


@dataclass(frozen=True)
class Scene:
    """A stereo conversation, reproducible from one seed; each part has its own stream of randomness.

    Parameters
    ----------
    length : int
        Taps of each of the four echo paths, L.
    samples : int
        Duration in samples (ignored with a recording).
    seed : int
        Seed.
    source : {"ar1", "white"} or ndarray
        The far-end talker: AR(1) noise, white noise, or a recording of shape (N,).
    predistortion : float
        alpha_r.
    change, change_at : Change
        What happens to the echo paths, and at which sample.
    family : {"decaying", "room"}
        Impulse responses of both rooms: random and decaying, or a shoebox by image sources.
    far_length : int, optional
        Taps of the far-end room; L by default. Not given in the paper, and it decides whether alpha_r = 0 works.
    snr : float
        Echo to noise at each microphone, in dB.
    double_talk : (int, int), optional
        First and last sample of a near-end talker as loud as the echo.

    Examples
    --------
    >>> scene = Scene(8, 100, 1, source="white", change="sign", change_at=50)
    >>> bool((scene.signals().truth(60) == -scene.signals().truth(40)).all())
    True
    """

    length: int
    samples: int
    seed: int
    source: str | Real = "ar1"
    predistortion: float = 0.4
    change: Change = "none"
    change_at: int = 0
    family: Family = "decaying"
    far_length: int | None = None
    snr: float = paper.SNR_DB
    double_talk: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        checks.fields(
            self, length=checks.whole(1, 2**14), samples=checks.whole(0, 10**8), seed=checks.seed, source=_source,
            predistortion=checks.number(-10.0, 10.0), change=checks.one_of("none", "sign", "swap", "drift"),
            change_at=checks.whole(0, 10**8), family=checks.one_of("decaying", "room"),
            far_length=checks.maybe(checks.whole(1, 2**14)), snr=checks.number(-300.0, 300.0),
            double_talk=checks.maybe(checks.each(checks.whole(0, 10**8), least=2)),
        )  # fmt: skip
        end = self.source.size if isinstance(self.source, np.ndarray) else self.samples
        if end < 1:
            raise ValueError("samples is 0: a scene without a recording needs at least one")
        if self.double_talk is not None and not 0 <= self.double_talk[0] < self.double_talk[1] <= end:
            raise ValueError(f"double talk must begin before it ends, within {end} samples, not {self.double_talk}")

    def signals(self) -> Signals:
        """Draw the scene: both channels of the far end have power 1 before the pre-distortion.

        Returns
        -------
        Signals

        Raises
        ------
        ValueError
            For an unknown source or change.
        """
        rngs = [np.random.default_rng(s) for s in np.random.SeedSequence(self.seed).spawn(6)]
        for_source, for_far, for_paths, for_noise, for_change, for_talk = rngs
        far_length = self.far_length or self.length
        source = self._source(for_source)
        n = source.size
        far = self._responses(far_length, 2, for_far, far_length / 2)
        left, right = (fftconvolve(source, response)[:n] for response in far)
        far_end = left / np.std(left) + 1j * right / np.std(right)
        del source, left, right  # five minutes of speech: each array counts
        x = predistort(far_end, self.predistortion)
        del far_end
        before = Responses(*self._responses(self.length, 4, for_paths, self.length / 5))
        after = changed(before, self.change, for_change)
        start = self.change_at if self.change != "none" else n
        heard = echo(before, x)
        if self.change == "drift":
            share = np.clip((np.arange(n) - start) / max(n - start, 1), 0, 1)
            heard = (1 - share) * heard + share * echo(after, x)
        elif start < n:
            heard[start:] = echo(after, x)[start:]
        noise = self._noise(heard, for_noise)
        near = np.zeros(n, complex)
        if self.double_talk is not None:
            begin, end = self.double_talk
            talk = for_talk.standard_normal((2, end - begin))
            talk = lfilter([1], [1, -paper.AR_POLE], talk)
            near[begin:end] = (talk[0] + 1j * talk[1]) / np.std(talk) * np.std(heard) / np.sqrt(2)
        d = heard + noise
        if self.double_talk is not None:
            d += near
        return Signals(x, d, noise, near, before, after, start, self.change == "drift")

    def _source(self, rng: np.random.Generator) -> Real:
        if isinstance(self.source, np.ndarray):
            return self.source
        noise = rng.standard_normal(self.samples)
        if self.source == "ar1":
            return np.asarray(lfilter([1.0], [1.0, -paper.AR_POLE], noise))
        return noise

    def _responses(self, length: int, number: int, rng: np.random.Generator, decay: float) -> list[Real]:
        if self.family == "room":
            return [room_response(length, paper.RATE, rng) for _ in range(number)]
        return [decaying(length, rng, decay) for _ in range(number)]

    def _noise(self, heard: Complex, rng: np.random.Generator) -> Complex:
        level = 10 ** (-self.snr / 20)
        noise = np.empty(heard.size, complex)
        noise.real = level * (np.std(heard.real) * rng.standard_normal(heard.size))
        noise.imag = level * (np.std(heard.imag) * rng.standard_normal(heard.size))
        return noise
