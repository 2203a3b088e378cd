"""Real sockets on made-up networks: hosts, links, counters and captures that leave nothing behind.

======================  =============================================================
`hosts.Host`            a host: a network namespace held by a descriptor
`link.Link`             a link between two hosts (userspace TUN, netem, plain veth)
`tcp_proxy.DelayProxy`  the fallback without privileges
`counters`              what the kernel counted (``TCP_INFO``, ``sock_diag``)
`capture`               what the wire carried (``AF_PACKET``)
`capture_file`          what anybody captured, pcap or pcapng, read for every study
`reassembly`            TCP's bytes in order, the first copy of each
`mosquitto`             a broker as a child process
`capability`            what this machine can do
======================  =============================================================
"""

from voicewire._kit.lazy import lazily

__all__ = [
    "Capabilities", "Capture", "CaptureFile", "Counts", "DatagramProxy", "DelayProxy", "Host", "Link",
    "LinkSpec", "Mosquitto", "Packet", "RabbitMQ", "Repeats", "Segment", "TcpInfo", "TestbedError",
    "capabilities", "choose_bed", "connections", "flow_header_bytes", "may_make_namespaces", "netem_arguments",
    "offloads", "parse", "read_capture", "read_packets", "read_pcap", "read_tcp_info", "settled", "stream",
    "switch_off", "write_pcap",
]  # fmt: skip

__getattr__, __dir__ = lazily(__name__)
