from voicewire.echo import dcd_uncompiled, reference
from voicewire.echo.adaptive_filter import AdaptiveFilter
from voicewire.echo.dcd import WLDRRLSDCD
from voicewire.echo.gradient import WLAPA, WLNLMS, StereoNLMS
from voicewire.echo.metrics import (
    Curve,
    Operations,
    dcd_operations,
    erle,
    expected_rise,
    expected_tracking,
    follow,
    misalignment,
    woodbury_operations,
)
from voicewire.echo.multichannel_filters import nlms_apart, nlms_together, reuse_together, rls_together
from voicewire.echo.nonuniqueness import foretold_floor, silent_directions, strengths
from voicewire.echo.nonuniqueness import rows as signal_rows
from voicewire.echo.operation_counts import count_operations
from voicewire.echo.recordings.cancellation import Cancelled, cancel, cancel_echo, read_stereo, write_stereo
from voicewire.echo.recordings.delay_estimation import Alignment, Break, Peak, alignment, phat
from voicewire.echo.recordings.input_validation import SignalError, stereo
from voicewire.echo.recordings.live import cancel_live
from voicewire.echo.recordings.report import Report, decibels
from voicewire.echo.recordings.stream import cancel_files
from voicewire.echo.rls import WLRLS, StereoRLS
from voicewire.echo.scenes.room_impulse_responses import decaying, image_source, room_response
from voicewire.echo.scenes.scene import Scene, Signals, changed, predistort
from voicewire.echo.scenes.speech import talk
from voicewire.echo.two_path_filter import Change, Guarded
from voicewire.echo.widely_linear import Responses, complex_taps, echo, responses

__all__ = [
    "WLAPA", "WLDRRLSDCD", "WLNLMS", "WLRLS", "AdaptiveFilter", "Alignment", "Break", "Cancelled", "Change", "Curve",
    "Guarded", "Operations", "Peak", "Report", "Responses", "Scene", "SignalError", "Signals", "StereoNLMS",
    "StereoRLS", "alignment", "cancel", "cancel_echo", "cancel_files", "cancel_live", "changed", "complex_taps",
    "count_operations", "dcd_operations", "dcd_uncompiled", "decaying", "decibels", "echo", "erle",
    "expected_rise", "expected_tracking", "follow", "foretold_floor", "image_source", "misalignment",
    "nlms_apart", "nlms_together", "phat", "predistort", "read_stereo", "reference", "responses",
    "reuse_together", "rls_together", "room_response", "signal_rows", "silent_directions", "stereo",
    "strengths", "talk", "woodbury_operations", "write_stereo",
]  # fmt: skip
