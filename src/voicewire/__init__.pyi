from voicewire import echo, emqtt, mqtt, netsim, nfc, pharyngeal, stats, sweep, testbed, transport, voip
from voicewire.echo.recordings.cancellation import Cancelled, cancel_echo
from voicewire.mqtt.broker import Broker
from voicewire.mqtt.client import Client
from voicewire.netsim.flow_table import SharedLink
from voicewire.netsim.flow_table import simulate_table as simulate
from voicewire.nfc.session import run_session as session
from voicewire.pharyngeal.formant_tables import formants
from voicewire.testbed.capture_file import read_capture
from voicewire.voip.calls import call
from voicewire.voip.captures.capture_table import score_capture as score

__all__ = [
    "Broker", "Cancelled", "Client", "SharedLink", "call", "cancel_echo", "echo", "emqtt", "formants", "mqtt", "netsim",
    "nfc", "pharyngeal", "read_capture", "score", "session", "simulate", "stats", "sweep", "testbed", "transport",
    "voip",
]  # fmt: skip

__version__: str
