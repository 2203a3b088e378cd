"""What the paper gives, each with its place, and the assumptions that fill what it leaves out.

The paper: "Comparative Performance of TCP and MQTT" (ICDT 2023) and its slides.
"""

from __future__ import annotations

from voicewire.testbed.link import LinkSpec

__all__ = [
    "CONFIDENCE",
    "HEADER_FACTOR",
    "INTERNET",
    "ITERATIONS",
    "LAN",
    "LOOP",
    "MQTT_HEADER_RANGE",
    "NETWORKS",
    "PAYLOADS",
    "PAYLOADS_TEXT",
    "PORT",
    "SIZES",
    "TCP_HEADER_RANGE",
    "TCP_PORT",
    "TIME_FACTOR",
    "TLS_PORT",
    "TOPIC",
]

# -- what is printed -------------------------------------------------------------------------------------------------

#: Iterations of each configuration, at least (section III.B).
ITERATIONS = 150
#: Confidence of the intervals, Student's t (section IV).
CONFIDENCE = 0.95
#: Payloads as the slides' axis has them (slide 7), bytes.
PAYLOADS = (1, 10, 100, 500, 1000)
#: Payloads as the paper's text has them (section III.B): "1 byte, 10 bytes, 100 Kbytes, 500 Kbytes, 1000 Kbytes".
PAYLOADS_TEXT = (1, 10, 100_000, 500_000, 1_000_000)
#: Range of the axis on which TCP's cumulative header size lies (slide 7, lower panel), bytes.
TCP_HEADER_RANGE = (300, 370)
#: Range of the axis on which MQTT's lies (slide 7, upper panel), bytes.
MQTT_HEADER_RANGE = (3000, 7000)
#: "by a factor of 2 or more" (section IV.A and B, slides 8 and 10).
TIME_FACTOR = 2.0
#: "at least one order of magnitude" (section IV.A, slide 7).
HEADER_FACTOR = 10.0

# -- assumptions, because the paper says nothing ---------------------------------------------------------------------

#: Every payload that is measured here: both readings of the paper's list, and 10 kB between them.
SIZES = (1, 10, 100, 500, 1000, 10_000, 100_000, 500_000, 1_000_000)
#: The private network: two laptops on one wireless access point.
LAN = LinkSpec(delay=0.001, jitter=0.0002, rate=200e6)
#: The public network: a path across a country, with some loss.
INTERNET = LinkSpec(delay=0.020, jitter=0.001, rate=50e6, loss=0.001)
NETWORKS = {"lan": LAN, "internet": INTERNET}
#: Messages of a loop: 150 publishes of 32 header bytes are the only reading near the printed range.
LOOP = 150
#: One topic for all; its length counts in every PUBLISH.
TOPIC = "ict/object"
PORT = 1883
#: The port registered for MQTT over TLS.
TLS_PORT = 8883
TCP_PORT = 5000
