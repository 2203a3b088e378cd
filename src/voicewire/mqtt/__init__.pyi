from voicewire.mqtt.broker import Broker
from voicewire.mqtt.client import BlockingClient, Client
from voicewire.mqtt.client_delivery import Delivery
from voicewire.mqtt.config import Access, Config, ConfigError, Limits
from voicewire.mqtt.config import load as load_config
from voicewire.mqtt.decoder import Decoder, decode
from voicewire.mqtt.errors import DisconnectedError, MalformedError, MQTTError, NotAcknowledgedError, RefusedError
from voicewire.mqtt.in_memory_broker import Line, MemoryBroker
from voicewire.mqtt.load_generator import attach, latency, paced, throughput
from voicewire.mqtt.packets import (
    Connack,
    Connect,
    Disconnect,
    Packet,
    Pingreq,
    Pingresp,
    Puback,
    Pubcomp,
    Publish,
    Pubrec,
    Pubrel,
    Suback,
    Subscribe,
    Unsuback,
    Unsubscribe,
    Will,
    encode,
    encode_length,
)
from voicewire.mqtt.raw_socket_client import UnexpectedError, Wire, connect, subscribed
from voicewire.mqtt.serving.broker_process import External, mosquitto, ours, running, start, stop
from voicewire.mqtt.serving.broker_thread import BrokerThread
from voicewire.mqtt.sessions.hold import Missing, Report, Status
from voicewire.mqtt.sessions.store import StoreError
from voicewire.mqtt.topics import SubscriptionTree, check_filter, check_name, matches

__all__ = [
    "Access", "BlockingClient", "Broker", "BrokerThread", "Client", "Config", "ConfigError", "Connack", "Connect",
    "Decoder", "Delivery", "Disconnect", "DisconnectedError", "External", "Limits", "Line", "MQTTError",
    "MalformedError", "MemoryBroker", "Missing", "NotAcknowledgedError", "Packet", "Pingreq", "Pingresp", "Puback",
    "Pubcomp", "Publish", "Pubrec", "Pubrel", "RefusedError", "Report", "Status", "StoreError", "Suback",
    "Subscribe", "SubscriptionTree", "UnexpectedError", "Unsuback", "Unsubscribe", "Will", "Wire", "attach",
    "check_filter", "check_name", "connect", "decode", "encode", "encode_length", "latency", "load_config",
    "matches", "mosquitto", "ours", "paced", "running", "start", "stop", "subscribed", "throughput",
]  # fmt: skip
