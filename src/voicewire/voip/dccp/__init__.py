"""DCCP as far as a student needs it: packets as bytes, the state machines as data, the packet ring.

`header` encodes and decodes (RFC 4340 section 5), `state_machine` walks a client and a server through a connection
(section 8), `features` negotiates (section 6), `sequence_numbers` checks numbers (section 7.5), `init_cookie` keeps
no state of a Request (section 8.1.4), `nonce` finds a receiver that lies (section 12.2), `data_dropped_option` tells
what became of the data (section 11.7), `packet_ring` is the shared ring with late choice of the thesis' section
2.3.2, `importance` its section 3.5.
"""

from voicewire._kit.lazy import lazily

__all__ = [
    "Candidate", "Feature", "FeatureError", "Listener", "Negotiator", "Numbers", "Opened", "Packet",
    "PacketRing", "Step", "Transition", "Type", "ack_vector", "agree", "bake", "best_set", "checksum",
    "data_dropped", "decode", "encode", "exchange", "found_after", "frame_importance", "honest", "late_choice",
    "lengthen", "opened", "read_ack_vector", "read_data_dropped", "report", "resynchronise", "settle", "walk",
    "windows",
]  # fmt: skip

__getattr__, __dir__ = lazily(__name__)
