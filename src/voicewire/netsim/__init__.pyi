from voicewire.netsim.equation import average_interval, loss_rate, small_packet_rate
from voicewire.netsim.equation import rate as tcp_rate
from voicewire.netsim.errors import NetsimError
from voicewire.netsim.flow_table import SharedLink, simulate_table
from voicewire.netsim.links import Bottleneck, Path, Red
from voicewire.netsim.senders import Ccid2, Tcp, Tfrc, Udp, initial_window
from voicewire.netsim.simulation import Flow, FlowResult, Result, bulk, simulate

__all__ = [
    "Bottleneck", "Ccid2", "Flow", "FlowResult", "NetsimError", "Path", "Red", "Result", "SharedLink", "Tcp", "Tfrc",
    "Udp", "average_interval", "bulk", "initial_window", "loss_rate", "simulate", "simulate_table",
    "small_packet_rate", "tcp_rate",
]  # fmt: skip
