"""Voice to Wire: the package behind an executable textbook of published studies.

Each study has a room, and so have the engines that several of them use (`netsim`, `mqtt`, `testbed`) and `sweep`; what
a room offers is its ``__all__``, loaded when it is first used. No study imports another. What people ask for first is
here too: `formants`, `cancel_echo`, `call`, `score`, `simulate`, `session`, `read_capture`, `Broker`, `Client`.
"""

from voicewire._kit.lazy import lazily

__all__ = [
    "Broker", "Cancelled", "Client", "SharedLink", "call", "cancel_echo", "echo", "emqtt", "formants", "mqtt", "netsim",
    "nfc", "pharyngeal", "read_capture", "score", "session", "simulate", "stats", "sweep", "testbed", "transport",
    "voip",
]  # fmt: skip

__version__ = "0.1.0"

__getattr__, __dir__ = lazily(__name__)
