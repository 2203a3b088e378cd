from voicewire.testbed.capability import Capabilities, capabilities, choose_bed
from voicewire.testbed.capture import (
    Capture,
    Repeats,
    Segment,
    flow_header_bytes,
    parse,
    read_packets,
    read_pcap,
    stream,
    write_pcap,
)
from voicewire.testbed.capture_file import CaptureFile, Packet, read_capture
from voicewire.testbed.counters import TcpInfo, connections, settled
from voicewire.testbed.counters import read as read_tcp_info
from voicewire.testbed.errors import TestbedError
from voicewire.testbed.hosts import Host, may_make_namespaces
from voicewire.testbed.link import Counts, Link, LinkSpec, netem_arguments
from voicewire.testbed.mosquitto import Mosquitto
from voicewire.testbed.offload import offloads, switch_off
from voicewire.testbed.rabbitmq import RabbitMQ
from voicewire.testbed.tcp_proxy import DelayProxy
from voicewire.testbed.udp_proxy import DatagramProxy

__all__ = [
    "Capabilities", "Capture", "CaptureFile", "Counts", "DatagramProxy", "DelayProxy", "Host", "Link",
    "LinkSpec", "Mosquitto", "Packet", "RabbitMQ", "Repeats", "Segment", "TcpInfo", "TestbedError",
    "capabilities", "choose_bed", "connections", "flow_header_bytes", "may_make_namespaces", "netem_arguments",
    "offloads", "parse", "read_capture", "read_packets", "read_pcap", "read_tcp_info", "settled", "stream",
    "switch_off", "write_pcap",
]  # fmt: skip
