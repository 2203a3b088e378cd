"""Vowels whose formants are known: a cascade synthesiser with Table II's formants and emphatic or plain loci.

A glottal pulse train runs through eight second-order resonators whose centre frequencies move from the consonant's
locus to the vowel's target; every one of those frequencies is returned with the sound, so that a tracker's error can
be computed instead of guessed. Explained in notebook ``02_formants``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from voicewire._kit import checks
from voicewire._kit._compiled import njit
from voicewire.pharyngeal import paper
from voicewire.pharyngeal.audio_files import Sound

__all__ = ["CONTEXTS", "RATE", "Speaker", "Token", "cascade", "corpus", "glottal_source", "speakers", "vowel"]

Array = NDArray[np.float64]

RATE: Final = 16_000
_HIGHER: Final = (4500.0, 5500.0, 6500.0, 7400.0)  # F5 to F8: not in the paper, evenly spaced as in a 17 cm tube
BANDWIDTHS: Final = (70.0, 90.0, 130.0, 180.0, 250.0, 300.0, 350.0, 400.0)  # Hz; usual values for a modal voice

# Loci (Hz) towards which a transition points at the consonant's release; assumption, after locus measurements of
# emphatic and plain coronals: F2 near 1.1 kHz against 1.8 kHz, F1 low at any closure, high beside a pharyngeal.
LOCI: Final[dict[str, tuple[float, float, float]]] = {
    "plain": (350.0, 1800.0, 2650.0),
    "tt": (450.0, 1050.0, 2600.0),
    "ayn": (720.0, 1500.0, 2500.0),
    "ayntah": (560.0, 1080.0, 2550.0),
}
CONTEXTS: Final = tuple(LOCI)


def targets() -> dict[str, tuple[float, float, float, float]]:
    """Return the vowel's F1 to F4 (Hz) in each context: Table II, with the plain means of the text.

    The row of /ʕ/ is repaired (its third cell holds F2 - F1): F3 is 2539.67 Hz, and F4 the text's plain mean plus
    91.89 Hz.
    """

    def row(name: str) -> tuple[float, float, float, float]:
        f1, f2, f3, f4 = (float(paper.cell(2, name, formant)) for formant in paper.FORMANTS)
        return f1, f2, f3, f4

    plain = tuple(float(paper.TEXT_PLAIN[formant]) for formant in paper.FORMANTS)
    ayn = row("ayn-mean")
    return {
        "plain": (plain[0], plain[1], plain[2], plain[3]),
        "tt": row("tt-mean"),
        "ayn": (ayn[0], ayn[1], ayn[3], plain[3] + float(paper.TEXT_SHIFT["ayn"]["F4"])),
        "ayntah": row("a-ayntah"),
    }


@dataclass(frozen=True)
class Speaker:
    """A synthetic speaker: mean f0 (Hz), vocal-tract scale (1 is the paper's speaker) and open quotient.

    Attributes
    ----------
    name : str
    f0 : float
        Mean pitch, Hz.
    scale : float
        Formants over those of the paper's speaker.
    open_quotient : float
        Share of a period in which the glottis is open.

    Examples
    --------
    >>> Speaker("demo", f0=118.0).scale
    1.0
    """

    name: str
    f0: float = 115.0
    scale: float = 1.0
    open_quotient: float = 0.6

    def __post_init__(self) -> None:
        checks.fields(
            self, f0=checks.number(20.0, 1000.0), scale=checks.number(0.3, 2.0), open_quotient=checks.number(0.3, 0.9)
        )


@dataclass(frozen=True)
class Token:
    """A synthetic vowel with its truth.

    Attributes
    ----------
    sound : Sound
        The waveform.
    times : ndarray of float
        Times of the truth, s, shape (n,).
    truth : ndarray of float
        F1 to F4 at those times, Hz, shape (n, 4).
    speaker, context : str
        Who, and beside which consonant.

    Examples
    --------
    >>> vowel("tt", Speaker("demo"), np.random.default_rng(1)).context
    'tt'
    """

    sound: Sound
    times: Array
    truth: Array
    speaker: str
    context: str

    @checks.takes(time=checks.number())
    def at(self, time: float) -> Array:
        """Return the true F1 to F4 (Hz) at a time (s).

        Parameters
        ----------
        time : float
            s.

        Returns
        -------
        ndarray of float, shape (4,)
            Hz.
        """
        return np.array([np.interp(time, self.times, column) for column in self.truth.T])


@njit(cache=True)
def _cascade(source: Array, centres: Array, bandwidths: Array, rate: float) -> Array:
    """Run a source through resonators in series whose centres change with every sample (Klatt's difference eq.)."""
    output = source.copy()
    for k in range(bandwidths.size):
        r = np.exp(-np.pi * bandwidths[k] / rate)
        c = -r * r
        y1 = y2 = 0.0
        for i in range(output.size):
            b = 2.0 * r * np.cos(2.0 * np.pi * centres[i, k] / rate)
            y = (1.0 - b - c) * output[i] + b * y1 + c * y2
            y2, y1 = y1, y
            output[i] = y
    return output


@checks.takes(
    f0=checks.array(low=1.0, high=5000.0), rate=checks.whole(1000, 10**6), open_quotient=checks.number(0.3, 0.9),
)  # fmt: skip
def glottal_source(f0: Array, rate: int, open_quotient: float = 0.6) -> Array:
    """Return the derivative of a Rosenberg pulse train that follows ``f0`` (Hz, one value a sample).

    The derivative stands for the flow and the lips' radiation together.

    Parameters
    ----------
    f0 : ndarray of float, shape (n,)
        Pitch at each sample, Hz.
    rate : int
        Samples a second, Hz.
    open_quotient : float
        0.3 to 0.9.

    Returns
    -------
    ndarray of float, shape (n,)

    Raises
    ------
    ValueError
        For an open quotient that no voice has.

    Examples
    --------
    >>> glottal_source(np.full(1600, 100.0), 16_000).shape
    (1600,)
    """
    if not 0.3 <= open_quotient <= 0.9:
        raise ValueError(f"an open quotient of {open_quotient!r} is no voice; choose 0.3 to 0.9")
    phase = np.cumsum(np.asarray(f0, dtype=float)) / rate % 1.0
    position = phase / open_quotient  # 0 to 1 while the glottis is open
    flow = np.where(position < 1.0, position**2 * (1.0 - position), 0.0)
    return np.diff(flow, prepend=flow[0]) * 30.0


@checks.takes(
    same=("source", "formants"), source=checks.array(high=1e12, low=-1e12), formants=checks.array(2, low=1.0),
    rate=checks.whole(1000, 10**6), bandwidths=checks.each(checks.number(1.0, 1e5)),
)  # fmt: skip
def cascade(source: Array, formants: Array, rate: int = RATE, bandwidths: tuple[float, ...] = BANDWIDTHS) -> Array:
    """Filter a source by a cascade of formants.

    Parameters
    ----------
    source : ndarray of float
        Samples, shape (n,).
    formants : ndarray of float
        Centre frequencies, Hz, shape (n, k) with k at most the number of bandwidths.
    rate : int
        Samples a second.
    bandwidths : tuple[float, ...]
        -3 dB bandwidths, Hz, of the first k resonators.

    Returns
    -------
    ndarray
        Samples, shape (n,).

    Examples
    --------
    >>> pulse = np.eye(1, 800)[0]
    >>> cascade(pulse, np.tile([500.0, 1500, 2500, 3500, 4500, 5500, 6500, 7400], (800, 1))).shape
    (800,)
    """
    if formants.shape[0] != source.shape[0] or formants.shape[1] > len(bandwidths):
        raise ValueError("formants must have one row a sample and at most one column a bandwidth")
    if float(np.max(formants)) >= rate / 2:
        raise ValueError(f"formants must stay below half the rate ({rate / 2:.0f} Hz)")
    width = np.asarray(bandwidths[: formants.shape[1]], dtype=float)
    return np.asarray(_cascade(np.asarray(source, dtype=float), formants.astype(float), width, float(rate)))


@checks.takes(samples=checks.array(), snr=checks.maybe(checks.number(-300.0, 300.0)), rng=checks.generator)
def add_noise(samples: Array, snr: float | None, rng: np.random.Generator) -> Array:
    """Add white noise at ``snr`` dB to the samples' own power (``None``: leave them clean)."""
    if snr is None:
        return samples
    power = float(np.mean(samples**2))
    return samples + rng.normal(scale=np.sqrt(power / 10 ** (snr / 10)), size=samples.size)


def _goals(name: str, value: Any, error: type[ValueError]) -> Mapping[int, float]:
    """Targets in Hz by number 1 to 4 (a rule)."""
    if not isinstance(value, Mapping) or not set(value) <= {1, 2, 3, 4}:
        raise error(f"{name} must be a mapping of 1 to 4 to Hz, not {value!r:.40}")
    return {key: checks.number(50.0, 7500.0)(f"{name}[{key}]", entry, error) for key, entry in value.items()}


@checks.takes(
    context=checks.one_of(*CONTEXTS), speaker=checks.a(Speaker), rng=checks.generator,
    duration=checks.number(0.05, 60.0), snr=checks.maybe(checks.number(-300.0, 300.0)),
    scatter=checks.number(0.0, 0.2), formants=checks.maybe(_goals),
)  # fmt: skip
def vowel(
    context: str,
    speaker: Speaker,
    rng: np.random.Generator,
    *,
    duration: float = 0.18,
    snr: float | None = None,
    scatter: float = 0.03,
    formants: Mapping[int, float] | None = None,
) -> Token:
    """Synthesise one /a/ after a consonant, with its formants.

    Parameters
    ----------
    context : str
        ``"plain"``, ``"tt"``, ``"ayn"`` or ``"ayntah"``.
    speaker : Speaker
        Synthetic speaker.
    rng : Generator
        Random generator; scatter of targets, f0 and noise come from it.
    duration : float
        Length of the vowel, s.
    snr : float, optional
        White noise, dB; ``None`` for none.
    scatter : float
        Relative standard deviation of the targets from token to token (cut at two).
    formants : Mapping[int, float], optional
        Targets (Hz) by number 1 to 4 that replace those of the context, unscaled and unscattered.

    Returns
    -------
    Token

    Examples
    --------
    >>> token = vowel("plain", Speaker("demo"), np.random.default_rng(1), scatter=0.0)
    >>> token.at(0.09).shape
    (4,)
    """
    if context not in LOCI:
        raise ValueError(f"unknown context {context!r}; choose one of {', '.join(CONTEXTS)}")
    if duration < 0.05:
        raise ValueError(f"a vowel of {duration!r} s is too short to be tracked; give at least 0.05 s")
    count = round(duration * RATE)
    times = np.arange(count) / RATE
    jitter = np.clip(rng.normal(scale=scatter, size=4), -2 * scatter, 2 * scatter)
    goal = np.array(targets()[context]) * speaker.scale * (1 + jitter)
    for number, value in (formants or {}).items():
        goal[number - 1] = value
    locus = np.append(np.array(LOCI[context]) * speaker.scale, goal[3])
    approach = np.exp(-times / 0.025)[:, None]  # 25 ms: the transition is over by mid-vowel
    truth = goal + (locus - goal) * 0.8 * approach
    higher = np.tile(np.array(_HIGHER) * speaker.scale**0.5, (count, 1))
    pitch = speaker.f0 * (1 + rng.normal(scale=0.03)) * (1.05 - 0.15 * times / duration)
    pitch *= 1 + 0.01 * np.interp(times, np.linspace(0, duration, 12), rng.normal(size=12))
    source = glottal_source(pitch, RATE, speaker.open_quotient)
    samples = cascade(source, np.hstack([truth, np.minimum(higher, 0.47 * RATE)]))
    samples = add_noise(samples, snr, rng)
    fade = np.minimum(1.0, np.minimum(times, times[-1] - times) / 0.005)
    samples = samples * fade
    samples *= 0.5 / float(np.max(np.abs(samples)))
    return Token(Sound(samples, RATE, f"{speaker.name}-{context}"), times, truth, speaker.name, context)


@checks.takes(count=checks.whole(1, 10**5), rng=checks.generator)
def speakers(count: int, rng: np.random.Generator) -> list[Speaker]:
    """Draw male synthetic speakers: f0 90 to 145 Hz, vocal-tract scale 0.94 to 1.06, open quotient 0.5 to 0.7.

    Parameters
    ----------
    count : int
        How many.
    rng : Generator
        Source of randomness.

    Returns
    -------
    list of Speaker

    Examples
    --------
    >>> [person.name for person in speakers(2, np.random.default_rng(1))]
    ['s01', 's02']
    """
    return [
        Speaker(f"s{i + 1:02d}", *(float(rng.uniform(a, b)) for a, b in ((90, 145), (0.94, 1.06), (0.5, 0.7))))
        for i in range(count)
    ]


@checks.takes(
    people=checks.each(checks.a(Speaker)), repetitions=checks.whole(1, 10**5), rng=checks.generator,
    snr=checks.maybe(checks.number(-300.0, 300.0)),
)  # fmt: skip
def corpus(
    people: list[Speaker], repetitions: int, rng: np.random.Generator, snr: float | None = None
) -> Iterator[Token]:
    """Yield ``repetitions`` tokens of every context from every speaker.

    Parameters
    ----------
    people : list of Speaker
        Who speaks.
    repetitions : int
        Tokens of each context.
    rng : Generator
        Source of randomness.
    snr : float, optional
        Signal to noise, dB; clean without.

    Yields
    ------
    Token

    Examples
    --------
    >>> len(list(corpus([Speaker("demo")], 1, np.random.default_rng(1))))
    4
    """
    for person in people:
        for context in CONTEXTS:
            for _ in range(repetitions):
                yield vowel(context, person, rng, snr=snr)
