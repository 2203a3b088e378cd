"""Without numba, or without the libraries of some chapters, the package imports and small cases run."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.landing

LIBRARIES = ["librosa", "parselmouth", "av", "soundfile", "webrtcvad", "aiocoap", "cryptography"]
COMPILERS = ["numba", "llvmlite"]
BLOCK = """
import importlib, pkgutil, sys, warnings
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {names!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Blocked())
"""


def run(code: str, *names: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BLOCK.format(names=names) + code],
        capture_output=True, text=True, check=False, timeout=300, env=os.environ | environment,
    )  # fmt: skip


NEEDED = {
    "voicewire.transport.reference": "cryptography",  # on its page the library is called by its own names
    "voicewire_book.chapters.transport.exercises.tcp_against_mqtt": "cryptography",  # labs stand on what is read there
    "voicewire_book.chapters.transport.exercises.which_transport": "cryptography",
}
IMPORT_ALL = """
import voicewire, voicewire_book
failed = []
found = [*pkgutil.walk_packages(voicewire.__path__, "voicewire.")]
for module in [*found, *pkgutil.walk_packages(voicewire_book.__path__, "voicewire_book.")]:
    if not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
        except ImportError as error:
            failed.append(f"{module.name}: {error}")
print("\\n".join(failed))
"""


def test_every_module_imports():
    names = COMPILERS + LIBRARIES
    done = run(IMPORT_ALL, *names)
    assert done.returncode == 0, done.stderr
    failed = dict(line.split(": ", 1) for line in done.stdout.splitlines() if line)
    assert set(failed) == {module for module, library in NEEDED.items() if library in names}, failed


def test_it_says_once_that_it_is_slow():
    done = run("import voicewire.echo, voicewire.pharyngeal.tube", *COMPILERS)
    assert done.returncode == 0 and done.stderr.count("SlowWarning") == 1
    assert "install numba" in done.stderr


def test_with_numba_nothing_is_said():
    assert run("import voicewire.echo, voicewire.pharyngeal.tube").stderr == ""


ECHO = """
import pickle, warnings
warnings.simplefilter("ignore")
import numpy as np
from voicewire.echo import WLAPA, WLDRRLSDCD, WLNLMS, WLRLS, StereoNLMS, StereoRLS
rng = np.random.default_rng(1)
x, d = rng.standard_normal((2, 60, 2)).view(complex)[..., 0]
x[30:45] = 0  # longer than the window
for make in (lambda: WLNLMS(4), lambda: WLAPA(4, 3), lambda: WLRLS(4, 0.9), lambda: StereoRLS(4, 0.9),
             lambda: WLDRRLSDCD(4, 0.9, 3), lambda: WLDRRLSDCD(4, 0.9, 2, dtype=np.float32),
             lambda: WLRLS(4, 0.99, symmetric=False), lambda: StereoNLMS(4), lambda: WLRLS(4, 0.9, data_reuse=3),
             lambda: StereoRLS(4, 0.9, data_reuse=3)):
    f = make()
    e = np.concatenate([f.process(x[:37], d[:37]), pickle.loads(pickle.dumps(f)).process(x[37:], d[37:])])
    f.process(x[37:], d[37:])
    g = make().restore(f.save()).taps
    print(" ".join(f"{z:.5e}" for z in (*e, *f.taps, *g)))
