"""Stereophonic acoustic echo cancellation: a low-complexity data-reuse RLS, judged claim by claim."""

from voicewire.echo import plain, reference
from voicewire.echo.dcd import WLDRRLSDCD
from voicewire.echo.gradient import WLAPA, WLNLMS, StereoNLMS
from voicewire.echo.model import Responses, complex_taps, responses
from voicewire.echo.rls import WLRLS, StereoRLS
from voicewire.echo.samples import SignalError, stereo

__all__ = [
    "WLAPA",
    "WLDRRLSDCD",
    "WLNLMS",
    "WLRLS",
    "Responses",
    "SignalError",
    "StereoNLMS",
    "StereoRLS",
    "complex_taps",
    "plain",
    "reference",
    "responses",
    "stereo",
]
