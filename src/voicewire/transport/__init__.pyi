from voicewire.transport.experiment_grid import Cell, full_grid, small_grid
from voicewire.transport.external_captures import read as read_sessions
from voicewire.transport.external_captures import sendings
from voicewire.transport.linear_topology import Bed
from voicewire.transport.measurement_runs import assemble, load_iterations, load_summary, record, run_cell, summarise
from voicewire.transport.mqtt_dissector import Packet, packets
from voicewire.transport.overhead_formulas import (
    Cost,
    Option,
    advise,
    delivery_time,
    flights,
    least_header_bytes,
    packet_bytes,
    round_trips,
    slow_start_rounds,
)
from voicewire.transport.payloads import Payload
from voicewire.transport.secure_objects.icto import (
    ExpiredError,
    Identity,
    NotAuthenticError,
    NotPermittedError,
    PublicIdentity,
    Rule,
    TooEarlyError,
    inspect,
    open_object,
    seal,
)
from voicewire.transport.secure_objects.icto_access_log import AccountError, Opening, open_on_account, verify, witness
from voicewire.transport.secure_objects.icto_format import (
    IctoError,
    MalformedError,
    Part,
    Participant,
    Sealed,
    UnknownVersionError,
    overhead,
)
from voicewire.transport.secure_objects.icto_format import decode as decode_object
from voicewire.transport.secure_objects.icto_format import encode as encode_object
from voicewire.transport.secure_objects.icto_roles import assume, grant

__all__ = [
    "AccountError", "Bed", "Cell", "Cost", "ExpiredError", "IctoError", "Identity", "MalformedError",
    "NotAuthenticError", "NotPermittedError", "Opening", "Option", "Packet", "Part", "Participant", "Payload",
    "PublicIdentity", "Rule", "Sealed", "TooEarlyError", "UnknownVersionError", "advise", "assemble", "assume",
    "decode_object", "delivery_time", "encode_object", "flights", "full_grid", "grant", "inspect",
    "least_header_bytes", "load_iterations", "load_summary", "open_object", "open_on_account", "overhead",
    "packet_bytes", "packets", "read_sessions", "record", "round_trips", "run_cell", "seal", "sendings",
    "slow_start_rounds", "small_grid", "summarise", "verify", "witness",
]  # fmt: skip
