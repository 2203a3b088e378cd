"""TCP against MQTT on the wire, with cipher objects as payload: the study behind ``notebooks/transport``."""

from voicewire._kit.lazy import lazily

__all__ = [
    "AccountError", "Bed", "Cell", "Cost", "ExpiredError", "IctoError", "Identity", "MalformedError",
    "NotAuthenticError", "NotPermittedError", "Opening", "Option", "Packet", "Part", "Participant", "Payload",
    "PublicIdentity", "Rule", "Sealed", "TooEarlyError", "UnknownVersionError", "advise", "assemble", "assume",
    "decode_object", "delivery_time", "encode_object", "flights", "full_grid", "grant", "inspect",
    "least_header_bytes", "load_iterations", "load_summary", "open_object", "open_on_account", "overhead",
    "packet_bytes", "packets", "read_sessions", "record", "round_trips", "run_cell", "seal", "sendings",
    "slow_start_rounds", "small_grid", "summarise", "verify", "witness",
]  # fmt: skip

__getattr__, __dir__ = lazily(__name__)
