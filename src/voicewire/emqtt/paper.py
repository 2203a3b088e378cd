"""What the paper fixes and what it prints, each number once, with its place.

Im, Y.; Lim, M. E-MQTT: End-to-End Synchronous and Asynchronous Communication Mechanisms in MQTT Protocol.
Applied Sciences 2023, 13, 12419.
"""

from __future__ import annotations

__all__ = [
    "ASYNCHRONOUS",
    "BATTERY",
    "BROKER_SUBSCRIBER",
    "COMPLETION",
    "EMQTT_BYTES",
    "END_TO_END",
    "ENERGY_MESSAGES",
    "MESSAGES",
    "MQTT",
    "MQTT_BYTES",
    "PAYLOAD",
    "SUBSCRIBERS",
    "SYNCHRONOUS",
    "TESTS",
    "TOPIC",
]

TOPIC = "T"
"""One byte of topic (Section 5.1)."""
PAYLOAD = b"123456"
"""Six bytes of payload (Section 5.1)."""
SUBSCRIBERS = (10, 20, 30, 40, 50, 60, 70, 80)
"""Numbers of subscribers in Figures 14 to 16 (Section 5.1)."""
TESTS = 60
"""Tests behind each average (Section 5.1)."""
ENERGY_MESSAGES = 1200
"""One PUBLISH a second in the battery experiment (Section 5.1)."""

BATTERY = {"E-MQTT": 2, "MQTT": 3}
"""Points that the battery falls with more than 60 subscribers, read in whole per cents (Section 5.6)."""

MQTT, ASYNCHRONOUS, SYNCHRONOUS = "MQTT", "asynchronous", "synchronous"

END_TO_END = {MQTT: 9.13, ASYNCHRONOUS: 6.84, SYNCHRONOUS: 8.49}
"""Average end-to-end delay in ms (Section 5.2, Figure 14)."""
COMPLETION = {MQTT: 6.87, ASYNCHRONOUS: 7.53, SYNCHRONOUS: 8.20}
"""Average publish-completion delay in ms (Section 5.3, Figure 15)."""
BROKER_SUBSCRIBER = {MQTT: 1.72, ASYNCHRONOUS: 1.48, SYNCHRONOUS: 0.85}
"""Average broker-subscriber delay in ms (Section 5.4, Figure 16)."""

MQTT_BYTES = 12
"""PUBLISH of MQTT in Table 3."""
EMQTT_BYTES = {0: 14, 1: 16, 2: 18, 3: 20, 4: 22, 5: 24, 10: 34, 20: 54, 40: 94, 80: 174}
"""PUBLISH of E-MQTT in Table 3, by the number of subscriber ids."""
MESSAGES = {MQTT: 18, "E-MQTT": 9}
"""Messages for one query to one subscriber (Section 3.1, Figures 1 and 3)."""
