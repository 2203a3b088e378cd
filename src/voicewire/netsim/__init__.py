"""Simulated time for one flow or many: links, queues, losses, and senders from UDP to the sender of RFC 5348.

The rules are compiled, yet written as the RFCs have them, each with its section: `tfrc_sender`, `tfrc_receiver`,
`tcp`, `ccid2`, `compiled_link`; `engine` is the event loop, `flow_state` the memory. What a reader calls is here.
"""

from voicewire._kit.lazy import lazily

__all__ = [
    "Bottleneck", "Ccid2", "Flow", "FlowResult", "NetsimError", "Path", "Red", "Result", "SharedLink", "Tcp", "Tfrc",
    "Udp", "average_interval", "bulk", "initial_window", "loss_rate", "simulate", "simulate_table",
    "small_packet_rate", "tcp_rate",
]  # fmt: skip

__getattr__, __dir__ = lazily(__name__)
