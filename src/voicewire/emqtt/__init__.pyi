from voicewire.emqtt.agent import Agent, Answerer, Asker, answer
from voicewire.emqtt.broker_work import calls
from voicewire.emqtt.counting import messages, publish_size, received, sent, with_subscriptions, without_count
from voicewire.emqtt.dissection import Coloured, Field, dissect
from voicewire.emqtt.mqtt5 import count_packets, overhead
from voicewire.emqtt.one_page import exchange
from voicewire.emqtt.panel import Panel, play
from voicewire.emqtt.population import Population, Trial
from voicewire.emqtt.repeats import DropsRepeats
from voicewire.emqtt.trace import Step, Trace, confirmed_by_emqtt, confirmed_by_mqtt, one_message

__all__ = [
    "Agent", "Answerer", "Asker", "Coloured", "DropsRepeats", "Field", "Panel", "Population", "Step", "Trace",
    "Trial", "answer", "calls", "confirmed_by_emqtt", "confirmed_by_mqtt", "count_packets", "dissect",
    "exchange", "messages", "one_message", "overhead", "play", "publish_size", "received", "sent",
    "with_subscriptions", "without_count",
]  # fmt: skip
