"""Drives Debian's Firefox by Marionette, the protocol that it speaks itself: JSON over a socket, no other program."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
PREFERENCES = {
    "marionette.port": 0,  # a free one; Firefox writes which into its profile
    "browser.shell.checkDefaultBrowser": False,
    "browser.tabs.remote.autostart": True,
    "app.update.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "toolkit.telemetry.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
}
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
"""The key under which WebDriver names an element of the page."""
CONTROL = "\ue009"
LIMIT = 240.0
"""Seconds within which Firefox has started, or a script has ended: a busy machine is slow, and a test ends."""


class Firefox:
    """A running Firefox with one page.

    Parameters
    ----------
    connection : socket.socket
        To its Marionette.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._file = connection.makefile("rwb")
        self._count = 0
        assert self._read()["marionetteProtocol"] == 3
        self.call("WebDriver:NewSession", {})
        self.call("WebDriver:SetTimeouts", {"script": 1000 * LIMIT, "pageLoad": 1000 * LIMIT})

    def _read(self) -> Any:
        size = b""
        while (byte := self._file.read(1)) != b":":
            if not byte:
                raise ConnectionError("Firefox has gone")
            size += byte
        return json.loads(self._file.read(int(size)))

    def call(self, command: str, given: dict[str, Any]) -> Any:
        """Send one command of WebDriver's and return what it answers."""
        self._count += 1
        text = json.dumps([0, self._count, command, given]).encode()
        self._file.write(b"%d:%s" % (len(text), text))
        self._file.flush()
        kind, number, error, answer = self._read()
        assert (kind, number) == (1, self._count)
        if error:
            raise AssertionError(f"{command}: {error['error']}: {error['message']}")
        return answer.get("value") if isinstance(answer, dict) and "value" in answer else answer

    def go(self, address: str) -> None:
        """Load a page."""
        self.call("WebDriver:Navigate", {"url": address})

    def script(self, body: str, *given: Any) -> Any:
        """Run a function's body in the page, with what is given as `arguments`, and return what it returns."""
        return self.call("WebDriver:ExecuteScript", {"script": body, "args": list(given), "sandbox": None})

    def wait(self, condition: str, *given: Any) -> None:
        """Wait until an expression is true in the page."""
        end = time.monotonic() + LIMIT
        while not self.script(f"return Boolean({condition})", *given):
            if time.monotonic() > end:
                shown = self.script("return document.querySelector('.vw-live')?.innerText ?? document.title")
                raise AssertionError(f"never so: {condition}; the page says {shown!r}")
            time.sleep(0.1)

    def click(self, found: str, *given: Any) -> None:
        """Click what an expression finds, with the mouse, in the middle of the window."""
        element = self.script(f"const it = {found}; it.scrollIntoView({{block: 'center'}}); return it", *given)
        self.call("WebDriver:ElementClick", {"id": element[ELEMENT]})

    def keys(self, text: str, held: str = "") -> None:
        """Press keys where the focus is, one after the other, while another may be held."""
        presses = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        if held:
            presses = [{"type": "keyDown", "value": held}, *presses, {"type": "keyUp", "value": held}]
        self.call("WebDriver:PerformActions", {"actions": [{"type": "key", "id": "keyboard", "actions": presses}]})

    def quit(self) -> None:
        self.call("Marionette:Quit", {"flags": ["eForceQuit"]})


@contextmanager
def firefox() -> Iterator[Firefox]:
    """Start Firefox without a window, in a profile and a home of its own that go with it."""
    with tempfile.TemporaryDirectory(prefix="vw-firefox-", ignore_cleanup_errors=True) as folder:
        profile = Path(folder) / "profile"
        profile.mkdir()
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items()]
        (profile / "user.js").write_text("".join(lines), encoding="utf-8")
        command = [str(FIREFOX), "--headless", "--marionette", "--no-remote", "--profile", str(profile)]
        log = Path(folder) / "log"
        with (
            log.open("wb") as said,
            subprocess.Popen(
                command, stdout=said, stderr=said, env={**os.environ, "HOME": folder, "MOZ_CRASHREPORTER_DISABLE": "1"}
            ) as process,
        ):
            try:
                with socket.create_connection(("127.0.0.1", _port(profile, process, log)), timeout=2 * LIMIT) as line:
                    driven = Firefox(line)
                    yield driven
                    driven.quit()
            finally:
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    process.kill()


def _port(profile: Path, process: subprocess.Popen[bytes], log: Path) -> int:
    """Wait for the port that Firefox has chosen."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end and process.poll() is None:
        try:
            return int((profile / "MarionetteActivePort").read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            time.sleep(0.1)
    process.kill()
    raise AssertionError(f"Firefox doesn't listen: {log.read_text(encoding='utf-8', errors='replace')[-2000:]}")
