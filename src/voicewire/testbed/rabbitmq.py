"""RabbitMQ as a child for the time of a recording: a broker that speaks AMQP 0-9-1 and 1.0."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType

from voicewire.testbed.errors import TestbedError
from voicewire.testbed.hosts import Host
from voicewire.testbed.mosquitto import answers, end_with_parent

__all__ = ["RabbitMQ"]

_PROGRAM = "/usr/lib/rabbitmq/bin/rabbitmq-server"  # Debian's; the one on the path changes the user
_SECONDS = 90.0
"""It starts a whole Erlang system."""


class RabbitMQ:
    """RabbitMQ for the time of a ``with`` block, without passwords, in a host of its own.

    Parameters
    ----------
    host : Host or None
        Where it runs. It opens more ports than AMQP's, so a host of its own is needed.
    port : int
        AMQP's.

    Raises
    ------
    TestbedError
        If there is no such host, it is not installed, or does not come up.

    Examples
    --------
    Where it is installed, with the privileges for namespaces:

    >>> with Host("broker") as host, RabbitMQ(host) as broker:  # doctest: +SKIP
    ...     broker.port
    5672
    """

    def __init__(self, host: Host | None, port: int = 5672) -> None:
        if host is None:
            raise TestbedError("RabbitMQ needs a host of its own: it opens ports to every address")
        if not Path(_PROGRAM).exists():
            raise TestbedError("RabbitMQ is not installed; what was recorded with it is in data/transport")
        self.port = port
        with contextlib.ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="voicewire-")))
            with host.inside():
                # RabbitMQ would start this name server itself, and leave it behind.
                stack.callback(_ended, _started("epmd", dict(os.environ)))
                child = _started(_PROGRAM, _surroundings(folder, port))
                stack.callback(_ended, child)
            limit = time.monotonic() + _SECONDS
            while not answers(host, port):
                if child.poll() is not None or time.monotonic() > limit:
                    raise TestbedError(f"RabbitMQ did not come up on port {port} (exit status {child.poll()})")
                time.sleep(0.2)
            self._stack = stack.pop_all()

    @staticmethod
    def version() -> str:
        """Return its name and version, from Debian's record of the package.

        Returns
        -------
        str
        """
        program = shutil.which("dpkg-query")
        if program is None:
            return "RabbitMQ"
        command = [program, "--show", "--showformat", "RabbitMQ ${Version}", "rabbitmq-server"]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout

    def close(self) -> None:
        """End it and remove its files."""
        self._stack.close()

    def __enter__(self) -> RabbitMQ:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _surroundings(folder: Path, port: int) -> dict[str, str]:
    """What it reads from the environment: all that it writes goes into `folder`."""
    conf = folder / "rabbitmq.conf"
    conf.write_text("loopback_users = none\namqp1_0.default_user = guest\ncluster_name = voicewire\n")
    plugins = folder / "plugins"
    plugins.write_text("[rabbitmq_amqp1_0].\n")
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "RABBITMQ_NODENAME": "rabbit@localhost",
        "RABBITMQ_NODE_PORT": str(port),
        "RABBITMQ_CONFIG_FILE": str(conf),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(plugins),
        "RABBITMQ_MNESIA_BASE": str(folder / "store"),
        "RABBITMQ_LOG_BASE": str(folder),
        "RABBITMQ_PID_FILE": str(folder / "pid"),
    }


def _started(program: str, surroundings: dict[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [program], env=surroundings, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True, preexec_fn=end_with_parent,
    )  # fmt: skip


def _ended(child: subprocess.Popen[bytes]) -> None:
    """End a child and what it started: a process group of its own."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(timeout=20)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
