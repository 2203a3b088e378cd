"""The transport study: the emulated link beside a plain veth pair, its accuracy, and sealing an object."""

import socket
import statistics
import threading
import time

import harness
import numpy as np
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from voicewire.testbed import Host, Link, LinkSpec
from voicewire.testbed.hosts import may_make_namespaces
from voicewire.transport.secure_objects.icto import Identity, Rule, open_object, seal

LINK_BAR = 500e6  # bit/s of TCP over the userspace link without delay
RTT_BAR = 0.5e-3  # s, of the median against what was asked
RATE_BAR = 0.03
SEAL_BAR = 5e-3  # s, for 1 kB


def throughput(engine: str, spec: LinkSpec, seconds: float) -> float:
    """Bits per second that a TCP receiver gets over a link, after half a second of start."""
    with Host("a") as a, Host("b") as b, Link(a, b, spec, engine) as link:
        with b.inside():
            server = socket.create_server((link.address_b, 5000))
        with a.inside():
            near = socket.create_connection((link.address_b, 5000))
        far, _ = server.accept()
        done = threading.Event()

        def send() -> None:
            block = bytes(1 << 18)
            while not done.is_set():
                near.sendall(block)
            near.close()

        thread = threading.Thread(target=send)
        thread.start()
        buffer = bytearray(1 << 18)
        begin = time.perf_counter()
        while time.perf_counter() - begin < 0.5:
            far.recv_into(buffer)
        got, begin = 0, time.perf_counter()
        while (took := time.perf_counter() - begin) < seconds:
            got += far.recv_into(buffer)
        done.set()
        while far.recv_into(buffer):
            pass
        thread.join()
        far.close()
        server.close()
    return 8 * got / took


def rtt_error(delay: float, n: int) -> float:
    """Distance between the median round trip of `n` datagrams and what was asked, s."""
    with Host("a") as a, Host("b") as b, Link(a, b, LinkSpec(delay=delay)) as link:
        with a.inside():
            near = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with b.inside():
            far = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        far.bind((link.address_b, 7))
        near.connect((link.address_b, 7))

        def echo() -> None:
            for _ in range(n):
                far.sendto(*far.recvfrom(100))

        thread = threading.Thread(target=echo)
        thread.start()
        times = []
        for _ in range(n):
            begin = time.perf_counter()
            near.send(b"x")
            near.recv(100)
            times.append(time.perf_counter() - begin)
        thread.join()
        near.close()
        far.close()
    return abs(statistics.median(times) - 2 * delay)


def rate_error(rate: float, seconds: float) -> float:
    """Relative distance between what a saturated line delivers and the rate that was asked."""
    with Host("a") as a, Host("b") as b, Link(a, b, LinkSpec(rate=rate, queue=4000)) as link:
        with a.inside():
            near = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with b.inside():
            far = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        far.bind((link.address_b, 7))  # nobody reads: what counts is what the line delivered
        near.connect((link.address_b, 7))
        packets = int(rate * (seconds + 1) / 8 / 1500)

        def flood() -> None:
            for i in range(packets):
                near.send(bytes(1472))
                if i > 2000:  # 2000 packets ahead of the line: it never runs dry, and its queue never overflows
                    time.sleep(max(0.0, begin + (i - 2000) * 12_000 / rate - time.perf_counter()))

        begin = time.perf_counter()
        thread = threading.Thread(target=flood)
        thread.start()
        time.sleep(0.2)
        first, start = link.counts(0).octets, time.perf_counter()
        time.sleep(seconds)
        octets, took = link.counts(0).octets - first, time.perf_counter() - start
        thread.join()
        near.close()
        far.close()
    return abs(8 * octets / took / rate - 1)


def benchmarks(run: harness.Run) -> None:
    """Measure everything; `run.quick` asks for small cases."""
    seconds, rounds = (0.3, 2) if run.quick else (2.0, 5)
    if may_make_namespaces() is None:
        throughput("tun", LinkSpec(), 0.1)  # compiles the loop
        ours = [throughput("tun", LinkSpec(), seconds) for _ in range(rounds)]
        veth = [throughput("veth", LinkSpec(), seconds) for _ in range(rounds)]
        run.record("TCP over the userspace link", statistics.median(ours), "bit/s", spread=harness.spread(ours),
                   at_least=LINK_BAR)  # fmt: skip
        run.record("TCP over plain veth, with its offloads", statistics.median(veth), "bit/s",
                   spread=harness.spread(veth))  # fmt: skip
        for delay in (0.001, 0.02):
            run.record(f"error of the median RTT, {2e3 * delay:g} ms asked", rtt_error(delay, 50 if run.quick else 300),
                       "s", at_most=RTT_BAR)  # fmt: skip
        for rate in (5e6, 50e6):
            run.record(f"error of a rate of {rate / 1e6:g} Mbit/s", rate_error(rate, seconds), "1", at_most=RATE_BAR)
    data = np.random.default_rng(1).bytes(1000)
    owner, reader = Identity.create("owner"), Identity.create("reader")
    sealed = seal({"p": data}, {"p": Rule(("reader",))}, [reader.public], owner)
    bare = AESGCM(bytes(32))
    run.compare(
        "seal 1 kB for one reader", lambda: seal({"p": data}, {"p": Rule(("reader",))}, [reader.public], owner),
        peer="AES-256-GCM alone", against=lambda: bare.encrypt(bytes(12), data, b""), at_most=SEAL_BAR,
    )  # fmt: skip
    run.compare("open it", lambda: open_object(sealed, reader, owner.public), at_most=SEAL_BAR)


if __name__ == "__main__":
    raise SystemExit(harness.main(benchmarks, __doc__, packages=["numpy", "numba", "cryptography"]))
