"""Real sockets on made-up networks: hosts, links, counters and captures that leave nothing behind.

==================  =========================================================================
`hosts.Host`        a host: a network namespace held by a descriptor
`link.Link`         a link between two hosts (userspace TUN, netem, plain veth)
`proxy.DelayProxy`  the fallback without privileges
`counters`          what the kernel counted (``TCP_INFO``, ``sock_diag``)
`capture`           what the wire carried (``AF_PACKET``)
`mosquitto`         a broker as a child process
`capability`        what this machine can do
==================  =========================================================================
"""

from voicewire.testbed.capability import Capabilities, capabilities
from voicewire.testbed.capture import Capture, Segment
from voicewire.testbed.counters import TcpInfo
from voicewire.testbed.errors import TestbedError
from voicewire.testbed.hosts import Host
from voicewire.testbed.link import Link, LinkSpec
from voicewire.testbed.mosquitto import Mosquitto
from voicewire.testbed.proxy import DelayProxy

__all__ = [
    "Capabilities", "Capture", "DelayProxy", "Host", "Link", "LinkSpec", "Mosquitto", "Segment", "TcpInfo",
    "TestbedError", "capabilities",
]  # fmt: skip
