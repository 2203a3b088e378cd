"""End-to-end acknowledgement by MQTT 5's own means: an agent beside any broker that speaks it.

MQTT 5 tells a subscriber where to answer (response topic, correlation data), but leaves the counting to the
publisher. The agent counts in its place. A publisher asks it with a message to ``e2e/<n>/<topic>``; the agent passes
the payload on to `topic`, collects the answers of n different subscribers, and tells the publisher once, in JSON.
Publisher and subscribers may be any MQTT 5 clients. Explained in ``notebooks/emqtt/03_reproduction.ipynb``.
"""

from __future__ import annotations

import json
import logging
import queue
import threading
import time
import uuid
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from voicewire._kit._optional import needed

with needed():
    import paho.mqtt.client as paho
    from paho.mqtt.enums import CallbackAPIVersion
    from paho.mqtt.packettypes import PacketTypes
    from paho.mqtt.properties import Properties
    from paho.mqtt.subscribeoptions import SubscribeOptions

__all__ = ["PREFIX", "Agent", "Answerer", "Asker", "answer"]

PREFIX = "e2e"
CLIENT = "client"
"""Name of the user property by which an answer says who gives it: MQTT does not tell a receiver."""
MOST = 65_535
"""Largest answer, and longest name, that is taken, in bytes."""
CONNECT = 10.0
_log = logging.getLogger("voicewire.agent")


def properties(response_topic: str = "", correlation: bytes = b"", client: str = "") -> Properties:
    """Properties of a PUBLISH: where to answer, to which question, and who answers."""
    made = Properties(PacketTypes.PUBLISH)
    if response_topic:
        made.ResponseTopic = response_topic
    if correlation:
        made.CorrelationData = correlation
    if client:
        made.UserProperty = (CLIENT, client)
    return made


def answer(client: paho.Client, message: paho.MQTTMessage, name: str, data: bytes = b"", qos: int = 1) -> None:
    """Answer a message that asks for it, as the subscriber `name`.

    Parameters
    ----------
    client : paho.mqtt.client.Client
        The subscriber's.
    message : paho.mqtt.client.MQTTMessage
        The question.
    name : str
        Under which the answer counts.
    data : bytes
        What is answered.
    qos : {0, 1, 2}
        Of the answer.

    Raises
    ------
    ValueError
        If the message has no response topic.

    Examples
    --------
    >>> message = paho.MQTTMessage(topic=b"door")
    >>> answer(paho.Client(CallbackAPIVersion.VERSION2), message, "s1")
    Traceback (most recent call last):
        ...
    ValueError: nobody asked for an answer to this message on 'door': it has no response topic
    """
    asked: Any = message.properties
    topic = getattr(asked, "ResponseTopic", "")
    if not topic:
        raise ValueError(f"nobody asked for an answer to this message on {message.topic!r}: it has no response topic")
    client.publish(topic, data, qos, properties=properties("", getattr(asked, "CorrelationData", b""), name))


class _Client:
    """A paho client of MQTT 5 that is connected and subscribed, or says why not."""

    def __init__(self, name: str, host: str, port: int, *topics: str) -> None:
        ready: queue.Queue[str] = queue.Queue()
        self.client = paho.Client(CallbackAPIVersion.VERSION2, name, protocol=paho.MQTTv5)
        self.client.max_queued_messages_set(0)

        def connected(client: paho.Client, _data: object, _flags: object, reason: Any, _more: object) -> None:
            if reason.is_failure:
                ready.put(f"the broker refuses {name!r}: {reason}")
            else:
                client.subscribe([(topic, SubscribeOptions(qos=2)) for topic in topics])

        def subscribed(_client: object, _data: object, _mid: int, reasons: list[Any], _more: object) -> None:
            ready.put(next((f"the broker refuses the subscription: {r}" for r in reasons if r.is_failure), ""))

        self.client.on_connect = connected
        self.client.on_subscribe = subscribed
        self.client.on_message = lambda _client, _data, message: self.take(message)
        try:
            self.client.connect(host, port)
        except OSError as error:
            self.close()
            raise ConnectionError(f"cannot reach a broker at {host}:{port}: {error}") from None
        self.client.loop_start()
        try:
            problem = ready.get(timeout=CONNECT)
        except queue.Empty:
            problem = f"no answer from {host}:{port} in {CONNECT:g} s: does the broker there speak MQTT 5?"
        if problem:
            self.close()
            raise ConnectionError(problem)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def take(self, message: paho.MQTTMessage) -> None:
        """A message has come."""
        raise NotImplementedError

    def close(self) -> None:
        """Leave the broker."""
        self.client.disconnect()
        self.client.loop_stop()


