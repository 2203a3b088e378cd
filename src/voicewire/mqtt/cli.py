"""`voicewire broker`, `voicewire pub` and `voicewire sub`."""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import sys
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from voicewire._kit.options import new_file, readable_up_to, share
from voicewire.mqtt.commands import client_options

if TYPE_CHECKING:
    from voicewire.mqtt.config import Config

__all__ = ["register"]

_SMALL, _LARGE = readable_up_to(2**20), readable_up_to(64 * 2**20)
"""Settings and certificates; and one line for each user, of whom there may be a million."""


def register(subparsers: Any) -> None:
    """Add the commands."""
    broker = subparsers.add_parser(
        "broker", help="run an MQTT 3.1.1 and E-MQTT broker", formatter_class=client_options.Help,
        usage="%(prog)s [option ...]",
        description="Run an MQTT 3.1.1 and E-MQTT broker until interrupted.",
        epilog="Example:\n  voicewire broker & sleep 3; voicewire pub -t door -m open -r\n"
        "  voicewire sub -t door -C 1; kill %1",
    )  # fmt: skip
    add = broker.add_argument
    add("--host", type=client_options.host, help="address to listen on (default 127.0.0.1: this machine only)")
    add("-p", "--port", type=client_options.port, help="port to listen on (default 1883; 0: a free one)")
    add("-c", "--config", type=_SMALL, metavar="FILE", help="TOML file: the same, and limits and access rules")
    add(
        "--deny-subscribe", type=client_options.topic_filter, action="append", default=[], metavar="TOPIC",
        help="refuse exactly this topic filter (repeatable); who may read a topic is said by access rules",
    )  # fmt: skip
    add("--password-file", type=_LARGE, metavar="FILE", help="name:hash lines as of mosquitto_passwd")
    add("--tls-cert", type=_SMALL, metavar="PEM", help="certificate chain, with the key or --tls-key")
    add("--tls-key", type=_SMALL, metavar="PEM", help="private key")
    add("--persist", type=new_file, metavar="FILE", help="SQLite file in which sessions outlive the broker")
    add(
        "--user-share", type=share, metavar="PART",
        help="part of all connections, kept sessions, retained messages, waiting bytes and half packets that one user "
        "may have (default 0.25; with a password file)",
    )  # fmt: skip
    add("--no-qos3", action="store_true", help="strict MQTT 3.1.1, without E-MQTT")
    add("--no-favours", action="store_true", help="do not serve publishers that wait first")
    add("--quiet", action="store_true", help="log warnings only")
    broker.set_defaults(handler=_broker)
    client_options.add_publishing(subparsers).set_defaults(handler=_pub)
    client_options.add_subscribing(subparsers).set_defaults(handler=_sub)


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
    client_options.say(command, error)
    return 1


def _pub(options: argparse.Namespace) -> int:
    from voicewire.mqtt.commands.publishing import publish

    return _ran("pub", publish(options), 130)


def _sub(options: argparse.Namespace) -> int:
    from voicewire.mqtt.commands.subscribing import Listener

    async def run() -> None:
        await Listener(options).run()

    return _ran("sub", run(), 0)


def _ran(command: str, main: Coroutine[Any, Any, None], interrupted: int) -> int:
    from voicewire.mqtt.errors import MQTTError

    try:
        asyncio.run(main)
    except BrokenPipeError:
        raise
    except (MQTTError, OSError) as error:
        return _failed(command, error)
    except KeyboardInterrupt:
        return interrupted
    return 0
