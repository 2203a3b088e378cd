"""TCP/IP through the slotted NFC channel of a cordless kitchen: chapter 7 of Kashyap et al. (2021).

`paper` holds what is printed, `session` and `engine` simulate a TCP session on the link, `latency_formulas` gives the
same numbers by formula, `channel` and `exchange` add bit errors and timers, `slot_sharing` covers the slot map and
the control share, `lwip` runs a real lwIP in virtual time.
"""

from voicewire._kit.lazy import lazily

__all__ = [
    "LWIP", "Channel", "Estimated", "Ethernet", "Exchange", "Fragment", "FragmentedSession", "Link", "Outcomes",
    "OutsideRegimeError", "ParameterError", "Parts", "Recovery", "Result", "Session", "ShortSession",
    "WitnessError", "WitnessRow", "byte_sum", "crc_a", "crc_b", "error_bits", "estimated", "fragments", "framed",
    "free_slots", "latency", "latency_map", "lwip_available", "passes", "power_share", "reassembled", "run_lwip",
    "run_session", "script", "seconds", "segment_sizes", "shared", "slots_of_datagram", "undetected", "unframed",
]  # fmt: skip

__getattr__, __dir__ = lazily(__name__)
