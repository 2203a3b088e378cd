"""The options of `pub` and `sub`, with the letters of mosquitto_pub and mosquitto_sub, and the client they describe."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from voicewire._kit.options import number, readable_up_to, text, visible, whole

if TYPE_CHECKING:
    import ssl

    from voicewire.mqtt.client import Client
    from voicewire.mqtt.packets import Will

__all__: list[str] = []  # the command's inside: only this room's own modules use it

PEM = readable_up_to(2**20)
ANY_FILE = readable_up_to(268_435_455)
"""A payload: the protocol allows no more."""
port = whole(0, 65_535)
seconds = number(above=0.0, high=1e6)
CONNECTING = 10.0
"""Seconds that the connection, and the answer to CONNECT, may take."""


class Help(argparse.RawDescriptionHelpFormatter):
    """Help that fits a screen: `-t, --topic TOPIC`, one line an option where its words are few."""

    def __init__(self, *words: Any, **more: Any) -> None:
        super().__init__(*words, **{**more, "max_help_position": 25})

    def _format_action_invocation(self, action: argparse.Action) -> str:
        names = ", ".join(action.option_strings[:2])
        if action.nargs == 0 or not action.option_strings:
            return names or super()._format_action_invocation(action)
        return f"{names} {self._format_args(action, action.dest.upper())}"


def host(given: str) -> str:
    """A host name or an address, alone."""
    from voicewire.mqtt.config import ConfigError, check_host

    try:
        check_host(text(given))
    except ConfigError as error:
        raise argparse.ArgumentTypeError(str(error).removeprefix("host = ")) from None
    return given


def topic_filter(given: str) -> str:
    """A topic filter."""
    from voicewire.mqtt.errors import MalformedError
    from voicewire.mqtt.topics import check_filter

    try:
        return check_filter(text(given))
    except MalformedError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def empty_or_text(given: str) -> str:
    """Any text, the empty one too."""
    return text(given) if given else ""


def payload(given: str) -> bytes:
    """Any bytes: what a shell passes on and is no text goes as it is."""
    try:
        return os.fsencode(given)
    except UnicodeEncodeError:
        raise argparse.ArgumentTypeError(f"{given!r:.40} is no text in UTF-8") from None


def count(given: str) -> int | str:
    """How many subscribers are waited for."""
    return given if given == "all" else whole(0, 16_382)(given)


def add_publishing(subparsers: Any) -> argparse.ArgumentParser:
    """Add the command `pub`, without what runs it."""
    parser = subparsers.add_parser(
        "pub", help="publish MQTT messages", add_help=False, formatter_class=Help,
        usage="%(prog)s -t TOPIC [-m TEXT|-f FILE|-l|-n|-s] ...",
        description="Publish MQTT messages, with mosquitto_pub's letters (-h is the host).",
        epilog="Example:\n  voicewire broker --quiet & sleep 3\n  voicewire pub -t door -m open -r -q 1; kill %1",
    )  # fmt: skip
    group = parser.add_argument_group("the message")
    add = group.add_argument
    add("-t", "--topic", type=text, required=True, help="topic to publish to")
    what = group.add_mutually_exclusive_group()
    what.add_argument("-m", "--message", type=payload, metavar="TEXT", help="payload")
    what.add_argument("-f", "--file", type=ANY_FILE, metavar="FILE", help="the payload is what this file holds")
    what.add_argument("-l", "--stdin-line", action="store_true", help="a message for each line of standard input")
    what.add_argument("-n", "--null-message", action="store_true", help="no payload (with -r: clears what is kept)")
    what.add_argument(
        "-s", "--stdin-file", action="store_true", help="the payload is all of standard input (default)"
    )
    add("-q", "--qos", type=int, choices=(0, 1, 2), default=0, metavar="QOS", help="quality of service (default 0)")
    add("-r", "--retain", action="store_true", help="keep it for subscribers to come")
    add("--repeat", type=whole(1), default=1, metavar="N", help="publish it N times")
    add("--repeat-delay", type=number(0.0, 1e6), default=0.0, metavar="S", help="with S seconds in between")
    add("--wait-for", type=count, metavar="N", help="E-MQTT: wait until N subscribers (or 'all') have it")
    add("--subscriber", type=text, action="append", default=[], metavar="ID", help="only this one counts (repeatable)")
    add("--timeout", type=seconds, default=30.0, metavar="S", help="give up after S seconds (default 30)")
    _connection(parser)
    return parser


def add_subscribing(subparsers: Any) -> argparse.ArgumentParser:
    """Add the command `sub`, without what runs it."""
    parser = subparsers.add_parser(
        "sub", help="print MQTT messages", add_help=False, formatter_class=Help, usage="%(prog)s -t TOPIC [option ...]",
        description="Print MQTT messages, with mosquitto_sub's letters (-h is the host).\n"
        "A connection that is lost is made again: soon, then every 30 s.",
        epilog="Example:\n  voicewire broker --quiet & sleep 3; voicewire pub -t door -m open -r\n"
        "  voicewire sub -t 'door/#' -v -C 1; kill %1",
    )  # fmt: skip
    add = parser.add_argument_group("messages").add_argument
    add("-t", "--topic", type=text, action="append", required=True, help="topic filter (repeatable)")
    add("-q", "--qos", type=int, choices=(0, 1, 2, 3), default=0, metavar="QOS", help="quality of service (default 0)")
    add("-C", "-n", "--count", type=whole(1), metavar="N", help="end after N messages")
    add("-W", dest="wait", type=seconds, metavar="S", help="end after S seconds")
    add("--timeout", type=seconds, metavar="S", help="end when nothing comes for S seconds")
    add("-v", "--verbose", action="store_true", help="print the topic, too")
    add(
        "--format", choices=("text", "raw", "hex", "json"), metavar="HOW",
        help="text (default on a terminal): control characters are shown, as \\x1b; raw (default elsewhere): bytes as "
        "they are; hex; json: an object a line",
    )  # fmt: skip
    add("-N", dest="no_newline", action="store_true", help="no end of line behind a message")
    add("-R", dest="no_retained", action="store_true", help="no messages that were kept before")
    add("-T", "--filter-out", type=text, action="append", default=[], metavar="T", help="not these topics (repeatable)")
    add("--answer", type=empty_or_text, metavar="TEXT", help="E-MQTT: text in the acknowledgement of QoS 3 messages")
    add("--no-reconnect", action="store_true", help="end when the connection is lost (status 1)")
    _connection(parser)
    return parser


def _connection(parser: argparse.ArgumentParser) -> None:
    """Add what both have."""
    add = parser.add_argument_group("the connection").add_argument
    add("-h", "--host", type=host, default="127.0.0.1", help="the broker's address (default 127.0.0.1)")
    add("-p", "--port", type=port, default=1883, help="the broker's port (default 1883, with TLS too)")
    add("-u", "--user", "--username", dest="user", type=text, help="name to log in with")
    add("-P", "--password", "--pw", dest="password", type=payload, metavar="PW", help="its password")
    add("-i", "--id", type=empty_or_text, default="", help="client id (default: a fresh one)")
    add(
        "-c", "--keep-session", "--disable-clean-session", action="store_true",
        help="a session that the broker keeps (needs -i)",
    )  # fmt: skip
    add("-k", "--keepalive", type=port, default=60, metavar="S", help="keep-alive time (default 60, 0: none)")
    add("--cafile", type=PEM, metavar="PEM", help="TLS: trust this (--cert, --key: be known by these)")
    add("--cert", dest="tls_cert", type=PEM, metavar="PEM", help=argparse.SUPPRESS)
    add("--key", dest="tls_key", type=PEM, metavar="PEM", help=argparse.SUPPRESS)
    add(
        "--will-topic", type=text, metavar="TOPIC",
        help="where the broker tells if this client is lost (--will-payload TEXT, --will-qos QOS, --will-retain)",
    )  # fmt: skip
    add("--will-payload", type=payload, metavar="TEXT", help=argparse.SUPPRESS)
    add("--will-qos", type=int, choices=(0, 1, 2), metavar="QOS", help=argparse.SUPPRESS)
    add("--will-retain", action="store_true", help=argparse.SUPPRESS)
    add("-V", dest="version", choices=("311", "mqttv311"), help=argparse.SUPPRESS)
    add("--help", action="help", help="show this")


def client(options: argparse.Namespace, **more: Any) -> Client:
    """Make the client that the options describe."""
    from voicewire.mqtt.client import Client
    from voicewire.mqtt.errors import MQTTError

    if options.keep_session and not options.id:
        raise MQTTError("--keep-session needs --id: the broker knows a session by it")
    if options.password is not None and options.user is None:
        raise MQTTError("--password needs --user")
    return Client(
        options.host, options.port, options.id, clean=not options.keep_session, keep_alive=options.keepalive,
        username=options.user, password=options.password, will=_will(options), tls=_tls(options), **more,
    )  # fmt: skip


@contextlib.asynccontextmanager
async def connected(client: Client, most: float | None) -> AsyncIterator[None]:
    """A client while it is connected; to connect it takes no longer than the user is willing to wait."""
    await client.connect(CONNECTING if most is None else min(CONNECTING, most))
    try:
        yield
    finally:
        await client.disconnect()


def _will(options: argparse.Namespace) -> Will | None:
    from voicewire.mqtt.errors import MQTTError
    from voicewire.mqtt.packets import Will

    if options.will_topic is not None:
        return Will(options.will_topic, options.will_payload or b"", options.will_qos or 0, options.will_retain)
    if options.will_payload is not None or options.will_qos is not None or options.will_retain:
        raise MQTTError("a will needs --will-topic")
    return None


def _tls(options: argparse.Namespace) -> ssl.SSLContext | None:
    from voicewire.mqtt.errors import MQTTError

    if options.tls_key and not options.tls_cert:
        raise MQTTError(f"the key {options.tls_key} needs its certificate, --cert")
    if not options.cafile and not options.tls_cert:
        return None
    import ssl

    try:
        context = ssl.create_default_context(cafile=options.cafile)
    except ssl.SSLError as error:
        raise MQTTError(f"{options.cafile} holds no certificate to trust: {error}") from None
    if options.tls_cert:
        try:
            context.load_cert_chain(options.tls_cert, options.tls_key)
        except (OSError, ssl.SSLError) as error:
            key = f" with the key {options.tls_key}" if options.tls_key else ""
            raise MQTTError(f"cannot use the certificate {options.tls_cert}{key}: {error}") from None
    return context


def say(command: str, words: object) -> None:
    """Say something to the user of a command."""
    with contextlib.suppress(BrokenPipeError):
        print(f"voicewire {command}: {visible(str(words))}", file=sys.stderr, flush=True)
