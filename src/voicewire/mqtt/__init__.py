"""MQTT 3.1.1 with QoS 3 (E-MQTT): packets, a broker, a client. Shared by the studies `emqtt` and `transport`."""

from voicewire.mqtt.broker import Broker
from voicewire.mqtt.config import Access, Config, ConfigError, Limits
from voicewire.mqtt.decode import Decoder, decode
from voicewire.mqtt.errors import DisconnectedError, MalformedError, MQTTError, NotAcknowledgedError, RefusedError
from voicewire.mqtt.packets import encode
from voicewire.mqtt.thread import BrokerThread

__all__ = [
    "Access",
    "Broker",
    "BrokerThread",
    "Config",
    "ConfigError",
    "Decoder",
    "DisconnectedError",
    "Limits",
    "MQTTError",
    "MalformedError",
    "NotAcknowledgedError",
    "RefusedError",
    "decode",
    "encode",
]