@dataclass(slots=True)
class _Open:
    """A question that has not been answered often enough."""

    need: int
    reply: str
    correlation: bytes
    started: float
    answers: dict[str, tuple[int, str]] = field(default_factory=dict)


class Agent(_Client):
    """Counts the subscribers' answers in a publisher's place; a context manager.

    Parameters
    ----------
    host, port : str, int
        A broker that speaks MQTT 5.
    timeout : float
        Seconds after which a question is reported with the answers that have come.
    most : int
        Questions that may be open at once; more are refused.

    Raises
    ------
    ConnectionError
        If the broker cannot be reached, refuses, or does not answer.

    Examples
    --------
    With a broker that speaks MQTT 5 on this port:

    >>> with Agent("127.0.0.1", 1883):  # doctest: +SKIP
    ...     pass
    """

    def __init__(self, host: str, port: int, *, timeout: float = 5.0, most: int = 1000) -> None:
        if not timeout > 0 or most < 1:
            raise ValueError(f"a time limit above 0 and room for a question are needed, not {timeout} s and {most}")
        self.timeout, self.most = timeout, most
        name = f"{PREFIX}-agent-{uuid.uuid4().hex[:12]}"
        self.answers = f"{PREFIX}-answers/{name}"
        self._open: dict[bytes, _Open] = {}
        self._number = 0
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._watch = threading.Thread(target=self._expire, name="voicewire-agent", daemon=True)
        self._watch.start()
        super().__init__(name, host, port, f"{PREFIX}/+/#", self.answers)

    def close(self) -> None:
        """Count no longer, and leave the broker."""
        self._stop.set()
        self._watch.join()
        super().close()

    def take(self, message: paho.MQTTMessage) -> None:
        """Take a question or an answer that has come; the client's thread calls it.

        Parameters
        ----------
        message : paho.mqtt.client.MQTTMessage
            As the client got it.
        """
        found: Any = message.properties
        correlation = getattr(found, "CorrelationData", b"")
        if message.topic == self.answers:
            self._count(correlation, dict(getattr(found, "UserProperty", [])).get(CLIENT, ""), bytes(message.payload))
        else:
            self._ask(message.topic, bytes(message.payload), getattr(found, "ResponseTopic", ""), correlation)

    def _ask(self, topic: str, payload: bytes, reply: str, correlation: bytes) -> None:
        _, count, real = topic.split("/", 2)
        if not reply or "+" in reply or "#" in reply:
            _log.warning("a question on %r without a response topic that can be published to: nobody is told", topic)
            return
        question = _Open(0, reply, correlation, time.monotonic())
        with self._lock:
            if not (count.isascii() and count.isdecimal() and 0 < int(count[:6]) < 65536):
                problem = f"{count[:10]!r} is no number of subscribers from 1 to 65535"
            elif not real or real.startswith(("$", f"{PREFIX}/")):
                problem = f"{real[:40]!r} is no topic to ask on"
            elif len(self._open) >= self.most:
                problem = f"{self.most} questions are open already"
            else:
                problem = ""
                question.need = int(count)
                self._number += 1
                number = self._number.to_bytes(8, "big")
                self._open[number] = question
        if problem:
            self._tell(question, "refused", problem)
        else:
            self.client.publish(real, payload, 2, properties=properties(self.answers, number))

    def _count(self, number: bytes, client: str, data: bytes) -> None:
        if not client or len(client) > MOST or len(data) > MOST:
            _log.warning("an answer without the user property %r, or of more than %d bytes", CLIENT, MOST)
            return
        with self._lock:
            question = self._open.get(number)
            if question is None:
                return  # late, or to nothing that was asked
            if client not in question.answers:
                micros = int((time.monotonic() - question.started) * 1e6)
                question.answers[client] = micros, data.decode(errors="replace")
            if len(question.answers) < question.need:
                return
            del self._open[number]
        self._tell(question, "complete")

    def _expire(self) -> None:
        while not self._stop.wait(min(0.05, self.timeout / 4)):
            begun = time.monotonic() - self.timeout
            with self._lock:
                late = [number for number, question in self._open.items() if question.started < begun]
                over = [self._open.pop(number) for number in late]
            for question in over:
                self._tell(question, "timeout")

    def _tell(self, question: _Open, status: str, why: str = "") -> None:
        report: dict[str, Any] = {
            "status": status,
            "needed": question.need,
            "acknowledged": {name: micros for name, (micros, _) in question.answers.items()},
            "answers": {name: data for name, (_, data) in question.answers.items() if data},
        }
        if why:
            report["why"] = why
        self.client.publish(question.reply, json.dumps(report), 1, properties=properties("", question.correlation))


