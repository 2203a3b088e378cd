"""Pharyngeal: tracking a contour against an active contour, formants of a tract, formants of a vowel."""

from __future__ import annotations

import harness
import numpy as np
import parselmouth
from skimage.filters import gaussian
from skimage.segmentation import active_contour

from voicewire.pharyngeal import formants, synthesis, tract, tube
from voicewire.pharyngeal.films import keyframes, organs, xray_film
from voicewire.pharyngeal.tract import Articulation


def benchmarks(run: harness.Run) -> None:
    """Measure what the part does often: a frame, a tract, a vowel."""
    rng = np.random.default_rng(1)
    frame = xray_film.film(1, rng)[0]
    tracker = xray_film.Tracker()

    def snake() -> np.ndarray:
        # started on the true contour, which a minimal path is never told
        smooth = gaussian(frame.image, 2, preserve_range=True)
        start = xray_film.pixels(tracker.contour(tracker.truth(frame.outline)))
        return active_contour(
            smooth, start, alpha=0.01, beta=1.0, gamma=0.01, boundary_condition="fixed", max_num_iter=500
        )

    run.compare(
        "track one x-ray frame (50 a second: 0.02 s)", lambda: tracker.track(frame.image), at_most=0.02,
        peer="scikit-image active_contour", against=snake, rounds=5,
    )  # fmt: skip

    postures, whole = organs.film(40, np.random.default_rng(3))
    keyed = keyframes.KeyTracker([shown.image for shown in whole], [organs.contours(posture) for posture in postures])
    run.compare(
        "five organs of one x-ray frame, by 40 key frames", lambda: keyed.track(frame.image),
        peer="the tongue of that frame, by a minimal path", against=lambda: tracker.track(frame.image),
    )  # fmt: skip

    areas, lengths = tract.area_function(Articulation(body=0.3, jaw=0.3))
    grid = np.arange(50.0, 5000.0, 5.0)
    run.compare(
        "four formants of a tract", lambda: tube.resonances(areas, lengths),
        peer="peaks of the same tract's gain, every 5 Hz", against=lambda: tube.response(areas, lengths, grid),
    )  # fmt: skip

    token = synthesis.vowel("tt", synthesis.Speaker("x"), np.random.default_rng(2))
    padded = np.concatenate([np.zeros(960), token.sound.samples, np.zeros(960)])

    def bare() -> parselmouth.Formant:
        whole = parselmouth.Sound(padded, sampling_frequency=token.sound.rate)
        return whole.to_formant_burg(time_step=0.005, max_number_of_formants=5, maximum_formant=5000.0)

    run.compare(
        "F1 to F4 of a vowel, Praat tracker with bandwidth filter", lambda: formants.track(token.sound),
        peer="Praat's Burg alone (parselmouth)", against=bare,
    )  # fmt: skip
    run.compare(
        "F1 to F4 of a vowel, librosa LPC", lambda: formants.track(token.sound, "lpc"),
        peer="Praat's Burg alone (parselmouth)", against=bare,
    )  # fmt: skip


if __name__ == "__main__":
    packages = ["numpy", "scipy", "numba", "scikit-image", "praat-parselmouth", "librosa"]
    raise SystemExit(harness.main(benchmarks, __doc__, packages=packages))
