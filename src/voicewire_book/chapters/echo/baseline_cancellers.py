"""Two cancellers that others wrote, speexdsp's and WebRTC's AEC3, on the trials that `voicewire echo` is put to.

``python -m voicewire_book.chapters.echo.canceller_comparison OUT.csv`` makes ``data/echo/cancellers.csv`` with them.
speexdsp is Debian's libspeexdsp1; AEC3 is PyPI's aec-audio-processing, whose linear output only a few lines of C++
bring out (``aec3.cpp`` beside this).
Explained in ``notebooks/echo/01_adaptive_filters.ipynb``.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.util
import shutil
import subprocess
import tempfile
import time
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.signal import resample_poly

from voicewire._kit import checks
from voicewire.echo import paper
from voicewire.echo.recordings.input_validation import SignalError
from voicewire.echo.recordings.stream import cancel_files
from voicewire_book.chapters.echo.recording_pairs import TAPS

__all__ = ["Left", "MissingError", "aec3", "build_aec3", "ours", "speex"]

Samples = NDArray[np.float64]
_SIGNAL = checks.array(least=2)
_FRAME: Final = 64  # samples that speex takes at once, 8 ms
_TEN: Final = 160  # samples that AEC3 takes at once at 16 kHz
_WIDE: Final = 16000  # Hz: AEC3 gives its linear output at this rate only
_FULL: Final = 32767
_DEFINED: Final = "-DWEBRTC_POSIX", "-DWEBRTC_LINUX", "-DWEBRTC_APM_DEBUG_DUMP=0"
_INCLUDED: Final = "webrtc-audio-processing/webrtc", "webrtc-audio-processing/subprojects/abseil-cpp-20240722.0"


class MissingError(SignalError):
    """A canceller of others isn't installed here; the message says what brings it."""


class Left(NamedTuple):
    """What a canceller left.

    Attributes
    ----------
    linear : ndarray of float, shape (n,)
        What its filter leaves, full scale 1.
    final : ndarray of float, shape (n,) or None
        The same behind its post-filter, where it has one.
    seconds : float
        Processor time for the linear output; AEC3 gives both at once.
    passed : bool
        Whether the canceller has put the microphone through `recording_pairs.high_pass` before anything else.
    """

    linear: Samples
    final: Samples | None
    seconds: float
    passed: bool = False


def ours(far: Samples, microphone: Samples, taps: int = TAPS) -> Left:
    """Run ``voicewire echo`` on two files, as at the command line.

    Notes
    -----
    The time holds the search for the delay, too.
    """
    import soundfile

    with tempfile.TemporaryDirectory() as folder:
        names = [Path(folder) / f"{name}.wav" for name in ("far", "microphone", "residual")]
        for path, samples in zip(names, (far, microphone), strict=False):
            soundfile.write(path, samples, paper.RATE)
        start = time.process_time()
        cancel_files(*names, length=taps)
        seconds = time.process_time() - start
        return Left(soundfile.read(names[2])[0], None, seconds)


@lru_cache(maxsize=1)
def _speexdsp() -> Any:
    name = ctypes.util.find_library("speexdsp")
    if name is None:
        raise MissingError("speexdsp is not installed: on Debian, apt install libspeexdsp1")
    library = ctypes.CDLL(name)
    library.speex_echo_state_init.restype = library.speex_preprocess_state_init.restype = ctypes.c_void_p
    library.speex_echo_ctl.argtypes = library.speex_preprocess_ctl.argtypes = [
        ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p,
    ]  # fmt: skip
    library.speex_echo_cancellation.argtypes = [ctypes.c_void_p] * 4
    library.speex_preprocess_run.argtypes = [ctypes.c_void_p] * 2
    library.speex_echo_state_destroy.argtypes = library.speex_preprocess_state_destroy.argtypes = [ctypes.c_void_p]
    return library


