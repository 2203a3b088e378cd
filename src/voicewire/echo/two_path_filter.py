"""WL-DR-RLS-DCD that is guarded: a copy of its taps does the cancelling, and follows it when it is better.

Explained in ``notebooks/echo/01_adaptive_filters.ipynb``.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import fft

from voicewire.echo.adaptive_filter import positive, whole
from voicewire.echo.dcd import WLDRRLSDCD
from voicewire.echo.dcd_mono import MonoDCD
from voicewire.echo.recordings.input_validation import pair

__all__ = ["Change", "Guarded"]

BLOCK: Final = 0.016
"""Time between two decisions, s."""
_NEW: Final = 0.15  # share of the newest block in the averages of power: they reach back some 0.1 s
_SURE: Final = 0.5  # share of the copy's power below which the learner is followed, odd as things are
_WORSE: Final = 0.7  # the copy's power over the learner's, below which the learner is set back
_ODD: Final = 4.0  # times the usual share of echo that is left: be careful
_JUMP: Final = 16.0  # times the usual share of echo that is left: something happened
_TALK: Final = 8.0  # times the usual: it goes on
_LOUDER: Final = 2.0  # times the microphone's power: the copy adds more than it takes
_WORTH: Final = 0.01  # of the mean power at the microphone: less isn't worth a doubt
_LEARNT: Final = 2.0  # s of speech before anything is usual
_PAUSE, _GRACE = 1.6, 0.8  # s between two doubts; s in which a learner that began anew isn't set back
_SETTLED: Final = 0.3  # s without a copy: what is left isn't the learning's
_RISE, _FALL = 1.005, 0.03  # how fast, in a block, the usual share may rise, and falls
_LONG: Final = 5.0  # s of the mean powers
_ACTIVE: Final = 0.1  # of the mean power: the far end is heard


class Change(NamedTuple):
    """A moment at which the learner began anew.

    Attributes
    ----------
    time : float
        s.
    cause : str
        "as if the path had changed", "as if the near end talked", or "more was taken out than was heard".

    Examples
    --------
    >>> Change(15.1, "as if the path had changed").cause
    'as if the path had changed'
    """

    time: float
    cause: str


class Guarded:
    """An echo canceller of two filters: one learns, and a copy of its taps cancels.

    The learner is `WLDRRLSDCD`. Every 16 ms the powers that the two leave are compared. If the learner's is smaller,
    its taps are copied; if more is left than usual, only when it is smaller by half. If it is larger by far, the
    learner goes on from the copy's taps. If what is left jumps to many times the usual, the learner begins anew beside
    the copy: if the path has changed it soon wins, and if the near end talks it does not.

    Parameters
    ----------
    length : int
        Taps of each echo path, L.
    sr : float
        Samples a second, Hz.
    memory : float
        K in lambda = 1 - 1/(K L).
    passes : int
        Data-reuse passes, N_it.

    Attributes
    ----------
    block : int
        Samples between two decisions.
    taps : ndarray of complex, shape (2 L,)
        Of the copy, in the order of `WLDRRLSDCD.taps`.
    changes : list of Change
        When the learner began anew, and what it was for.
    copied, set_back : int
        How often the copy followed the learner, and the learner the copy.

    Raises
    ------
    ValueError
        For a parameter out of its range.

    Notes
    -----
    Share of the echo that is left, each power an average over 0.1 s, the last one over 5 s:

    .. math:: \\rho = \\frac{\\overline{|f|^2}}{\\overline{|d|^2} + \\overline{\\overline{|d|^2}}}

    with f the copy's error and d the microphone. Four times its usual value is odd, 8 times is called double talk, 16
    times begins anew. The loudspeakers' power should be about 1.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> x = rng.standard_normal(8000) + 1j * rng.standard_normal(8000)
    >>> canceller = Guarded(8, 8000)
    >>> e, talks = canceller.process(x, 0.5 * x)
    >>> bool(np.abs(e[4000:]).max() < 1e-3), bool(talks.any())
    (True, False)
    """

    def __init__(self, length: int, sr: float, memory: float = 64.0, passes: int = 1) -> None:
        self.sr = positive("sr", sr)
        self.length = whole("length", length, 1, 2**14)
        self.memory = positive("memory", memory)
        self.passes = whole("data_reuse", passes, 1)
        self.block = max(1, round(BLOCK * sr))
        self._size = fft.next_fast_len(self.length - 1 + self.block, real=True)
        self.reset()

    def reset(self) -> None:
        """Forget everything, as at the beginning."""
        self._wide = WLDRRLSDCD(
            self.length, 1 - 1 / (self.memory * self.length), self.passes, regularization=self.length / 4,
            dtype=np.float32,
        )  # fmt: skip
        self._mono = MonoDCD(self._wide) if self._wide.compiled else None
        self.changes: list[Change] = []
        self.copied = self.set_back = 0
        self._before = np.zeros((2, self.length - 1))  # the far end's last samples
        self._filled = 0  # samples of the block that is being heard
        self._sums = [0.0] * 4  # of its powers: the copy's error, the learner's, far end, microphone
        self._copy()
        self._powers = [0.0] * 4  # over the last blocks: the copy's error, the learner's, far end, microphone
        self._means = [0.0] * 2  # of the latter two over the last seconds
        self._usual = 1.0  # share of the echo that is left when nothing happens
        self._blocks = self._active = 0
        self._followed = self._doubted = -(10**9)  # blocks: when the copy last followed; when the learner began anew
        self._share = 0.0  # of the echo that was left then
        self._talking = self._first = self._odd = False

    def __repr__(self) -> str:
        """Name the settings and how far it is."""
        settings = f"length={self.length}, sr={self.sr:g}, memory={self.memory:g}, passes={self.passes}"
        return f"<Guarded({settings}): {self._blocks * BLOCK:.1f} s heard, begun anew {len(self.changes)} times>"

    def process(
        self, x: ArrayLike, d: ArrayLike, lost: NDArray[np.bool_] | None = None
    ) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Cancel over a stretch of signal.

        Parameters
        ----------
        x, d : array_like of complex, shape (N,)
            Far end and microphones, left + 1j * right. A long signal may come in pieces; decisions fall at the ends of
            blocks, so whole blocks are best.
        lost : ndarray of bool, shape (N,), optional
            Where the microphones have nothing: what the copy expects stands in for them, so that nothing is learnt.

        Returns
        -------
        error : ndarray of complex, shape (N,)
            What is left of d.
        talks : ndarray of bool, shape (N,)
            Where the near end is held to talk as well.

        Raises
        ------
        SignalError
            If a signal is mono, not finite, too large, or the lengths differ; the state is then unchanged.
        """
        far, microphone = pair(x, d, self._wide.dtype)
        if self._mono is not None and (far.imag.any() or microphone.imag.any()):
            self._mono.widen(self._wide)
            self._mono = None
            self._copy(self.taps)
        error, talks = np.zeros_like(microphone), np.zeros(microphone.size, bool)
        into = error
        if self._mono is not None:
            far, microphone, into = far.real.copy(), microphone.real.copy(), error.real
        at = 0
        while at < far.size:
            span = slice(at, min(at + self.block - self._filled, far.size))
            gone = None if lost is None else lost[span]
            into[span] = self._piece(far[span], microphone[span], gone)
            talks[span] = self._talking
            at = span.stop
        return error, talks

    @property
    def taps(self) -> NDArray[np.complex128]:
        """Of the copy, in the order of `WLDRRLSDCD.taps`."""
        if self._taps.ndim == 1:
            return np.asarray(self._taps, np.complex128)
        left, right = self._taps
        return np.asarray(np.stack([left + right, left - right], axis=1).ravel() / 2, np.complex128)

    def _piece(self, x: NDArray[Any], d: NDArray[Any], lost: NDArray[np.bool_] | None) -> NDArray[Any]:
        """The error over a block or what of it is there; at its end a decision."""
        echo = self._echo(x) if self._mono is None else self._mono_echo(x)
        heard = d
        if lost is not None:
            d = np.where(lost, echo, d).astype(d.dtype)
        learners = self._wide.process(x, d) if self._mono is None else self._mono.process(x, d)
        error = d - echo
        powers = _power(error), _power(learners), _power(x), _power(d)
        self._sums = [total + new for total, new in zip(self._sums, powers, strict=True)]
        self._filled += x.size
        followed = False
        if self._filled >= self.block:
            followed = self._decide(self._sums)
            self._filled, self._sums = 0, [0.0] * 4
        left = learners if followed else error
        return left if lost is None else np.where(lost, heard - echo, left)

    def _copy(self, taps: NDArray[Any] | None = None) -> None:
        """The copy takes these taps, else zeros; kept as the spectra of four real filters, for stereo."""
        if self._mono is not None:
            self._taps: NDArray[Any] = np.zeros((2, self.length)) if taps is None else taps
            return
        self._taps = np.zeros(2 * self.length, complex) if taps is None else taps
        even, odd = self._taps[0::2], self._taps[1::2]
        real = [(even + odd).real, (even - odd).imag, (even - odd).real, -(even + odd).imag]
        self._filters = fft.rfft(real, self._size)

    def _set_back(self) -> None:
        """The learner takes the copy's taps."""
        if self._mono is not None:
            self._mono.paths = self._taps
        else:
            self._wide.taps = self._taps

    def _echo(self, x: NDArray[Any]) -> NDArray[Any]:
        """What the copy holds for the echo, by overlap and save."""
        far = np.concatenate([self._before, [x.real, x.imag]], axis=1)
        left, right = fft.rfft(far, self._size)
        ll, rl, rr, lr = self._filters
        both = fft.irfft([ll * left + rl * right, rr * right + lr * left], self._size)
        self._before = far[:, x.size :]
        new = both[:, self.length - 1 : self.length - 1 + x.size]
        return np.asarray(new[0] + 1j * new[1])

    def _mono_echo(self, x: NDArray[Any]) -> NDArray[np.float64]:
        """The same for one loudspeaker and one microphone: so few samples are faster without a transform."""
        far = np.concatenate([self._before[0], x])
        self._before[0] = far[x.size :]
        return np.convolve(far, self._taps[0], "valid")

    def _decide(self, powers: list[float]) -> bool:
        """Compare the two over a block; whether the copy followed the learner."""
        self._blocks += 1
        self._powers = [old + _NEW * (new - old) for old, new in zip(self._powers, powers, strict=True)]
        seconds = min(self._blocks, round(_LONG / BLOCK))
        self._means = [old + (new - old) / seconds for old, new in zip(self._means, self._powers[2:], strict=True)]
        self._doubt()
        left, learners = self._powers[:2]
        if learners < (_SURE if self._odd else 1.0) * left:
            self._copy(self._wide.taps if self._mono is None else self._mono.paths)
            self._powers[0] = learners
            self.copied += 1
            self._followed = self._blocks
            return True
        if self._since(self._doubted) > _GRACE and left < _WORSE * learners:
            self._set_back()
            self._powers[1] = left
            self.set_back += 1
        return False

    def _since(self, block: int) -> float:
        return (self._blocks - block) * BLOCK

    def _doubt(self) -> None:
        """Is more left of the echo than usual? Then the learner begins anew, and it turns out what it was."""
        left, _, far, heard = self._powers
        mean_far, mean_heard = self._means
        if far < _ACTIVE * mean_far or heard <= 0:
            return
        self._active += 1
        share = left / (heard + mean_heard)
        learnt = self._active * BLOCK > _LEARNT
        waited = self._since(self._doubted) > _PAUSE
        if left > _LOUDER * heard and left > _WORTH * mean_heard:
            self._copy()
            self._powers[0] = heard
            self._begin_anew("more was taken out than was heard", share)
        elif learnt and waited and share > _JUMP * self._usual:
            self._begin_anew("as if the near end talked", share)
        elif self._first and self._followed > self._doubted and not waited and share < self._share / 4:
            self.changes[-1] = self.changes[-1]._replace(cause="as if the path had changed")
        self._talking = learnt and share > _TALK * self._usual and self._since(self._followed) > _SETTLED
        more = share > self._usual
        self._odd = learnt and share > _ODD * self._usual
        self._usual = min(share, _RISE * self._usual) if more else self._usual + _FALL * (share - self._usual)

    def _begin_anew(self, cause: str, share: float) -> None:
        """The learner forgets all but the copy's taps; a doubt soon after another belongs to it."""
        self._first = self._since(self._doubted) > 2 * _PAUSE
        if self._first:
            self.changes.append(Change(self._blocks * BLOCK, cause))
        self._doubted, self._share = self._blocks, share
        self._set_back()
        (self._mono or self._wide).begin_anew()


def _power(z: NDArray[Any]) -> float:
    return float(np.vdot(z, z).real)
