from voicewire import echo, emqtt, mqtt, netsim, nfc, pharyngeal, stats, sweep, testbed, transport, voip

__all__ = [
    "echo", "emqtt", "mqtt", "netsim", "nfc", "pharyngeal", "stats", "sweep", "testbed", "transport", "voip",
]  # fmt: skip

__version__: str
