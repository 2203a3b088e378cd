"""The simulator to read: one flow over one path, in plain Python, equal to the compiled engine to the nanosecond.

`path` carries packets and says whose turn it is; `tfrc_sender` and `tfrc_receiver` (with `equation`), `tcp_sender` and
`tcp_receiver` hold the two ends. Chapter 1 of the voice part and *TCP in one chapter* are woven from them;
tests/netsim/test_reference.py holds them against `simulate`.
"""

from voicewire.netsim.reference.equation import inverse_equation, mean_interval, tcp_rate
from voicewire.netsim.reference.path import Packet, Way, carry, seeds
from voicewire.netsim.reference.tcp_receiver import TcpReceiver
from voicewire.netsim.reference.tcp_sender import TcpSender
from voicewire.netsim.reference.tfrc_receiver import LossHistory, TfrcReceiver
from voicewire.netsim.reference.tfrc_sender import TfrcSender, TfrcSender5348

__all__ = [
    "LossHistory",
    "Packet",
    "TcpReceiver",
    "TcpSender",
    "TfrcReceiver",
    "TfrcSender",
    "TfrcSender5348",
    "Way",
    "carry",
    "inverse_equation",
    "mean_interval",
    "seeds",
    "tcp_rate",
]
