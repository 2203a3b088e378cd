"""`voicewire broker`, `voicewire pub` and `voicewire sub`."""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import sys
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from voicewire._kit.options import new_file, number, readable_up_to, share, text, whole

if TYPE_CHECKING:
    import ssl

    from voicewire.mqtt.client import Client
    from voicewire.mqtt.config import Config

__all__ = ["register"]

_SMALL, _LARGE = readable_up_to(2**20), readable_up_to(64 * 2**20)
"""Settings and certificates; and one line for each user, of whom there may be a million."""
_seconds = number(above=0.0, high=1e6)
_port = whole(0, 65_535)


def register(subparsers: Any) -> None:
    """Add the commands."""
    broker = subparsers.add_parser(
        "broker",
        help="run an MQTT 3.1.1 and E-MQTT broker",
        description="Run an MQTT 3.1.1 and E-MQTT broker until interrupted.",
    )
    broker.add_argument("--host", type=text, help="address to listen on (default 127.0.0.1: this machine only)")
    broker.add_argument("--port", type=_port, help="port to listen on (default 1883; 0: a free one)")
    broker.add_argument(
        "--config", type=_SMALL, metavar="FILE", help="TOML file: the same, and limits and access rules"
    )
    broker.add_argument(
        "--deny-subscribe",
        type=text,
        action="append",
        default=[],
        metavar="TOPIC",
        help="refuse exactly this topic filter (repeatable); who may read a topic is said by access rules",
    )
    broker.add_argument("--password-file", type=_LARGE, metavar="FILE", help="name:hash lines as of mosquitto_passwd")
    broker.add_argument("--tls-cert", type=_SMALL, metavar="PEM", help="certificate chain, with the key or --tls-key")
    broker.add_argument("--tls-key", type=_SMALL, metavar="PEM", help="private key")
    broker.add_argument(
        "--persist", type=new_file, metavar="FILE", help="SQLite file in which sessions outlive the broker"
    )
    broker.add_argument(
        "--user-share", type=share, metavar="PART",
        help="part of all connections, kept sessions, retained messages, waiting bytes and half packets that one user "
        "may have (default 0.25; with a password file)",
    )  # fmt: skip
    broker.add_argument("--no-qos3", action="store_true", help="strict MQTT 3.1.1, without E-MQTT")
    broker.add_argument("--no-favours", action="store_true", help="do not serve publishers that wait first")
    broker.add_argument("--quiet", action="store_true", help="log warnings only")
    broker.set_defaults(handler=_broker)
    _clients(subparsers)


def _clients(subparsers: Any) -> None:
    pub = subparsers.add_parser("pub", help="publish one MQTT message", description="Publish one MQTT message.")
    _common(pub)
    pub.add_argument("-t", "--topic", type=text, required=True, help="topic to publish to")
    pub.add_argument("-m", "--message", type=_message, help="payload (default: standard input)")
    pub.add_argument("-q", "--qos", type=int, choices=(0, 1, 2), default=0, help="quality of service (default 0)")
    pub.add_argument("-r", "--retain", action="store_true", help="keep it for subscribers to come")
    pub.add_argument(
        "--wait-for", type=_count, metavar="N", help="E-MQTT: wait until N subscribers (or 'all') have acknowledged"
    )
    pub.add_argument(
        "--subscriber",
        type=text,
        action="append",
        default=[],
        metavar="ID",
        help="only this one counts (repeatable)",
    )
    pub.add_argument("--timeout", type=_seconds, default=30.0, metavar="S", help="give up after S seconds (default 30)")
    pub.set_defaults(handler=_pub)

    sub = subparsers.add_parser("sub", help="print MQTT messages", description="Print the messages of MQTT topics.")
    _common(sub)
    sub.add_argument("-t", "--topic", type=text, action="append", required=True, help="topic filter (repeatable)")
    sub.add_argument("-q", "--qos", type=int, choices=(0, 1, 2, 3), default=0, help="quality of service (default 0)")
    sub.add_argument("-n", "--count", type=whole(1), metavar="N", help="end after N messages")
    sub.add_argument("-v", "--verbose", action="store_true", help="print the topic, too")
    sub.add_argument(
        "--answer",
        type=_message,
        metavar="TEXT",
        help="E-MQTT: put TEXT into the acknowledgement of QoS 3 messages",
    )
    sub.add_argument("--timeout", type=_seconds, metavar="S", help="end when nothing comes for S seconds")
    sub.set_defaults(handler=_sub)


def _common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", type=text, default="127.0.0.1", help="the broker's address (default 127.0.0.1)")
    parser.add_argument("--port", type=_port, default=1883, help="the broker's port (default 1883)")
    parser.add_argument("--id", type=_message, default="", help="client id")
    parser.add_argument("--keep-session", action="store_true", help="do not begin with a clean session (needs --id)")
    parser.add_argument("--user", type=text, help="name to log in with")
    parser.add_argument("--password", type=_message, help="its password")
    parser.add_argument("--cafile", type=_SMALL, metavar="PEM", help="speak TLS and trust this certificate")


