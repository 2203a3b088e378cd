"""Simulated time for one flow or many: links, queues, losses, and senders from UDP to the sender of RFC 5348.

The rules are compiled, yet written as the RFCs have them, each with its section: `tfrc_sender`, `tfrc_receiver`,
`tcp`, `ccid2`, `wire`; `engine` is the event loop, `records` the memory. What a reader calls is here.
"""

from voicewire.netsim.errors import NetsimError
from voicewire.netsim.links import Bottleneck, Path, Red
from voicewire.netsim.senders import Ccid2, Tcp, Tfrc, Udp, initial_window
from voicewire.netsim.simulate import Flow, FlowResult, Result, bulk, simulate

__all__ = [
    "Bottleneck",
    "Ccid2",
    "Flow",
    "FlowResult",
    "NetsimError",
    "Path",
    "Red",
    "Result",
    "Tcp",
    "Tfrc",
    "Udp",
    "bulk",
    "initial_window",
    "simulate",
]
