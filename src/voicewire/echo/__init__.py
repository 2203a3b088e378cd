"""Stereophonic acoustic echo cancellation: a low-complexity data-reuse RLS, judged claim by claim."""

from . import reference
from .dcd import WLDRRLSDCD
from .gradient import WLAPA, WLNLMS
from .model import Responses, complex_taps, responses
from .rls import WLRLS, StereoRLS
from .samples import SignalError, stereo

__all__ = [
    "WLAPA",
    "WLDRRLSDCD",
    "WLNLMS",
    "WLRLS",
    "Responses",
    "SignalError",
    "StereoRLS",
    "complex_taps",
    "reference",
    "responses",
    "stereo",
]
