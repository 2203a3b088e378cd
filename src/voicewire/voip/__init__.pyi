from voicewire.voip.calls import Call, call, delays_ms, udp_closed_form
from voicewire.voip.calls import quality as call_quality
from voicewire.voip.captures.capture_table import score_capture
from voicewire.voip.captures.clock_skew import Drift, clock_drift, without_drift
from voicewire.voip.captures.received import Arrivals, Received, Scored, in_order, read_arrivals, score
from voicewire.voip.captures.received_figures import parting as draw_parting
from voicewire.voip.captures.received_figures import received as draw_received
from voicewire.voip.captures.rtp import Capture, Stream, clock_of, read_capture
from voicewire.voip.codecs.distortion_measures import log_spectral_distance, segmental_snr
from voicewire.voip.codecs.g729 import coded as g729_coded
from voicewire.voip.codecs.listening import Heard, activity, coded, heard, read_wav, speech, transmit
from voicewire.voip.codecs.opus import decoded as opus_decoded
from voicewire.voip.codecs.opus import encoded as opus_encoded
from voicewire.voip.codecs.opus import has_copy
from voicewire.voip.codecs.pesq import score as pesq_score
from voicewire.voip.codecs.redundant_frames import missing_with_copies, second_chance
from voicewire.voip.conversation import Talk, from_activity, talk
from voicewire.voip.emodel import codec, delay_impairment, loss_impairment, mos, planned, quality, r_factor
from voicewire.voip.errors import VoipError
from voicewire.voip.loss_bursts import Fixed, best_fixed, burst_ratio, effective_impairment, losses
from voicewire.voip.ns3 import Call as Ns3Call
from voicewire.voip.ns3 import call as ns3_call
from voicewire.voip.paper import CODECS, Codec
from voicewire.voip.playout import Playout, as_trace, best_r, bound, fixed, per_talkspurt
from voicewire.voip.playout_rules.adaptive_playout import moon, ramjee
from voicewire.voip.playout_rules.chernoff_bound import chernov_delay
from voicewire.voip.playout_rules.percentile_playout import percentile_delays
from voicewire.voip.send_buffer import estimated_rate, write_times
from voicewire.voip.transports import NAMES as TRANSPORTS
from voicewire.voip.transports import transport

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