"""
PHARYNGEAL = """
import warnings
warnings.simplefilter("ignore")
import numpy as np
from voicewire.pharyngeal import tube
found = tube.resonances([1.0, 4.0, 2.0], [6.0, 7.0, 4.0])
print(" ".join(f"{f:.5e}" for f in (*found.frequencies, *found.bandwidths)))
print(" ".join(f"{g:.5e}" for g in tube.response([1.0, 4.0, 2.0], [6.0, 7.0, 4.0], np.arange(50.0, 4000.0, 250.0))))
"""


@pytest.mark.parametrize("code", [ECHO, PHARYNGEAL], ids=["echo", "pharyngeal"])
@pytest.mark.parametrize("how", ["no numba", "not compiling"])
def test_small_cases_give_the_same_numbers(code, how):
    compiled = run(code)
    plain = run(code, *COMPILERS) if how == "no numba" else run(code, NUMBA_DISABLE_JIT="1")
    assert compiled.returncode == 0 == plain.returncode, compiled.stderr + plain.stderr
    for here, there in zip(compiled.stdout.splitlines(), plain.stdout.splitlines(), strict=True):
        a, b = ([complex(word) for word in line.split()] for line in (here, there))
        assert len(a) > 3 and len(a) == len(b)
        # float32 differs: the plain filter computes in float64
        assert max(abs(u - v) for u, v in zip(a, b, strict=True)) < 2e-4 * max(map(abs, a))


def test_what_needs_a_compiler_says_so_when_it_is_called():
    code = """
import warnings; warnings.simplefilter("ignore")
from voicewire._kit._compiled import external
from voicewire.echo import _llvm_loops
for call in (external("recv", "int64", "int32"), _llvm_loops.output):
    try:
        call(1, 2)
    except RuntimeError as error:
        print(error)
"""
    done = run(code, *COMPILERS)
    assert done.stdout.count("install numba") == 2, done.stdout + done.stderr


def test_a_missing_library_is_named_where_it_is_needed():
    code = """
from voicewire.transport.secure_objects import icto
try:
    icto.Identity.create("me")
except ImportError as error:
    print(error)
"""
    done = run(code, "cryptography")
    said = "cryptography is not installed, and this needs it: pip install 'voicewire[transport]'"
    assert said in done.stdout, done.stdout + done.stderr


CALLS = {
    "parselmouth, by tube": ("parselmouth", "phonetics", "pharyngeal.tube import praat_tract", "praat_tract('a')"),
    "parselmouth, by formants": (
        "parselmouth", "phonetics", "pharyngeal import formants, audio_files",
        "formants.track(audio_files.Sound(np.ones(8000), 16000), 'praat', formants.Settings())",
    ),
    "parselmouth, by confidence": (
        "parselmouth", "phonetics", "pharyngeal import formant_table", "formant_table((np.ones(8000), 16000))",
    ),
    "parselmouth, by speech": ("parselmouth", "phonetics", "echo.scenes import speech", "speech.synthesise()"),
    "librosa": ("librosa", "phonetics", "pharyngeal import librosa_import", "librosa_import.librosa()"),
    "statsmodels": (
        "statsmodels", "phonetics", "pharyngeal.statistics import vowel_statistics",
        "vowel_statistics.mixed_model(pd.DataFrame({'speaker': [1], 'context': ['plain'], 'F1': [500.0]}), 'F1')",
    ),
    "skimage": (
        "skimage", "phonetics", "pharyngeal.films import xray_film",
        "xray_film.film(1, np.random.default_rng(1))",
    ),
    "av, by listening": ("av", "voip", "voip.codecs import listening", "listening.available()"),
    "av, by opus": ("av", "voip", "voip.codecs import opus", "opus.encoded(np.zeros(1600, np.int16))"),
    "webrtcvad": ("webrtcvad", "voip", "voip.codecs import listening", "listening.activity(np.zeros(1600, np.int16))"),
    "paho, by transport": ("paho", "transport", "transport import run_mqtt", ""),
    "paho, by emqtt": ("paho", "transport", "emqtt import agent", ""),
}  # fmt: skip


@pytest.mark.parametrize("call", list(CALLS))
def test_the_extra_of_a_missing_library_is_named(call):
    library, extra, home, what = CALLS[call]
    code = f"""
import numpy as np, pandas as pd
try:
    from voicewire.{home}
    {what}
except ImportError as error:
    print(error)
"""
    done = run(code, library)
    said = f"{library} is not installed, and this needs it: pip install 'voicewire[{extra}]'"
    assert said in done.stdout, done.stdout + done.stderr
