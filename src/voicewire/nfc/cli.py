"""The commands `voicewire nfc …`: what-if questions about the slotted link."""

import argparse
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from voicewire._kit.options import number, positive, print_json, seed, whole

__all__ = ["register"]

if TYPE_CHECKING:
    from voicewire.nfc.channel import Channel
    from voicewire.nfc.session import Result, Session


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `voicewire nfc session` and `voicewire nfc exchange`."""
    nfc = subparsers.add_parser(
        "nfc",
        help="TCP/IP through the slotted NFC channel of a cordless kitchen",
        description="Ask what a TCP session would take on the slotted half-duplex link of the NFC study.",
    )
    commands = nfc.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=type(nfc))
    session = commands.add_parser(
        "session",
        help="latency of a bulk transfer, simulated and by formula",
        description="Simulate one bulk transfer to the appliance and take its latency apart.",
        epilog="Example: voicewire nfc session --mss 512 --bytes 5000 --ber 1e-5 --seed 3",
    )
    session.add_argument(
        "--bytes", type=whole(1, 10**8), default=5000, metavar="N", help="bytes to transfer (default 5000)"
    )
    session.add_argument(
        "--mss", type=whole(1), default=1024, metavar="N", help="maximum segment size, bytes (default 1024)"
    )
    session.add_argument(
        "--window", type=whole(1), default=4096, metavar="N", help="initial window, bytes (default 4096)"
    )
    session.add_argument("--limit", type=whole(1), default=8192, metavar="N", help="window limit, bytes (default 8192)")
    session.add_argument(
        "--delay", type=number(0.0, 1e7), default=0.0, metavar="S", help="Ethernet delay, s (default 0)"
    )
    session.add_argument("--backoff", action=argparse.BooleanOptionalAction, default=True, help="double the timeout")
    session.add_argument("--seed", type=seed, default=1, metavar="N", help="seed of the bit errors (default 1)")
    _common(session)
    session.add_argument("--json", action="store_true", help="print an object instead of lines")
    session.set_defaults(handler=_checked(_session, session.prog))
    exchange = commands.add_parser(
        "exchange",
        help="mean and spread of an exchange with bit errors (Table 7.3)",
        description="Exchange packets in turn through a channel with bit errors, many times over.",
        epilog="Example: voicewire nfc exchange --ber 1e-4 --burst 4 --runs 1000",
    )
    exchange.add_argument(
        "--packets", type=whole(1, 10**6), default=100, metavar="N", help="packets from each end (default 100)"
    )
    exchange.add_argument(
        "--bytes", type=whole(1, 10**6), default=500, metavar="N", help="bytes of each packet (default 500)"
    )
    exchange.add_argument("--runs", type=whole(1, 10**7), default=1000, metavar="N", help="runs (default 1000)")
    exchange.add_argument("--backoff", action="store_true", help="double the timeout at each further loss")
    exchange.add_argument("--seed", type=seed, default=1, metavar="N", help="seed (default 1)")
    _common(exchange)
    exchange.add_argument("--json", action="store_true", help="print an object instead of lines")
    exchange.set_defaults(handler=_checked(_exchange, exchange.prog))


def _common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--latency", type=number(0.0, 1e7), default=0.07607, metavar="S", help="response latency (default 0.07607)"
    )
    parser.add_argument(
        "--rto",
        type=number(above=0.0, high=1e7),
        default=3.0,
        metavar="S",
        help="retransmission timeout, s (default 3)",
    )
    parser.add_argument(
        "--rate", type=positive, default=11200, metavar="BPS", help="bits on air, bit/s (default 11200)"
    )
    parser.add_argument(
        "--ber", type=number(0.0, below=1.0), default=0.0, metavar="P", help="bit error rate, below 1 (default 0)"
    )
    parser.add_argument(
        "--burst", type=number(1.0), default=None, metavar="BITS", help="mean burst length; else independent"
    )


def _checked(handler: Callable[[argparse.Namespace], int], prog: str) -> Callable[[argparse.Namespace], int]:
    """Turn an impossible parameter into a usage error: one line, exit status 2."""

    def checked(options: argparse.Namespace) -> int:
        from voicewire.nfc.errors import ParameterError, check_count

        try:
            check_count("seed", options.seed, least=0)
            return handler(options)
        except ParameterError as error:
            print(f"{prog}: {error}", file=sys.stderr)
            return 2

    return checked


def _session(options: argparse.Namespace) -> int:
    import numpy as np

    from voicewire.nfc import latency_formulas
    from voicewire.nfc.link import Link
    from voicewire.nfc.session import Session

    asked = Session(
        size=options.bytes, mss=options.mss, window=options.window, window_limit=options.limit,
        latency=options.latency, ethernet_delay=options.delay, rto=options.rto, backoff=options.backoff,
        link=Link.from_rate(options.rate), channel=_channel(options),
    )  # fmt: skip
    result = asked.run(np.random.default_rng(options.seed))
    if options.json:
        print_json(_session_row(asked, result, options.ber > 0))
        return 1 if result.gave_up else 0
    print(f"session latency   {result.seconds:.2f} s, {result.outcome}")
    print(f"delivered         {result.delivered} of {asked.size} bytes")
    print(f"goodput           {result.goodput / 1e3:.2f} kbit/s of {asked.link.goodput / 1e3:.2f}")
    print(f"data packets      {result.data_sent} sent, {result.data_lost} lost, {result.duplicates} twice")
    print(f"retransmissions   {result.timeouts} by timeout, {result.fast} fast")
    if options.ber == 0:
        try:
            parts = latency_formulas.latency(asked)
        except latency_formulas.OutsideRegimeError as error:
            print(f"closed form       none: {error}")
        else:
            period = asked.link.period
            print(f"closed form       {parts.total * period:.2f} s", end="")
            print(f" = data {parts.data * period:.2f} + acks {parts.acks * period:.2f}", end="")
            print(f" + control {(parts.handshake + parts.teardown) * period:.2f}", end="")
            print(f" + responses {parts.responses * period:.2f} + stalls {parts.stalls * period:.2f}")
    return 1 if result.gave_up else 0


def _session_row(asked: "Session", result: "Result", errors: bool) -> dict[str, object]:
    """What `_session` prints, under names with units."""
    from voicewire.nfc import latency_formulas

    found: dict[str, object] = {
        "latency_s": result.seconds, "outcome": str(result.outcome), "delivered": result.delivered, "bytes": asked.size,
        "goodput_bit_per_s": result.goodput, "link_bit_per_s": asked.link.goodput, "sent": result.data_sent,
        "lost": result.data_lost, "twice": result.duplicates, "timeouts": result.timeouts, "fast": result.fast,
    }  # fmt: skip
    if errors:
        return found
    try:
        parts = latency_formulas.latency(asked)
    except latency_formulas.OutsideRegimeError as error:
        return {**found, "closed_form": None, "why": str(error)}
    period = asked.link.period
    named = {
        "total_s": parts.total, "data_s": parts.data, "acks_s": parts.acks,
        "control_s": parts.handshake + parts.teardown, "responses_s": parts.responses, "stalls_s": parts.stalls,
    }  # fmt: skip
    return {**found, "closed_form": {name: slots * period for name, slots in named.items()}}


def _exchange(options: argparse.Namespace) -> int:
    import numpy as np

    from voicewire.nfc.exchange import Exchange
    from voicewire.nfc.link import Link

    asked = Exchange(
        packets=options.packets, size=options.bytes, latency=options.latency, rto=options.rto,
        backoff=options.backoff, link=Link.from_rate(options.rate), channel=_channel(options),
    )  # fmt: skip
    out = asked.run(options.runs, np.random.default_rng(options.seed))
    low, middle, high = np.percentile(out.seconds, [5, 50, 95])
    if options.json:
        print_json(
            {
                "packet_loss": asked.loss, "without_errors_s": asked.floor, "expected_s": asked.mean,
                "mean_s": out.seconds.mean(), "median_s": middle, "p5_s": low, "p95_s": high,
                "delivered": int(out.delivered.sum()), "runs": options.runs,
            }
        )  # fmt: skip
        return 0
    print(f"packet loss       {asked.loss:.4%}")
    print(f"without errors    {asked.floor:.2f} s")
    print(f"expected          {asked.mean:.2f} s")
    print(
        f"simulated         mean {out.seconds.mean():.2f} s, median {middle:.2f} s, 5 to 95 % {low:.2f} to {high:.2f} s"
    )
    print(f"delivered         {int(out.delivered.sum())} of {options.runs} runs")
    return 0


def _channel(options: argparse.Namespace) -> "Channel":
    from voicewire.nfc.channel import Channel

    if options.burst is not None:
        return Channel.burst(options.ber, options.burst)
    return Channel.random(options.ber)
