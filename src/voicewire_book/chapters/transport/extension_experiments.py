"""Beyond the paper: CoAP, MQTT 5, TLS, several subscribers, queueing, loss. Recorded once, each as a few counts.

Explained in ``notebooks/transport/03_tcp_against_mqtt.ipynb``.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import json
import logging
import queue
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion

from voicewire.mqtt.config import Config
from voicewire.mqtt.serving.broker_thread import BrokerThread
from voicewire.testbed.capability import find_mosquitto
from voicewire.testbed.capture import Capture
from voicewire.testbed.hosts import Host
from voicewire.testbed.link import LinkSpec
from voicewire.testbed.mosquitto import Mosquitto
from voicewire.transport import paper
from voicewire.transport.experiment_grid import Cell
from voicewire.transport.linear_topology import Bed
from voicewire.transport.run_mqtt import ROLES, Session, broker, run_mqtt
from voicewire.transport.run_tcp import run_tcp
from voicewire_book.chapters.transport.extension_endpoints import client_context, server_context

__all__ = ["certificate", "coap_bytes", "queued", "record_extras", "tls_bytes", "under_loss"]

_SIZE, _LAST = 100, b"\xff"
_TLS_RUNS = 60  # each with a certificate and signatures of its own


def queued(messages: int, qos: int = 1, kept: bool = True) -> int:
    """Count how many of so many messages a subscriber gets that was away while they were published."""

    def client(name: str) -> paho.Client:
        return paho.Client(CallbackAPIVersion.VERSION2, client_id=name, clean_session=not kept or name != "away")

    with BrokerThread(Config(port=0)) as b:
        ready: queue.Queue[str] = queue.Queue()
        got: queue.Queue[bytes] = queue.Queue()
        away = client("away")
        away.on_subscribe = lambda *_: ready.put("subscribed")
        away.on_message = lambda _c, _d, message: got.put(bytes(message.payload))
        away.connect("127.0.0.1", b.port)
        away.loop_start()
        away.subscribe(paper.TOPIC, 2)
        ready.get(timeout=10)
        away.disconnect()
        away.loop_stop()
        publisher = client("publisher")
        publisher.connect("127.0.0.1", b.port)
        publisher.loop_start()
        for i in range(messages):
            publisher.publish(paper.TOPIC, bytes([i]), qos).wait_for_publish(10)
        publisher.publish(f"{paper.TOPIC}/fence", b"", 1).wait_for_publish(10)  # the broker has taken all before it
        away.connect("127.0.0.1", b.port)
        away.loop_start()
        if not kept:
            away.subscribe(paper.TOPIC, 2)
            ready.get(timeout=10)
        publisher.publish(paper.TOPIC, _LAST, max(qos, 1)).wait_for_publish(10)  # it ends the count
        try:
            return len(set(iter(lambda: got.get(timeout=10), _LAST)))
        finally:
            for one in (away, publisher):
                one.disconnect()
                one.loop_stop()


def under_loss(messages: int, loss: float, qos: int) -> dict[str, int]:
    """Count arrivals of messages over two lossy links, and segments that had to be sent again."""
    with (
        Bed(ROLES, LinkSpec(delay=0.002, loss=loss), seed=3) as bed,
        broker(bed, "embedded") as port,
        Session(bed, "subscriber", bed.route("subscriber", "broker", port)) as sub,
        Session(bed, "publisher", bed.route("publisher", "broker", port)) as pub,
    ):
        sub.connect().ready().subscribe(qos)
        pub.connect().ready()
        infos = [pub.client.publish(paper.TOPIC, i.to_bytes(2, "big"), qos) for i in range(messages)]
        for info in infos:
            info.wait_for_publish(60)
        arrived = [sub.next_message()[1] for _ in range(messages)]
        time.sleep(0.5)  # a copy would come now
        again = pub.finish().retransmitted + sub.finish().retransmitted
        assert len(set(arrived)) == messages
        return {"arrivals": len(arrived) + sub.messages.qsize(), "retransmitted": again}


def coap_bytes(size: int) -> dict[str, int]:
    """Count IP bytes, datagrams and exchanges of one confirmable CoAP PUT, on a host of its own."""
    from aiocoap import CHANGED, PUT, Context, Message, resource

    logging.getLogger("coap-server").setLevel(logging.ERROR)

    class Store(resource.Resource):
        async def render_put(self, request: Any) -> Any:
            assert len(request.payload) == size
            return Message(code=CHANGED)

    async def exchange() -> None:
        site = resource.Site()
        site.add_resource(["ict", "object"], Store())
        server = await Context.create_server_context(site, bind=("127.0.0.1", 5683), transports=["simplesocketserver"])
        client = await Context.create_client_context(transports=["simple6"])
        try:
            request = Message(code=PUT, uri="coap://127.0.0.1/ict/object", payload=bytes(size))
            response = await client.request(request).response
            assert response.code.is_successful()
        finally:
            await client.shutdown()
            await server.shutdown()

    with Host("coap") as host, host.inside(), Capture(None, "lo", background=False) as seen:
        asyncio.run(exchange())
        seen.drain()
        mine = [p for _, out, p in seen.packets if out and p[9] == socket.IPPROTO_UDP]
    return {
        "ip_bytes": sum(len(p) for p in mine),
        "datagrams": len(mine),
        "exchanges": sum(int.from_bytes(p[22:24], "big") == 5683 for p in mine),
    }


@contextlib.contextmanager
def certificate() -> Iterator[tuple[Path, Path]]:
    """Make a self-signed certificate and its key as files, for the time of the block."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "broker")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=2))
        .sign(key, hashes.SHA256())
    )
    with tempfile.TemporaryDirectory(prefix="voicewire-") as folder:
        files = Path(folder) / "broker.crt", Path(folder) / "broker.key"
        files[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
        files[1].write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        yield files


def tls_bytes(size: int) -> dict[str, int]:
    """Count TCP payload bytes of both directions for one message over TLS 1.3.

    Notes
    -----
    The number differs by a few bytes from run to run: the certificate's signature and that of CertificateVerify are
    pairs of integers in DER, each of which takes a byte more where its first bit is set, and one less in 256.
    """
    from voicewire.testbed import counters

    with certificate() as files:
        server_side, client_side = server_context(files), client_context(files)
        with socket.create_server(("127.0.0.1", 0)) as server:

            def serve() -> None:
                peer, _ = server.accept()
                with server_side.wrap_socket(peer, server_side=True) as secure:
                    while secure.recv(1 << 16):
                        pass

            thread = threading.Thread(target=serve)
            thread.start()
            plain = socket.create_connection(server.getsockname())
            with client_side.wrap_socket(plain) as secure:
                secure.sendall(bytes(size))
                secure.shutdown(socket.SHUT_WR)
                thread.join(timeout=10)
                info = counters.read(secure, passive=False)
            tcp = info.payload_out + info.payload_in
        bed = Bed(("publisher", "subscriber"), LinkSpec(), "proxy")
        config = Config(port=0, tls_cert=files[0], tls_key=files[1])
        with (
            bed,
            BrokerThread(config) as b,
            Session(bed, "publisher", ("127.0.0.1", b.port), tls=client_side) as pub,
        ):
            pub.connect().ready()
            pub.client.publish(paper.TOPIC, bytes(size), 1).wait_for_publish(10)
            info = pub.read()
        return {"tcp": tcp, "mqtt": info.payload_out + info.payload_in}


def _tls_ranges(size: int) -> dict[str, list[int]]:
    """Least and largest of `tls_bytes`, over many certificates."""
    runs = [tls_bytes(size) for _ in range(_TLS_RUNS)]
    return {name: [min(run[name] for run in runs), max(run[name] for run in runs)] for name in runs[0]}


def _version_bytes(version: int) -> int:
    """TCP payload bytes of a publisher's session with one QoS 1 message, MQTT 3.1.1 or 5 (mosquitto)."""
    from voicewire.testbed.mosquitto import free_port

    port = free_port()
    bed = Bed(("publisher", "subscriber"), LinkSpec(), "proxy")
    with bed, Mosquitto(port=port), Session(bed, "publisher", ("127.0.0.1", port), version=version) as pub:
        pub.connect().ready()
        pub.client.publish(paper.TOPIC, bytes(_SIZE), 1).wait_for_publish(10)
        info = pub.finish()
        return info.payload_out + info.payload_in


def _plain(transport: str, session: str) -> dict[str, int]:
    cell = Cell("lan", transport, 1 if transport == "mqtt" else 0, session, "bytes", _SIZE, iterations=3)
    if transport == "tcp":
        with Bed(("sender", "receiver"), paper.LAN) as bed:
            row = run_tcp(bed, cell)[-1]
        end = "sender"
    else:
        with Bed(ROLES, paper.LAN) as bed:
            row = run_mqtt(bed, cell)[-1]
        end = "publisher"
    segments = row[f"{end}_segments"]
    return {
        "payload": row[f"{end}_payload"],
        "ip_bytes": row[f"{end}_payload"] + row[f"{end}_header"] + 20 * segments,
    }


def record_extras(folder: Path) -> dict[str, Any]:
    """Measure everything of this module and write ``extras.json``."""
    result: dict[str, Any] = {
        "size": _SIZE,
        "coap": {str(n): coap_bytes(n) for n in (_SIZE, 1024, 1025, 4096, 10_000, *paper.PAYLOADS_TEXT[2:])},
        "tcp": {session: _plain("tcp", session) for session in ("fresh", "persistent")},
        "mqtt": {session: _plain("mqtt", session) for session in ("fresh", "persistent")},
        "tls": _tls_ranges(_SIZE),
        **{f"qos{qos}": under_loss(150, 0.05, qos) for qos in (0, 2)},
    }
    if find_mosquitto():
        result["versions"] = {"3.1.1": _version_bytes(4), "5": _version_bytes(5)}
    (folder / "extras.json").write_text(json.dumps(result, indent=1) + "\n")
    return result