def _message(given: str) -> str:
    return text(given) if given else ""


def _count(given: str) -> int | str:
    return given if given == "all" else whole(0, 16_382)(given)


def _config(options: argparse.Namespace) -> Config:
    from voicewire.mqtt.config import Config, load

    config = load(options.config) if options.config else Config()
    for name in ("host", "port", "password_file", "tls_cert", "tls_key", "persist"):
        value = getattr(options, name)
        if value is not None:
            setattr(config, name, value)
    config.deny_subscribe += tuple(options.deny_subscribe)
    if options.user_share is not None:
        config.limits = dataclasses.replace(config.limits, user_share=options.user_share)
    if options.no_qos3:
        config.qos3 = False
    if options.no_favours:
        config.favours = False
    return config


def _broker(options: argparse.Namespace) -> int:
    import logging

    from voicewire.mqtt.config import ConfigError
    from voicewire.mqtt.serving.listener import RESERVE, raise_limit
    from voicewire.mqtt.sessions.store import StoreError

    logging.basicConfig(
        level=logging.WARNING if options.quiet else logging.INFO,
        format="%(asctime)s %(levelname)-7s %(message)s",
        stream=sys.stderr,
    )
    try:
        config = _config(options)
        raise_limit(config.limits.max_connections + 2 * RESERVE)
        _run(_serve(config))
    except (ConfigError, StoreError, OSError) as error:
        return _failed("broker", error)
    return 0


async def _serve(config: Config) -> None:
    import gc
    import signal

    from voicewire.mqtt.broker import Broker

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for ending in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(ending, stop.set)
        except NotImplementedError:  # Windows: Ctrl-C ends the loop instead
            break
    async with Broker(config):
        gc.collect()
        gc.freeze()  # modules are never garbage: a collection that visits them all would only keep clients waiting
        await stop.wait()


def _run(main: Coroutine[Any, Any, None]) -> None:
    """Run `main` on uvloop where it is installed."""
    try:
        import uvloop
    except ImportError:
        runner = asyncio.Runner()
    else:
        runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)
    with runner:
        runner.run(main)


def _failed(command: str, error: BaseException) -> int:
    print(f"voicewire {command}: {error}", file=sys.stderr)
    return 1


def _client(options: argparse.Namespace, **more: Any) -> Client:
    from voicewire.mqtt.client import Client
    from voicewire.mqtt.errors import MQTTError

    if options.keep_session and not options.id:
        raise MQTTError("--keep-session needs --id")
    tls: ssl.SSLContext | None = None
    if options.cafile:
        import ssl

        try:
            tls = ssl.create_default_context(cafile=options.cafile)
        except ssl.SSLError as error:
            raise MQTTError(f"{options.cafile} holds no certificate to trust: {error}") from None
    password = None if options.password is None else options.password.encode()
    return Client(
        options.host, options.port, options.id, clean=not options.keep_session, username=options.user,
        password=password, tls=tls, **more,
    )  # fmt: skip


def _pub(options: argparse.Namespace) -> int:
    from voicewire.mqtt.errors import MQTTError

    payload = sys.stdin.buffer.read() if options.message is None else options.message.encode()

    async def main() -> None:
        async with _client(options) as client:
            delivery = await client.publish(
                options.topic, payload, options.qos, retain=options.retain, wait_for=options.wait_for,
                subscribers=options.subscriber, timeout=options.timeout,
            )  # fmt: skip
            for name, seconds in delivery.acknowledged.items():
                answer = delivery.answers.get(name)
                text = "" if answer is None else f"  {answer.decode(errors='replace')}"
                print(f"{name}  {seconds * 1000:.1f} ms{text}")

    try:
        asyncio.run(main())
    except (MQTTError, OSError) as error:
        return _failed("pub", error)
    except KeyboardInterrupt:
        return 130
    return 0


def _sub(options: argparse.Namespace) -> int:
    from voicewire.mqtt.errors import MQTTError

    answer = None if options.answer is None else options.answer.encode()

    async def main() -> int:
        more = {} if answer is None else {"answer": lambda _: answer}
        async with _client(options, **more) as client:
            codes = await client.subscribe(*options.topic, qos=options.qos)
            for topic, code in zip(options.topic, codes, strict=True):
                if code == 0x80:
                    raise MQTTError(f"the broker refuses the subscription to {topic!r}")
            left = options.count
            while left is None or left > 0:
                try:
                    packet = await client.receive(options.timeout)
                except TimeoutError:
                    if options.count is None:
                        return 0
                    raise MQTTError(f"{left} of {options.count} messages did not come") from None
                if options.verbose:
                    sys.stdout.write(packet.topic + " ")
                sys.stdout.flush()
                sys.stdout.buffer.write(packet.payload + b"\n")
                sys.stdout.buffer.flush()
                left = None if left is None else left - 1
        return 0

    try:
        return asyncio.run(main())
    except (MQTTError, OSError) as error:
        return _failed("sub", error)
    except KeyboardInterrupt:
        return 0
