"""E-MQTT (Im and Lim 2023): a publisher learns when its message has arrived. Messages, bytes and delays, measured."""

from voicewire._kit.lazy import lazily

__all__ = [
    "Agent", "Answerer", "Asker", "Coloured", "Field", "Step", "Trace", "answer", "confirmed_by_emqtt",
    "confirmed_by_mqtt", "dissect", "dissect_capture", "messages", "one_message", "publish_size", "received", "sent",
    "with_subscriptions", "without_count",
]  # fmt: skip

__getattr__, __dir__ = lazily(__name__)
