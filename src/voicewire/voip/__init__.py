"""Voice over UDP, TCP and the TFRC family: the part `voip` of the book (a thesis of 2006 on DCCP).

`paper` holds the printed parameters, `emodel` and `playout` the quality, `conversation` what is said, `transports`
the variants, `calls` the calls, `dccp` the protocol itself, `listening` what can be heard, `opus`, `g729`,
`distortion_measures` and `redundant_frames` codecs over the same losses, `ns3` a second simulator to be held against.
"""

from voicewire._kit.lazy import lazily

__all__ = [
    "CODECS", "TRANSPORTS", "Arrivals", "Call", "Capture", "Codec", "Drift", "Fixed", "Heard", "Ns3Call", "Playout",
    "Received", "Scored", "Stream", "Talk", "VoipError", "activity", "as_trace", "best_fixed", "best_r", "bound",
    "burst_ratio", "call", "call_quality", "chernov_delay", "clock_drift", "clock_of", "codec", "coded",
    "delay_impairment", "delays_ms", "draw_parting", "draw_received", "effective_impairment", "estimated_rate",
    "fixed", "from_activity", "g729_coded", "has_copy", "heard", "in_order", "log_spectral_distance",
    "loss_impairment", "losses", "missing_with_copies", "moon", "mos", "ns3_call", "opus_decoded", "opus_encoded",
    "per_talkspurt", "percentile_delays", "pesq_score", "planned", "quality", "r_factor", "ramjee", "read_arrivals",
    "read_capture", "read_wav", "score", "score_capture", "second_chance", "segmental_snr", "speech", "talk",
    "transmit", "transport", "udp_closed_form", "without_drift", "write_times",
]  # fmt: skip

__getattr__, __dir__ = lazily(__name__)