@checks.takes(error=SignalError, far=_SIGNAL, microphone=_SIGNAL, taps=checks.whole(_FRAME, 2**14))
def speex(far: Samples, microphone: Samples, taps: int = TAPS) -> Left:
    """Run speexdsp's canceller, then its preprocessor with nothing on but the suppression of what echo is left."""
    library = _speexdsp()
    rate, none = ctypes.c_int(paper.RATE), ctypes.c_int(0)
    echo = library.speex_echo_state_init(_FRAME, taps)
    after = library.speex_preprocess_state_init(_FRAME, paper.RATE)
    library.speex_echo_ctl(echo, 24, ctypes.byref(rate))  # SPEEX_ECHO_SET_SAMPLING_RATE
    library.speex_preprocess_ctl(after, 24, echo)  # SPEEX_PREPROCESS_SET_ECHO_STATE
    library.speex_preprocess_ctl(after, 8, ctypes.byref(none))  # SPEEX_PREPROCESS_SET_NOISE_SUPPRESS, dB
    size = -(-far.size // _FRAME) * _FRAME
    played, heard = (np.zeros(size, np.int16) for _ in range(2))
    for whole, samples in ((played, far), (heard, microphone)):
        whole[: samples.size] = np.round(_FULL * np.clip(samples, -1, 1))
    linear, final = np.zeros(size, np.int16), np.zeros(size, np.int16)
    spent = 0.0
    for n in range(0, size, _FRAME):
        start = time.process_time()
        library.speex_echo_cancellation(echo, *(a[n:].ctypes.data for a in (heard, played, linear)))
        spent += time.process_time() - start
        final[n : n + _FRAME] = linear[n : n + _FRAME]
        library.speex_preprocess_run(after, final[n:].ctypes.data)
    library.speex_preprocess_state_destroy(after)
    library.speex_echo_state_destroy(echo)
    return Left(linear[: far.size] / _FULL, final[: far.size] / _FULL, spent, passed=True)


def build_aec3(source: str | Path, folder: str | Path) -> Path:
    """Compile the few lines that bring AEC3's linear output out of the library in aec-audio-processing."""
    found = importlib.util.find_spec("aec_audio_processing")
    if found is None or found.origin is None:
        raise MissingError("AEC3 is not installed: pip install aec-audio-processing==1.0.1")
    made = Path(folder).resolve() / "libaec3.so"
    library = made.with_name("libwebrtc-audio-processing-2.so.1")  # the name by which it is loaded
    headers = [f"-I{Path(source) / name}" for name in _INCLUDED]
    command = ["g++", "-std=c++20", "-O2", "-shared", "-fPIC", "-DNDEBUG", *_DEFINED, *headers]
    command += [str(Path(__file__).with_name("aec3.cpp")), str(library), f"-Wl,-rpath,{made.parent}", "-o", str(made)]
    try:
        shutil.copy(Path(found.origin).parent / "files" / library.stem, library)
        subprocess.run(command, check=True, capture_output=True, text=True)
    except OSError as problem:
        raise MissingError(f"AEC3's linear output takes its library, and g++: {problem}") from problem
    except subprocess.CalledProcessError as problem:
        said = problem.stderr.strip().splitlines()
        raise MissingError(
            f"AEC3's linear output can't be built; is {source} the unpacked source of aec-audio-processing 1.0.1 "
            f"(pip download --no-deps --no-binary :all:)? {said[0] if said else ''}"
        ) from problem
    return made


def aec3(far: Samples, microphone: Samples, library: str | Path) -> Left:
    """Run WebRTC's AEC3, its high-pass filter off.

    Notes
    -----
    The length of its filter is fixed: 13 blocks of 64 samples at 16 kHz, 52 ms.
    """
    try:
        run = ctypes.CDLL(str(library))
    except OSError as problem:
        raise MissingError(f"{library} can't be loaded: {problem}; build_aec3 makes it") from problem
    run.aec3_new.restype = ctypes.c_void_p
    run.aec3_free.argtypes = [ctypes.c_void_p]
    run.aec3_frame.argtypes = [ctypes.c_void_p] * 5
    wide = [resample_poly(samples, _WIDE, paper.RATE) for samples in (far, microphone)]
    size = -(-wide[0].size // _TEN) * _TEN
    played, heard = (np.pad(samples, (0, size - samples.size)).astype(np.float32) for samples in wide)
    linear, final = np.zeros(size, np.float32), np.zeros(size, np.float32)
    one = run.aec3_new()
    spent = 0.0
    for n in range(0, size, _TEN):
        places = [a[n:].ctypes.data for a in (played, heard, linear, final)]
        start = time.process_time()
        failed = run.aec3_frame(one, *places)
        spent += time.process_time() - start
        if failed:
            raise SignalError(f"AEC3 gave up at {n / _WIDE:.2f} s, step {failed}")
    run.aec3_free(one)
    back = [resample_poly(a.astype(float), paper.RATE, _WIDE)[: far.size] for a in (linear, final)]
    return Left(back[0], back[1], spent)
