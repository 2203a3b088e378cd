"""MQTT 3.1.1 with QoS 3 (E-MQTT): packets, a broker, a client. Shared by the studies `emqtt` and `transport`."""

from voicewire._kit.lazy import lazily

__all__ = [
    "Access", "BlockingClient", "Broker", "BrokerThread", "Client", "Config", "ConfigError", "Connack", "Connect",
    "Decoder", "Delivery", "Disconnect", "DisconnectedError", "External", "Limits", "Line", "MQTTError",
    "MalformedError", "MemoryBroker", "Missing", "NotAcknowledgedError", "Packet", "Pingreq", "Pingresp", "Puback",
    "Pubcomp", "Publish", "Pubrec", "Pubrel", "RefusedError", "Report", "Status", "StoreError", "Suback",
    "Subscribe", "SubscriptionTree", "UnexpectedError", "Unsuback", "Unsubscribe", "Will", "Wire", "attach",
    "check_filter", "check_name", "connect", "decode", "encode", "encode_length", "latency", "load_config",
    "matches", "mosquitto", "ours", "paced", "running", "start", "stop", "subscribed", "throughput",
]  # fmt: skip

__getattr__, __dir__ = lazily(__name__)
