"""`voicewire emqtt-agent`: count acknowledgements for MQTT 5."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from voicewire._kit.options import number, text, whole

__all__ = ["register"]


def register(subparsers: Any) -> None:
    """Add the command."""
    agent = subparsers.add_parser(
        "emqtt-agent",
        help="end-to-end acknowledgement beside any MQTT 5 broker",
        description="Publishers ask with a message to e2e/N/TOPIC and a response topic; the agent passes it on to "
        "TOPIC, collects the answers of N subscribers and reports once, in JSON. Ctrl-C ends it.",
        epilog="Example: voicewire emqtt-agent --port 1884",
    )
    agent.add_argument("--host", type=text, default="127.0.0.1", help="of the broker (default %(default)s)")
    agent.add_argument("--port", type=whole(1, 65_535), default=1883, help="of the broker (default %(default)s)")
    agent.add_argument(
        "--timeout",
        type=number(above=0.0, high=1e6),
        default=5.0,
        metavar="S",
        help="for the answers (default 5 seconds)",
    )
    agent.set_defaults(handler=_agent)


def _agent(options: argparse.Namespace) -> int:
    import logging
    import threading

    from voicewire.emqtt.agent import Agent

    logging.basicConfig(format="%(asctime)s %(levelname)-7s %(message)s", stream=sys.stderr)
    try:
        with Agent(options.host, options.port, timeout=options.timeout):
            print(f"an agent counts at {options.host}:{options.port}: ask on e2e/N/TOPIC", flush=True)
            threading.Event().wait()
    except KeyboardInterrupt:
        return 0
    except (ValueError, OSError) as error:
        print(f"voicewire emqtt-agent: {error}", file=sys.stderr)
        return 1
    return 0
