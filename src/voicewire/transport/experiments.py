"""What the reproduction runs on the recorded rows: each function computes what one group of claims asks for.

Nothing is judged here: the verdicts are given in ``notebooks/transport/03_tcp_against_mqtt.ipynb``. The rows
themselves are measured by ``voicewire record transport``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from voicewire import paths
from voicewire.ledger.vocabulary import Plain
from voicewire.transport import paper, recording, theory
from voicewire.transport.analysis import Recorded, Samples

__all__ = [
    "delay_factors", "factor_shares", "growth", "header_ratios", "header_time_share", "icto_bytes", "median_factor",
    "mqtt_ranges", "pooled_times", "run",
]  # fmt: skip

_SMALL, _LARGE = paper.PAYLOADS[0], paper.PAYLOADS[-1]


def mqtt_ranges(r: Recorded) -> dict[str, float]:
    """Return the mean header bytes of the publisher's end on the private network, QoS 0, by reading.

    Parameters
    ----------
    r : Recorded
        The experiment's rows.

    Returns
    -------
    dict of str to float
        By reading.

    Notes
    -----
    Chapter ``notebooks/transport/03_tcp_against_mqtt``.

    Examples
    --------
    >>> r = Recorded(recording.load_iterations(paths.data("transport")))
    >>> mqtt_ranges(r)["fresh"]
    400.0
    """
    return {
        "fresh": float(r.header("lan", "mqtt", "fresh", _LARGE).mean()),
        "warm": float(r.header("lan", "mqtt", "persistent", _LARGE).mean()),
        "loop, 1 B": float(r.header("lan", "mqtt", "loop", 1).mean()),
        "loop, 1000 B": float(r.header("lan", "mqtt", "loop", 1000).mean()),
        "loop without merging": float(theory.HEADER * 2 * paper.LOOP),
    }


def header_ratios(r: Recorded, network: str, size: int = 100) -> dict[str, float]:
    """Return MQTT's header bytes over TCP's (means, QoS 0, sender's end), by reading.

    Parameters
    ----------
    r : Recorded
        The experiment's rows.
    network : str
        ``lan`` or ``internet``.
    size : int
        Payload, bytes.

    Returns
    -------
    dict of str to float
        By reading.

    Notes
    -----
    Chapter ``notebooks/transport/03_tcp_against_mqtt``.

    Examples
    --------
    >>> r = Recorded(recording.load_iterations(paths.data("transport")))
    >>> round(header_ratios(r, "lan")["fresh against fresh"], 2)
    1.47
    """

    def mean(transport: str, session: str) -> float:
        return float(r.header(network, transport, session, size).mean())

    return {
        "fresh against fresh": mean("mqtt", "fresh") / mean("tcp", "fresh"),
        "warm against warm": mean("mqtt", "persistent") / mean("tcp", "persistent"),
        "warm against fresh": mean("mqtt", "persistent") / mean("tcp", "fresh"),
        "loop against one fresh": mean("mqtt", "loop") / mean("tcp", "fresh"),
        "loop against loop": mean("mqtt", "loop") / mean("tcp", "loop"),
    }


def growth(r: Recorded, network: str, session: str, *, gap: float = 0.0) -> float:
    """Return the header bytes at 1000 bytes of payload over those at 1 byte (means, QoS 0, publisher's end).

    Parameters
    ----------
    r : Recorded
        The experiment's rows.
    network : str
        ``lan`` or ``internet``.
    session : str
        ``fresh``, ``persistent`` or ``loop``.
    gap : float
        Pause between the messages of a loop, round trips.

    Returns
    -------
    float

    Notes
    -----
    Chapter ``notebooks/transport/03_tcp_against_mqtt``.

    Examples
    --------
    >>> r = Recorded(recording.load_iterations(paths.data("transport")))
    >>> growth(r, "lan", "fresh")
    1.0
    """
    large = r.header(network, "mqtt", session, _LARGE, gap=gap)
    small = r.header(network, "mqtt", session, _SMALL, gap=gap)
    return float(large.mean() / small.mean())


def factor_shares(r: Recorded, network: str, resamples: int = 2000) -> dict[str, float]:
    """Share of the fresh configurations (QoS, payload, kind) in which MQTT takes at least twice TCP's median time.

    Counted on paper the factor is exactly 2 at QoS 0 and 1, so what is measured falls on either side by chance. Each
    factor therefore has its 95 % bootstrap interval, and two shares are given: of those whose interval lies at 2 or
    above, and of those whose interval reaches 2.

    Parameters
    ----------
    r : Recorded
        The experiment's rows.
    network : str
        ``lan`` or ``internet``.
    resamples : int
        Of the bootstrap.

    Returns
    -------
    dict of str to float
        ``beyond doubt`` and ``within the interval``, from 0 to 1.

    Notes
    -----
    Chapter ``notebooks/transport/03_tcp_against_mqtt``.

    Examples
    --------
    >>> r = Recorded(recording.load_iterations(paths.data("transport")))
    >>> found = factor_shares(r, "lan", 100)
    >>> found["beyond doubt"] <= found["within the interval"]
    True
    """
    rng = np.random.default_rng(1)

    def middles(x: Samples) -> Samples:
        return np.asarray(np.median(rng.choice(x, (resamples, x.size)), axis=1))

    low, high = [], []
    for size in paper.PAYLOADS:
        for kind in ("bytes", "file"):
            tcp = middles(r.time(network, "tcp", "fresh", size, kind=kind))
            for qos in (0, 1, 2):
                factor = middles(r.time(network, "mqtt", "fresh", size, qos=qos, kind=kind)) / tcp
                edges = np.quantile(factor, (0.025, 0.975))
                low.append(edges[0] >= paper.TIME_FACTOR)
                high.append(edges[1] >= paper.TIME_FACTOR)
    return {"beyond doubt": float(np.mean(low)), "within the interval": float(np.mean(high))}


def median_factor(r: Recorded) -> float:
    """Return the median factor of time over both networks, fresh and warm sessions, all payloads of the slides.

    Parameters
    ----------
    r : Recorded
        The experiment's rows.

    Returns
    -------
    float

    Notes
    -----
    Chapter ``notebooks/transport/03_tcp_against_mqtt``.

    Examples
    --------
    >>> r = Recorded(recording.load_iterations(paths.data("transport")))
    >>> round(median_factor(r), 2)
    2.01
    """
    return float(
        np.median([f for n in paper.NETWORKS for s in ("fresh", "persistent") for f in r.factors(n, s).factor])
    )


def delay_factors(r: Recorded, kinds: tuple[str, ...] = ("bytes", "file")) -> dict[str, float]:
    """Smallest over the qualities of service of the median factor of time, for each network and session.

    Parameters
    ----------
    r : Recorded
        The experiment's rows.
    kinds : tuple of str
        Payloads that count; the paper sends both byte sequences and files.

    Returns
    -------
    dict of str to float
        By network and session.

    Notes
    -----
    Chapter ``notebooks/transport/03_tcp_against_mqtt``.

    Examples
    --------
    >>> r = Recorded(recording.load_iterations(paths.data("transport")))
    >>> sorted(delay_factors(r))
    ['internet, fresh', 'internet, warm', 'lan, fresh', 'lan, warm']
    """

    def smallest(network: str, session: str) -> float:
        f = r.factors(network, session)
        return float(f[f.kind.isin(kinds)].groupby("qos").factor.median().min())

    return {
        f"{network}, {name}": smallest(network, session)
        for network in paper.NETWORKS
        for name, session in (("fresh", "fresh"), ("warm", "persistent"))
    }


def pooled_times(r: Recorded, network: str, transport: str) -> Samples:
    """Average the times of all fresh configurations with one transport, iteration by iteration.

    Parameters
    ----------
    r : Recorded
        The experiment's rows.
    network : str
        ``lan`` or ``internet``.
    transport : str
        ``tcp`` or ``mqtt``.

    Returns
    -------
    ndarray of float, shape (iterations,)
        ms.

    Notes
    -----
    Chapter ``notebooks/transport/03_tcp_against_mqtt``.

    Examples
    --------
    >>> r = Recorded(recording.load_iterations(paths.data("transport")))
    >>> bool(pooled_times(r, "lan", "tcp").mean() < pooled_times(r, "lan", "mqtt").mean())
    True
    """
    qualities = (0,) if transport == "tcp" else (0, 1, 2)
    return np.mean([r.time(network, transport, "fresh", s, qos=q) for q in qualities for s in paper.PAYLOADS], axis=0)


def header_time_share(r: Recorded, network: str, size: int = 100) -> float:
    """Return the share of a fresh MQTT message's extra time (QoS 0) that its extra headers take on the line.

    Parameters
    ----------
    r : Recorded
        The experiment's rows.
    network : str
        ``lan`` or ``internet``.
    size : int
        Payload, bytes.

    Returns
    -------
    float
        From 0 to 1.

    Notes
    -----
    Chapter ``notebooks/transport/03_tcp_against_mqtt``.

    Examples
    --------
    >>> r = Recorded(recording.load_iterations(paths.data("transport")))
    >>> round(header_time_share(r, "lan"), 3)
    0.012
    """
    mqtt = r.cell(network, "mqtt", "fresh", size)
    extra = (
        mqtt.publisher_header + mqtt.subscriber_header + 20 * (mqtt.publisher_segments + mqtt.subscriber_segments)
    ).mean() - 1.625 * r.header(network, "tcp", "fresh", size).mean()  # 52 bytes of headers for each 32 counted
    rate = paper.NETWORKS[network].rate or np.inf
    later = np.median(r.time(network, "mqtt", "fresh", size)) - np.median(r.time(network, "tcp", "fresh", size))
    return float(1e3 * 8 * extra / rate / later)


def icto_bytes(r: Recorded, network: str, size: int = 100) -> dict[str, Any]:
    """Return TCP headers and payload of both directions for one cipher object, on the sender's link, by transport.

    Parameters
    ----------
    r : Recorded
        The experiment's rows.
    network : str
        ``lan`` or ``internet``.
    size : int
        Payload, bytes.

    Returns
    -------
    dict of str to ndarray
        Bytes of each iteration, for ``TCP`` and ``MQTT``.

    Notes
    -----
    Chapter ``notebooks/transport/03_tcp_against_mqtt``.

    Examples
    --------
    >>> r = Recorded(recording.load_iterations(paths.data("transport")))
    >>> float(icto_bytes(r, "lan")["TCP"].mean())
    673.0
    """
    found = {}
    for name, transport, end, qos in (("TCP", "tcp", "sender", 0), ("MQTT", "mqtt", "publisher", 1)):
        cell = r.cell(network, transport, "fresh", size, qos=qos, kind="icto")
        found[name] = (cell[f"{end}_header"] + cell[f"{end}_payload"]).to_numpy(float)
    return found


def run(quick: bool = False) -> dict[str, Plain]:
    """Compute the study's main results from the recorded experiment: headers, times and their ratios.

    It takes two seconds, half of them for the bootstrap. Measuring anew takes hours: that is ``voicewire record
    transport``.

    Parameters
    ----------
    quick : bool
        A tenth of the bootstrap's resamples.

    Returns
    -------
    dict of str to number, list of numbers, or dict of label to number
        By the claim's id, in its unit, in the form in which the scorecard holds it.

    Notes
    -----
    Chapter ``notebooks/transport/03_tcp_against_mqtt``.

    Examples
    --------
    >>> run(quick=True)["transport.mqtt-header-order-of-magnitude"]["warm against fresh"] < 1
    True
    """
    r = Recorded(recording.load_iterations(paths.data("transport")))
    resamples = 200 if quick else 2000
    found: dict[str, Plain] = {
        "transport.tcp-header-constant": [float(r.header("lan", "tcp", "fresh", s).mean()) for s in paper.PAYLOADS],
        "transport.mqtt-header-range": mqtt_ranges(r),
        "transport.mqtt-header-order-of-magnitude": header_ratios(r, "lan"),
        "transport.mqtt-header-grows": {
            name: growth(r, "lan", session)
            for name, session in (("fresh", "fresh"), ("warm", "persistent"), ("loop", "loop"))
        },
        "transport.header-explains-time": header_time_share(r, "lan"),
        "transport.icto-over-tcp": {name: float(x.mean()) for name, x in icto_bytes(r, "lan").items()},
        "transport.delay-factor-everywhere": delay_factors(r),
        "transport.delay-much-greater": median_factor(r),
    }
    for network, factor, faster in (
        ("lan", "time-factor-2", "time-difference-observable"),
        ("internet", "internet-time-factor-2", "internet-tcp-faster"),
    ):
        found[f"transport.{factor}"] = factor_shares(r, network, resamples)
        both = {"TCP": "tcp", "MQTT": "mqtt"}
        found[f"transport.{faster}"] = {
            name: float(pooled_times(r, network, each).mean()) for name, each in both.items()
        }
    alone = "fresh against fresh"
    found["transport.overhead-everywhere"] = {n: header_ratios(r, n)[alone] for n in paper.NETWORKS}
    return found
