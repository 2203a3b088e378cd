"""Stereophonic acoustic echo cancellation: a low-complexity data-reuse RLS, judged claim by claim."""

from voicewire._kit.lazy import lazily

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

__getattr__, __dir__ = lazily(__name__)
