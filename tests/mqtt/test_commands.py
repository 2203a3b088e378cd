"""`pub` and `sub` as users of mosquitto's know them: letters, formats, a connection that comes back, no dependency."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pty
import re
import shlex
import subprocess
import sys
import threading
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from waiting import eventually

from voicewire._kit.options import visible
from voicewire.cli import _told, main
from voicewire.mqtt import Broker, BrokerThread, Client, Config, Limits, MQTTError, Publish, Will, ours
from voicewire.mqtt.commands import subscribing
from voicewire.mqtt.commands.shown_messages import printer, readable
from voicewire.mqtt.serving.broker_process import free_port

Start = Callable[..., BrokerThread]
MOSQUITTO = pytest.mark.needs("mosquitto-clients")
OURS = [sys.executable, "-m", "voicewire.mqtt"]


@contextlib.contextmanager
def listening(broker: BrokerThread, *words: str, program: list[str] | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """`sub` with these words in a process of its own; it has subscribed."""
    before = broker.statistics()["subscriptions/count"]
    command = [*(program or [*OURS, "sub"]), "-h", "127.0.0.1", "-p", str(broker.port), *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert eventually(lambda: broker.statistics()["subscriptions/count"] != before)
        yield process


def heard(process: subprocess.Popen[bytes]) -> bytes:
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return out


def pub(broker: BrokerThread, *words: str, given: bytes = b"", program: list[str] | None = None) -> None:
    command = [*(program or [*OURS, "pub"]), "-h", "127.0.0.1", "-p", str(broker.port), *words]
    run = subprocess.run(command, input=given, capture_output=True, timeout=60, check=False)
    assert (run.returncode, run.stderr) == (0, b"")


PUBLISHED: list[tuple[list[str], bytes, int]] = [
    (["-m", "text ü"], b"", 1), (["-m", ""], b"", 1), (["-n"], b"", 1), (["-s"], b"all\n of it\n", 1),
    (["-l"], b"one\n\ntwo\r\nthree", 4), (["-l"], b"one\n", 1), (["-f", "FILE"], b"", 1),
    (["-m", "again", "--repeat", "3"], b"", 3), (["-m", "q", "-q", "1"], b"", 1),
    (["-m", "q", "-q", "2", "-r"], b"", 1),
    (["-m", "name", "-i", "me", "-k", "30", "-u", "ann", "-P", "pw", "-c"], b"", 1),
    (["-m", "will", "--will-topic", "w", "--will-payload", "x", "--will-qos", "1", "--will-retain"], b"", 1),
    (["-m", "version", "-V", "mqttv311"], b"", 1),
]  # fmt: skip


@MOSQUITTO
@pytest.mark.parametrize(("words", "given", "count"), PUBLISHED, ids=lambda x: " ".join(x) if type(x) is list else "")
def test_pub_and_sub_do_what_mosquittos_do(
    broker: Start, tmp_path: Path, words: list[str], given: bytes, count: int
) -> None:
    """The same words to both publishers, the same words to both subscribers: the same lines come out.

    Of a message without payload mosquitto_sub prints nothing, ours the end of its line.
    """
    (tmp_path / "file").write_bytes(b"bytes\0\xff\n")
    words = [word.replace("FILE", str(tmp_path / "file")) for word in words]
    b = broker()
    printed = []
    for program in (["mosquitto_pub"], [*OURS, "pub"]):
        topic = program[0]  # of its own: a message may be retained
        listen = ["-t", topic, "-q", "2", "-C", str(count)]
        with listening(b, *listen, program=["mosquitto_sub"]) as theirs, listening(b, *listen) as mine:
            pub(b, "-t", topic, *words, given=given, program=program)
            printed += [heard(theirs), heard(mine)]
    assert printed[2:] == printed[:2]
    assert printed[1].replace(b"\n\n", b"\n").lstrip(b"\n") == printed[0].replace(b"\n\n", b"\n")


@MOSQUITTO
@pytest.mark.parametrize("words", [
    ["-v"], ["-v", "-N"], ["-T", "t/b", "-v"], ["-R", "-v"], ["-q", "1", "-v", "-W", "60"]],
)  # fmt: skip
def test_what_sub_prints_is_what_mosquitto_sub_prints(broker: Start, words: list[str]) -> None:
    b = broker()
    pub(b, "-t", "t/old", "-m", "kept", "-r")
    listen = ["-t", "t/#", "-C", "2", *words]
    with listening(b, *listen, program=["mosquitto_sub"]) as theirs, listening(b, *listen) as mine:
        for topic in ("t/b", "t/c", "t/d"):
            pub(b, "-t", topic, "-m", topic.upper())
        assert heard(theirs) == heard(mine) != b""


# ---------------------------------------------------------------------- what is shown
DANGEROUS = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


@given(st.text())
def test_no_character_of_a_text_is_obeyed_by_a_terminal(text: str) -> None:
    shown = visible(text)
    assert not {unicodedata.category(c) for c in shown if c not in "\u200c\u200d"} & DANGEROUS
    if not any(unicodedata.category(c) in {*DANGEROUS, "Cn"} for c in text):
        assert shown == text


@given(st.binary())
def test_no_byte_is_obeyed_either(data: bytes) -> None:
    shown = readable(data)
    assert not {unicodedata.category(c) for c in shown if c not in "\u200c\u200d"} & DANGEROUS
    assert "\n" not in shown and "\x1b" not in shown


def shown(packet: Publish, how: str | None, topic: bool = False) -> bytes:
    """What is printed where standard output is no terminal."""
    raw = io.BytesIO()
    before, sys.stdout = sys.stdout, io.TextIOWrapper(raw, encoding="utf-8", newline="\n")
    try:
        printer(how, topic, True)(packet)
        sys.stdout.flush()
        return raw.getvalue()
    finally:
        sys.stdout = before


@given(st.text(st.characters(exclude_characters="\0+#", exclude_categories=["Cs"]), min_size=1), st.binary(),
       st.integers(0, 2), st.booleans())  # fmt: skip
def test_json_and_hex_can_be_read_back(topic: str, payload: bytes, qos: int, retain: bool) -> None:
    packet = Publish(topic, payload, qos, retain)
    line = shown(packet, "json")
    told = json.loads(line)
    assert line.isascii() and line.count(b"\n") == 1
    assert (told["topic"], told["qos"], told["retain"], told["payloadlen"]) == (topic, qos, retain, len(payload))
    assert (bytes.fromhex(told["payload_hex"]) if "payload_hex" in told else told["payload"].encode()) == payload
    assert bytes.fromhex(shown(packet, "hex").decode()) == payload
    assert shown(packet, "raw", True) == shown(packet, None, True) == topic.encode() + b" " + payload + b"\n"


def test_on_a_terminal_escapes_are_shown_unless_raw_is_asked_for(broker: Start) -> None:
    b = broker()
    pub(b, "-t", "t\x1b[2J", "-r", "-m", "\x1b]0;title\x07\nline\u202e")
    for words, seen in (
        ([], rb"t\x1b[2J \x1b]0;title\x07\nline\u202e"), (["--format", "raw"], b"t\x1b[2J \x1b]0;title\x07"),
    ):  # fmt: skip
        ours_end, its_end = pty.openpty()
        command = [*OURS, "sub", "-p", str(b.port), "-t", "#", "-v", "-C", "1", *words]
        subprocess.run(command, stdout=its_end, timeout=60, check=True)
        os.close(its_end)
        assert os.read(ours_end, 1000).startswith(seen)
        os.close(ours_end)


def test_the_answers_of_subscribers_are_shown_not_obeyed(broker: Start) -> None:
    b = broker()
    with listening(b, "-t", "t", "-q", "3", "-C", "1", "-i", "ann", "--answer", "\x1b[2Jyes") as mine:
        command = [*OURS, "pub", "-p", str(b.port), "-t", "t", "-m", "x", "--wait-for", "1"]
        run = subprocess.run(command, capture_output=True, timeout=60, check=True)
        heard(mine)
    assert b"\x1b" not in run.stdout and rb"\x1b[2Jyes" in run.stdout


# ---------------------------------------------------------------------- reasons
def one_line(capfd: pytest.CaptureFixture[str], *words: str, status: int = 1) -> str:
    assert main(list(words)) == status
    (line,) = [line for line in capfd.readouterr().err.splitlines() if line.startswith("voicewire ")]
    return line


def test_reasons_reach_the_user(
    broker: Start, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    port = str(broker(deny_subscribe=("no",)).port)
    for topic, words in (("$share/g/a", "shared subscription"), ("$queue/a", "shared"), ("no", "deny_subscribe")):
        assert words in one_line(capfd, "sub", "-p", port, "-t", topic)
    (tmp_path / "big").write_bytes(bytes(20_000_000))
    for qos in "012":
        said = one_line(capfd, "pub", "-p", port, "-t", "t", "-f", str(tmp_path / "big"), "-q", qos)
        assert re.search(r"a message of 20,000,00\d bytes is larger than the broker takes \(16 MiB\)$", said)
    lines = io.BytesIO(b"one\ntwo\n" + bytes(17_000_000) + b"\nthree\n")
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=lines, fileno=lambda: lines.fileno()))
    said = one_line(capfd, "pub", "-p", port, "-t", "t", "-l", "-q", "1")
    assert said.endswith("(16 MiB) (2 messages had been acknowledged before)")
    for words in (["-P", "x"], ["--will-payload", "x"], ["--key", __file__]):
        assert "needs" in one_line(capfd, "pub", "-p", port, "-t", "t", "-m", "x", *words)


@pytest.mark.parametrize("qos", ["0", "1", "2"])
def test_lines_that_are_left_are_no_traceback(broker: Start, qos: str) -> None:
    """The connection ends while more lines wait than are read ahead."""
    command = [*OURS, "pub", "-p", str(broker(limits=Limits(max_packet=100_000)).port), "-t", "t", "-l", "-q", qos]
    lines = b"one\ntwo\n" + bytes(200_000) + b"\n" + b"more\n" * 100_000
    run = subprocess.run(command, input=lines, capture_output=True, timeout=60, check=False)
    assert run.returncode == 1 and run.stderr.count(b"\n") == 1, run.stderr
    assert (b"handed over before)" if qos == "0" else b"(2 messages had been acknowledged before)") in run.stderr


@pytest.mark.parametrize("words", [["-m", "a", "-n"], ["-l", "-s"], ["-f", "/nowhere"], ["-q", "3", "-m", "a"], ["-h"],
                                   ["-m", "a", "-V", "mqttv5"], ["-m", "a", "--repeat", "0"],
                                   ["-k", "65536"]])  # fmt: skip
def test_wrong_words_are_wrong_usage(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["pub", "-t", "t", *words])
    assert end.value.code == 2 and capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("host", ["a..b", ".", "a" * 70 + ".org", "localhost:1883", "mqtt://h", "[::1]", "a b", "é..x"])
def test_a_host_that_cannot_be_is_named_with_its_option(host: str, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["pub", "-t", "t", "-m", "x"], ["sub", "-t", "t"], ["broker"]):
        with pytest.raises(SystemExit) as end:
            main([*words, "--host", host])
        err = capsys.readouterr().err
        assert end.value.code == 2 and err.count("\n") == 1 and repr(host)[:80] in err and "--host" in err


async def test_a_client_says_so_too() -> None:
    for host in ("a..b", ".", "a" * 70):
        with pytest.raises(MQTTError, match=re.escape(f"{host!r}: that is no host name")):
            await Client(host).connect()


@pytest.mark.parametrize("pattern", ["a/#/b", "a#", "+a", "a/b+/c"])
def test_a_filter_to_deny_is_checked(pattern: str, not_started: Callable[..., str]) -> None:
    line = not_started("--deny-subscribe", "a/#", "--deny-subscribe", pattern, status=2)
    assert "--deny-subscribe" in line and repr(pattern) in line


@given(st.text(st.characters(categories=["Cc", "Cf", "Zl", "Zp", "L"], exclude_characters="\0"), min_size=1))
def test_no_message_on_stderr_is_obeyed_by_a_terminal(given: str) -> None:
    for words, status in (
        (["pub", "-t", "t", "-m", "x", "--", given], 2), (["pub", "-t", "t", "-m", "x", f"--{given}"], 2),
        (["pub", "-t", "t", "-m", "x", "-V", given], 2), (["pub", "-t", "t", "-f", f"/nowhere/{given}"], 2),
        (["pub", "-t", "t", "-m", "x", "-h", f"{given} x"], 2), (["sub", "-t", f"{given}/#/#"], 1),
        (None, 1),
    ):  # fmt: skip
        with contextlib.redirect_stderr(io.StringIO()) as err:
            try:
                assert (_told(given, status) if words is None else main(words)) == status
            except SystemExit as end:
                assert end.code == status
        (line,) = err.getvalue().split("\n")[:-1]
        assert not {unicodedata.category(c) for c in line if c not in "\u200c\u200d"} & DANGEROUS


# ---------------------------------------------------------------------- a connection that comes back
def said(process: subprocess.Popen[bytes], words: bytes) -> bytes:
    """Read what a process says until it says this."""
    assert process.stderr is not None
    seen = b""
    while words not in seen:
        line = process.stderr.readline()
        assert line, seen
        seen += line
    return seen


@pytest.mark.parametrize(("kept", "words", "third"), [
    ([], b"what was sent meanwhile is lost", False),
    (["-c", "-i", "ann", "-q", "1"], b"the broker has kept the session", True),
])  # fmt: skip
def test_sub_connects_again(tmp_path: Path, kept: list[str], words: bytes, third: bool) -> None:
    """The broker ends and comes back; with a session that it keeps, what came meanwhile is there."""
    port = free_port()
    config = Config(port=port, persist=tmp_path / "store")
    with BrokerThread(config) as b:
        words_of_sub = ["sub", "-p", str(port), "-t", "t", "-C", "3" if third else "2", *kept]
        process = subprocess.Popen([*OURS, *words_of_sub], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert eventually(lambda: b.statistics()["subscriptions/count"] == 1)
        pub(b, "-t", "t", "-m", "first", "-q", "1")
        assert process.stdout is not None and process.stdout.readline() == b"first\n"
    with process:
        said(process, b"the broker closed the connection; connecting again in ")
        said(process, b"no broker at 127.0.0.1")
        with BrokerThread(config) as b:
            if third:
                pub(b, "-t", "t", "-m", "meanwhile", "-q", "1")
            said(process, b"connected again after ")
            pub(b, "-t", "t", "-m", "last", "-q", "1")
            out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert b"last\n" in out and (b"meanwhile\n" in out or not third)


def listener(port: int, *words: str) -> tuple[subscribing.Listener, list[str]]:
    """A `sub` in this process, and what it says."""
    import argparse

    from voicewire.mqtt.commands import client_options

    parser = argparse.ArgumentParser()
    client_options.add_subscribing(parser.add_subparsers())
    mine = subscribing.Listener(parser.parse_args(["sub", "-p", str(port), "-t", "t", *words]))
    lines: list[str] = []
    mine._say = lines.append  # type: ignore[method-assign]
    return mine, lines


async def test_attempts_become_rarer_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    async with Broker(Config(port=0)) as broker:
        mine, lines = listener(broker.port)

        async def sleep(seconds: float) -> None:
            pauses.append(seconds)
            if len(pauses) == 12:
                mine._client.port = broker.port

        await mine._client.connect()
        mine._client.abort()
        mine._client.port = free_port()
        monkeypatch.setattr(subscribing.asyncio, "sleep", sleep)
        await mine._again(MQTTError("lost"))
        monkeypatch.undo()
        await mine._client.disconnect()
    bounds = [min(0.5 * 2**i, 30.0) for i in range(12)]
    assert all(0.5 * bound <= pause <= bound for pause, bound in zip(pauses, bounds, strict=True))
    assert sum("connecting again in" in line for line in lines) == 12 and "connected again" in lines[-1]


async def test_a_broker_that_says_no_for_good_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subscribing, "SHORTEST", 0.01)
    (tmp_path / "users").write_text("ann:a\n")
    async with Broker(Config(port=0, password_file=tmp_path / "users")) as broker:
        mine, _ = listener(broker.port)
        with pytest.raises(MQTTError, match="not authorised"):
            await mine._again(MQTTError("lost"))
    async with Broker(Config(port=0, deny_subscribe=("t",))) as broker:
        mine, _ = listener(broker.port)
        with pytest.raises(MQTTError, match="deny_subscribe"):
            await mine._again(MQTTError("lost"))


def test_sub_ends_when_it_is_told_to(broker: Start, capfd: pytest.CaptureFixture[str]) -> None:
    port = str(broker().port)
    for words in (["-W", "0.3"], ["--timeout", "0.3"], ["-W", "0.3", "--timeout", "50"]):
        assert main(["sub", "-p", port, "-t", "t", *words]) == 0
        assert capfd.readouterr().err == ""
        assert "1 of 1 messages did not come" in one_line(capfd, "sub", "-p", port, "-t", "t", "-C", "1", *words)


def test_time_that_passes_without_a_broker_counts(capfd: pytest.CaptureFixture[str]) -> None:
    with BrokerThread(Config(port=0)) as b:
        ending = threading.Thread(target=lambda: eventually(lambda: b.statistics()["subscriptions/count"] == 1))
        ending.start()
        process = subprocess.Popen([*OURS, "sub", "-p", str(b.port), "-t", "t", "-W", "4"], stderr=subprocess.PIPE)
        ending.join()
        ends = subprocess.Popen(
            [*OURS, "sub", "-p", str(b.port), "-t", "t", "--no-reconnect"], stderr=subprocess.PIPE
        )
        assert eventually(lambda: b.statistics()["subscriptions/count"] == 2)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0 and b"connecting again" in err
    _, err = ends.communicate(timeout=60)
    assert ends.returncode == 1 and err == b"voicewire sub: the broker closed the connection\n"


def test_a_reader_that_has_enough_is_no_error(broker: Start) -> None:
    b = broker()
    pub(b, "-t", "t", "-r", "-m", "kept")
    command = f"{shlex.join([*OURS, 'sub', '-p', str(b.port), '-t', 't'])} | head -c 1"
    process = subprocess.Popen(command, shell=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert eventually(lambda: b.statistics()["subscriptions/count"] == 1)
    for _ in range(3):
        pub(b, "-t", "t", "-m", "more")
    assert process.communicate(timeout=60) == (b"k", b"")


async def test_a_will_and_a_kept_session_are_as_asked_for(broker: Start) -> None:
    from voicewire.mqtt.commands import client_options

    b = broker()
    with listening(b, "-t", "t", "-c", "-i", "ann", "-k", "77", "--will-topic", "w", "--will-payload", "gone",
                   "--will-qos", "2", "--will-retain") as mine:  # fmt: skip
        session = b.broker.sessions["ann"]
        assert session.will == Will("w", b"gone", 2, True) and not session.clean
        assert session.connection is not None and session.connection.keep_alive == 1.5 * 77  # type: ignore[attr-defined]
        async with Client(port=b.port) as watching:
            await watching.subscribe("w")
            mine.kill()
            assert (await watching.receive(20)).payload == b"gone"
    assert client_options.payload("\udcff\udc80") == b"\xff\x80"


# ---------------------------------------------------------------------- help, and nothing else needed
@pytest.mark.parametrize("program", [["-m", "voicewire"], ["-m", "voicewire.mqtt"]])
@pytest.mark.parametrize("command", ["broker", "pub", "sub"])
def test_help_fits_a_screen_and_its_example_works_as_pasted(
    command: str, program: list[str], tmp_path: Path
) -> None:
    """The script stands for the installed command; it adds nothing but a port that is free here."""
    run = subprocess.run(
        [sys.executable, *program, command, "--help"], capture_output=True, text=True, check=True,
        env={**os.environ, "COLUMNS": "80"},
    )  # fmt: skip
    lines = run.stdout.splitlines()
    assert len(lines) <= 40 and max(map(len, lines)) <= 80
    example = run.stdout.partition("Example:\n")[2]
    assert example.count("voicewire") >= 2
    python = shlex.join([sys.executable, *program])
    script = tmp_path / "voicewire"
    script.write_text(f'#!/bin/bash\nexec {python} "$1" -p {free_port()} "${{@:2}}"\n')
    script.chmod(0o755)
    run = subprocess.run(
        ["bash", "-c", example], capture_output=True, text=True, timeout=100, check=False,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )  # fmt: skip
    assert run.returncode == 0 and "voicewire " not in run.stderr, run.stderr
    assert run.stdout == {"broker": "open\n", "pub": "", "sub": "door open\n"}[command]


BARE = """
import importlib.abc, sys

