from voicewire.emqtt.agent import Agent, Answerer, Asker, answer
from voicewire.emqtt.counting import messages, publish_size, received, sent, with_subscriptions, without_count
from voicewire.emqtt.dissection import Coloured, Field, dissect, dissect_capture
from voicewire.emqtt.trace import Step, Trace, confirmed_by_emqtt, confirmed_by_mqtt, one_message

__all__ = [
    "Agent", "Answerer", "Asker", "Coloured", "Field", "Step", "Trace", "answer", "confirmed_by_emqtt",
    "confirmed_by_mqtt", "dissect", "dissect_capture", "messages", "one_message", "publish_size", "received", "sent",
    "with_subscriptions", "without_count",
]  # fmt: skip
