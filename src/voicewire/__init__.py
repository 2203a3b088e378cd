"""Voice to Wire: the package behind an executable textbook of published studies.

Each study has a room, and so have the engines that several of them use (`netsim`, `mqtt`, `testbed`) and `sweep`; what
a room offers is its ``__all__``, loaded when it is first used. No study imports another.
"""

from voicewire._kit.lazy import lazily

__all__ = [
    "echo", "emqtt", "mqtt", "netsim", "nfc", "pharyngeal", "stats", "sweep", "testbed", "transport", "voip",
]  # fmt: skip

__version__ = "0.1.0"

__getattr__, __dir__ = lazily(__name__)