class Nothing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in sys.stdlib_module_names | {{"voicewire"}}:
            raise ModuleNotFoundError(f"{{name}} is blocked", name=name)
sys.meta_path.insert(0, Nothing())
sys.argv = ["voicewire", *{words!r}]
import runpy
runpy.run_module({module!r}, run_name="__main__")
"""


@pytest.mark.parametrize("module", ["voicewire", "voicewire.mqtt"])
def test_the_commands_need_nothing_but_python(module: str, tmp_path: Path) -> None:
    """With every other package blocked: broker, pub and sub serve each other, with numbers and a file of passwords."""

    def run(*words: str) -> list[str]:
        return [sys.executable, "-c", BARE.format(words=words, module=module)]

    (tmp_path / "users").write_text("ann:a\n")
    port = str(free_port())
    with subprocess.Popen(run("broker", "-p", port, "--quiet", "--user-share", "0.5", "--password-file",
                              str(tmp_path / "users")), stderr=subprocess.PIPE) as serving:  # fmt: skip
        user = ["-p", port, "-u", "ann", "-P", "a"]

        def published() -> bool:
            words = ["pub", *user, "-t", "t", "-m", "x", "-r", "-q", "1", "--timeout", "5.5"]
            return subprocess.run(run(*words), capture_output=True, check=False).returncode == 0

        try:
            assert eventually(published)
            words = ["sub", *user, "-t", "t", "-C", "1", "-W", "20", "--format", "json"]
            done = subprocess.run(run(*words), capture_output=True, check=False)
            assert done.returncode == 0 and json.loads(done.stdout)["payload"] == "x", done.stderr
        finally:
            serving.terminate()
    blocked = subprocess.run([sys.executable, "-c", BARE.format(words=[], module="numpy")],
                             capture_output=True, text=True, check=False)  # fmt: skip
    assert blocked.returncode and "blocked" in blocked.stderr  # what blocks does


def test_the_broker_of_a_process_serves_stock_clients() -> None:
    with ours("--no-qos3") as broker, Client(port=broker.port) as client:
        assert client.subscribe("a") == (0,)


@pytest.mark.parametrize("words", [["pub", "-t", "a", "-m", "x", "-d"], ["sub", "-t", "a", "-F", "%p"],
                                   ["broker", "-v"], ["voip", "score", __file__, "--quiet"]])  # fmt: skip
def test_an_option_that_a_command_lacks_is_refused_by_that_command(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """So that the help it points to is the one that lists what there is."""
    with pytest.raises(SystemExit) as caught:
        main(words)
    name = "voicewire voip score" if words[0] == "voip" else f"voicewire {words[0]}"
    told = capsys.readouterr().err
    assert caught.value.code == 2 and told.startswith(f"{name}: unrecognized arguments: -")
    assert told.endswith(f"(see '{name} --help')\n") and told.count("\n") == 1
