"""Where no broker is, what is said is what was seen: nobody, silence, a closed door, or another protocol's words."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator

import pytest

from voicewire.cli import main
from voicewire.mqtt import Client, DisconnectedError


@contextlib.asynccontextmanager
async def answering(answer: bytes | None, closes: bool = False) -> AsyncIterator[int]:
    """A port whose server says this to whatever comes (None: nothing, ever), and perhaps closes the connection then."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        if answer is not None:
            writer.write(answer)
        with contextlib.suppress(asyncio.CancelledError):
            await reader.read(0 if closes else -1)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


@pytest.mark.parametrize("tls", [False, True])
async def test_silence_is_named_as_silence(tls: bool) -> None:
    context = ssl.create_default_context() if tls else None
    async with answering(None) as port:
        with pytest.raises(DisconnectedError) as caught:
            await Client(port=port, tls=context).connect(timeout=0.2)
    said = f"no TLS connection to 127.0.0.1:{port} within" if tls else f"127.0.0.1:{port} took the connection, but"
    assert str(caught.value).startswith(said) and str(caught.value).endswith("0.2 s")


@pytest.mark.parametrize("closes", [False, True])
@pytest.mark.parametrize("answer", [
    b"HTTP/1.1 400 Bad Request\r\n\r\n", b"SSH-2.0-OpenSSH_9.6\r\n", b"220 mail.example ESMTP\r\n",
    b"\x15\x03\x01\x00\x02\x02\x46", b"-ERR unknown command\r\n", b"AMQP\x00\x00\x09\x01",
])  # fmt: skip
async def test_another_protocol_is_shown_by_its_first_bytes(answer: bytes, closes: bool) -> None:
    """Whether its bytes break MQTT, or promise more that never comes."""
    async with answering(answer, closes) as port:
        with pytest.raises(DisconnectedError) as caught:
            await Client(port=port).connect(timeout=0.3)
    assert repr(answer[:16]) in str(caught.value)


async def test_without_tls_there_it_is_no_tls_connection() -> None:
    async with answering(b"HTTP/1.1 400 Bad Request\r\n\r\n") as port:
        with pytest.raises(DisconnectedError, match=r"^no TLS connection to .*: .*SSL"):
            await Client(port=port, tls=ssl.create_default_context()).connect(timeout=5)


@pytest.mark.parametrize("words", [["pub", "-m", "x", "--timeout", "0.3"], ["sub", "-W", "0.3"]])
def test_the_user_waits_no_longer_than_he_said(words: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:  # takes connections, and never answers
        assert main([words[0], "-p", str(server.getsockname()[1]), "-t", "a", *words[1:]]) == 1
    assert "no CONNACK came in 0.3 s" in capfd.readouterr().err