class Answerer(_Client):
    """A subscriber that answers every question at once; a context manager.

    Parameters
    ----------
    name : str
        Its client identifier, under which its answers count.
    host, port : str, int
        The broker.
    topic : str
        What it subscribes to.
    data : bytes
        What it answers.

    Raises
    ------
    ConnectionError
        If the broker cannot be reached, refuses, or does not answer.

    Examples
    --------
    With a broker that speaks MQTT 5 on this port:

    >>> with Answerer("s1", "127.0.0.1", 1883, "door"):  # doctest: +SKIP
    ...     pass
    """

    def __init__(self, name: str, host: str, port: int, topic: str, data: bytes = b"") -> None:
        self.name, self.data = name, data
        super().__init__(name, host, port, topic)

    def take(self, message: paho.MQTTMessage) -> None:
        """Take a message that has come; the client's thread calls it.

        Parameters
        ----------
        message : paho.mqtt.client.MQTTMessage
            As the client got it.
        """
        if getattr(message.properties, "ResponseTopic", ""):
            answer(self.client, message, self.name, self.data)


class Asker(_Client):
    """A publisher that asks the agent; a context manager.

    Parameters
    ----------
    name : str
        Its client identifier.
    host, port : str, int
        The broker that the agent is at.

    Raises
    ------
    ConnectionError
        If the broker cannot be reached, refuses, or does not answer.

    Examples
    --------
    With a broker that speaks MQTT 5 on this port:

    >>> with Asker("p", "127.0.0.1", 1883):  # doctest: +SKIP
    ...     pass
    """

    def __init__(self, name: str, host: str, port: int) -> None:
        self._reports: queue.Queue[tuple[bytes, bytes]] = queue.Queue()
        self._replies = f"{PREFIX}-reports/{name}"
        self._asked = 0
        super().__init__(name, host, port, self._replies)

    def take(self, message: paho.MQTTMessage) -> None:
        """Take a report that has come; the client's thread calls it.

        Parameters
        ----------
        message : paho.mqtt.client.MQTTMessage
            As the client got it.
        """
        found: Any = message.properties
        self._reports.put((getattr(found, "CorrelationData", b""), bytes(message.payload)))

    def ask(self, topic: str, payload: bytes, need: int, timeout: float = 10.0) -> dict[str, Any]:
        """Publish on `topic` and wait until `need` subscribers have acknowledged.

        Parameters
        ----------
        topic : str
            What the subscribers subscribe to.
        payload : bytes
            The question.
        need : int
            So many answers make it complete, 1 to 65535.
        timeout : float
            Seconds to wait for the agent's report.

        Returns
        -------
        dict
            ``status`` ("complete", "timeout", "refused"), ``needed``, ``acknowledged`` (client -> microseconds),
            ``answers`` (client -> text), and ``why`` if it was refused.

        Raises
        ------
        TimeoutError
            If no report comes: there is no agent at this broker.
        """
        self._asked += 1
        correlation = self._asked.to_bytes(4, "big")
        asked = properties(self._replies, correlation)
        self.client.publish(f"{PREFIX}/{need}/{topic}", payload, 2, properties=asked)
        deadline = time.monotonic() + timeout
        while True:
            try:
                found, report = self._reports.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise TimeoutError(f"no report in {timeout:g} s: is an agent at this broker?") from None
            if found == correlation:
                return dict(json.loads(report))
