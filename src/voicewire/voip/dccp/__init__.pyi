from voicewire.voip.dccp.data_dropped_option import data_dropped, read_data_dropped
from voicewire.voip.dccp.features import Feature, FeatureError, Negotiator, agree, settle
from voicewire.voip.dccp.header import Packet, Type, ack_vector, checksum, decode, encode, read_ack_vector
from voicewire.voip.dccp.importance import Candidate, best_set, frame_importance
from voicewire.voip.dccp.init_cookie import Listener, Opened, bake, opened
from voicewire.voip.dccp.late import late_choice
from voicewire.voip.dccp.nonce import found_after, honest, report
from voicewire.voip.dccp.packet_ring import PacketRing
from voicewire.voip.dccp.sequence_numbers import Numbers, lengthen, resynchronise, windows
from voicewire.voip.dccp.state_machine import Step, Transition, exchange, walk

__all__ = [
    "Candidate", "Feature", "FeatureError", "Listener", "Negotiator", "Numbers", "Opened", "Packet",
    "PacketRing", "Step", "Transition", "Type", "ack_vector", "agree", "bake", "best_set", "checksum",
    "data_dropped", "decode", "encode", "exchange", "found_after", "frame_importance", "honest", "late_choice",
    "lengthen", "opened", "read_ack_vector", "read_data_dropped", "report", "resynchronise", "settle", "walk",
    "windows",
]  # fmt: skip
