from voicewire.nfc.beyond.ethernet import Ethernet
from voicewire.nfc.beyond.framing import byte_sum, crc_a, crc_b, framed, undetected, unframed
from voicewire.nfc.beyond.lwip import Row as WitnessRow
from voicewire.nfc.beyond.lwip import WitnessError
from voicewire.nfc.beyond.lwip import available as lwip_available
from voicewire.nfc.beyond.lwip import run as run_lwip
from voicewire.nfc.channel import Channel, error_bits
from voicewire.nfc.control_slots import free_slots, passes, script, seconds
from voicewire.nfc.errors import ParameterError
from voicewire.nfc.exchange import Exchange, Outcomes
from voicewire.nfc.fragmentation import FragmentedSession, fragments, reassembled, slots_of_datagram
from voicewire.nfc.latency_formulas import OutsideRegimeError, Parts, latency
from voicewire.nfc.link import Link, segment_sizes
from voicewire.nfc.reference.fragments import Fragment
from voicewire.nfc.session import LWIP, Recovery, Result, Session, run_session
from voicewire.nfc.slot_sharing import ShortSession, latency_map, power_share, shared
from voicewire.nfc.tcp.rto_estimator import Estimated, estimated

__all__ = [
    "LWIP", "Channel", "Estimated", "Ethernet", "Exchange", "Fragment", "FragmentedSession", "Link", "Outcomes",
    "OutsideRegimeError", "ParameterError", "Parts", "Recovery", "Result", "Session", "ShortSession",
    "WitnessError", "WitnessRow", "byte_sum", "crc_a", "crc_b", "error_bits", "estimated", "fragments", "framed",
    "free_slots", "latency", "latency_map", "lwip_available", "passes", "power_share", "reassembled", "run_lwip",
    "run_session", "script", "seconds", "segment_sizes", "shared", "slots_of_datagram", "undetected", "unframed",
]  # fmt: skip
