"""The lab on CoAP in blocks in every state: the solution stage by stage, nothing, and each usual mistake."""

from __future__ import annotations

import asyncio
import random
import socket

import numpy as np
import pytest
from asking import check, of

from voicewire.transport.reference import block_option


def extended(number):
    if number < 13:
        return number, b""
    if number < 269:
        return 13, bytes([number - 13])
    return 14, (number - 269).to_bytes(2, "big")


def option(delta, value):
    (high, more), (low, longer) = extended(delta), extended(len(value))
    return bytes([16 * high + low]) + more + longer + value


def request(packet_id, token, path, block, part, code=3):
    options = b"".join(option(0 if i else 11, name.encode()) for i, name in enumerate(path)) + option(16, block)
    head = bytes([0x40 + len(token), code]) + packet_id.to_bytes(2, "big") + token
    return head + options + b"\xff" + part


def answer(data, marker=True, lengths=True):
    if len(data) < 4 or data[0] >> 4 != 6:
        return None
    packet_id, at, number, block = int.from_bytes(data[2:4], "big"), 4 + data[0] % 16, 0, None
    while at < len(data) and (data[at] != 0xFF or not marker):
        delta, size, at = data[at] >> 4, data[at] & 15, at + 1
        if delta == 13:
            delta, at = data[at] + 13, at + 1
        if size == 13 and lengths:
            size, at = data[at] + 13, at + 1
        number += delta
        if number == 27:
            block = data[at : at + size]
        at += size
    return packet_id, data[1], block


def following(number, size, block):
    smaller = 16 << (block[-1] & 7 if block else 0)
    return (number + 1) * size // smaller, smaller


def put(send, receive, path, body, most=5, first=2.5, doubled=2, same_id=True, ask=None, heeds=True):
    packet_id, number, size = 0, 0, 1024
    while True:
        part, more = body[number * size : (number + 1) * size], (number + 1) * size < len(body)
        wait, said, packet_id = first, None, packet_id + 1
        for attempt in range(most):
            packet_id += attempt and not same_id
            send(request(packet_id, b"\1", path, block_option(number, more, size), part))
            while data := receive(wait):
                said = answer(data)
                if said and said[0] == packet_id:
                    break
                said = None
            if said:
                break
            wait *= doubled
        if not said or (heeds and said[1] not in (0x5F, 0x44)):
            return False
        if not more:
            return said[1] == 0x44
        number, size = (ask or following)(number, size, said[2])


CHECKS = {stage: of(f"transport-coap-lab-{stage}") for stage in ("option", "request", "answer", "following", "client")}
STAGES = [
    ("option", option),
    ("request", request),
    ("answer", answer),
    ("following", following),
    ("client", put),
]


@pytest.mark.parametrize(("stage", "solution"), STAGES, ids=lambda x: getattr(x, "__name__", ""))
def test_the_solution_passes_stage_by_stage_and_nothing_is_not_answered(stage, solution):
    check = CHECKS[stage]
    assert check(solution), check(solution).message
    assert "not answered" in check(None).message
    assert not check(lambda *given: None)
    assert "ZeroDivisionError" in check(lambda *given: 1 / 0).message
    assert "function itself" in check(5).message


@pytest.mark.parametrize("form", [int, np.bool_])
def test_a_right_answer_in_another_form_is_taken(form):
    assert check("transport-coap-lab-client", lambda *given: form(put(*given)))
    assert check("transport-coap-lab-option", lambda *given: bytearray(option(*given)))
    assert check("transport-coap-lab-request", lambda *given: list(request(*given)))
    assert check("transport-coap-lab-following", lambda *given: list(following(*given)))


def no_deltas(packet_id, token, path, block, part):
    options = b"".join(option(11, name.encode()) for name in path) + option(27, block)
    return bytes([0x40 + len(token), 3]) + packet_id.to_bytes(2, "big") + token + options + b"\xff" + part


def in_other_order(delta, value):
    (high, more), (low, longer) = extended(delta), extended(len(value))
    return bytes([16 * high + low]) + longer + more + value


def one_further_byte(delta, value):
    """Takes 14 for one byte more, as 13."""
    if delta < 269 and len(value) < 269:
        return option(delta, value)
    return option(delta, value)[:1] + bytes([(delta - 269) % 256]) + value


@pytest.mark.parametrize(
    ("stage", "given", "hint"),
    [
        ("option", lambda delta, value: bytes([16 * min(delta, 15)]) + value, "the first byte is 0xb3"),
        ("option", in_other_order, "before those of the length"),
        ("option", one_further_byte, "14 for two"),
        ("request", no_deltas, "Block1 is option 27|one Uri-Path"),
        ("request", lambda i, t, path, b, part: request(i, t, path, b, part, code=2), "PUT is 3"),
        ("request", lambda i, t, path, b, part: request(i, t, path[:1], b, part), "one Uri-Path"),
        ("request", lambda i, t, p, b, part: request(i % 256 * 256 + i // 256, t, p, b, part), "higher first"),
        ("request", lambda i, t, path, b, part: request(i, b"", path, b, part), "token's length"),
        ("request", lambda i, t, p, b, part: request(i, t, p, b, part).replace(b"\xff", b"", 1), "aiocoap"),
        ("answer", lambda data: answer(data, marker=False), "behind 0xff is payload"),
        ("answer", lambda data: answer(bytes([0x60 + (data[0] & 15 if data else 0)]) + data[1:]), "is None"),
        ("answer", lambda data: answer(data, lengths=False), "of lengths, too"),
        ("answer", lambda data: (int.from_bytes(data[2:4], "big"), data[1], None), "is wanted"),
        ("following", lambda number, size, block: (number + 1, size), "go on with them"),
        ("following", lambda n, size, block: (n + 1, following(n, size, block)[1]), "numbers grow"),
        ("following", lambda n, size, block: (n, size), "the next is"),
        ("client", lambda *given: True, "the server has 0 of it"),
        ("client", lambda s, r, p, b: put(s, r, p, b, most=4), "after the fifth"),
        ("client", lambda s, r, p, b: put(s, r, p, b, most=9), "five times at most"),
        ("client", lambda s, r, p, b: put(s, r, p, b, first=1.0), "between 2 and 3 s"),
        ("client", lambda s, r, p, b: put(s, r, p, b, doubled=1), "twice as long"),
        ("client", lambda s, r, p, b: put(s, r, p, b, same_id=False), "after the fifth|the server has|same"),
        ("client", lambda s, r, p, b: put(s, r, p, b, ask=lambda n, z, block: (n + 1, z)), "ask stage 4"),
        ("client", lambda s, r, p, b: put(s, r, p, b) or None, "give up"),
        ("client", lambda s, r, p, b: put(s, r, p, b, heeds=False), "the server refused"),
    ],
)
def test_a_usual_mistake_fails_where_it_should_with_its_own_hint(stage, given, hint):
    feedback = CHECKS[stage](given)
    assert not feedback
    assert any(part in feedback.message for part in hint.split("|")), feedback.message


def test_the_last_stage_has_bodies_that_are_given_up_and_smaller_blocks():
    words = check("transport-coap-lab-client", put).message.split()
    assert 3 < int(words[words.index("bodies") - 1]) < 40
    assert int(words[words.index("refused,") - 1]) >= 3


def test_the_solution_puts_a_body_into_a_real_server():
    """The same functions, over loopback, into aiocoap's own server."""
    from aiocoap import CHANGED, Context, Message, resource

    taken = []

    class Store(resource.Resource):
        async def render_put(self, message):
            taken.append(message.payload)
            return Message(code=CHANGED)

    body = random.Random(4).randbytes(3000)

    async def served():
        site = resource.Site()
        site.add_resource(["ict", "object"], Store())
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        server = await Context.create_server_context(site, bind=("127.0.0.1", port), transports=["simplesocketserver"])
        try:
            return await asyncio.to_thread(talk, port)
        finally:
            await server.shutdown()

    def talk(port):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
            peer.connect(("127.0.0.1", port))

            def receive(seconds):
                peer.settimeout(seconds)
                try:
                    return peer.recv(2000)
                except TimeoutError:
                    return None

            return put(peer.send, receive, ["ict", "object"], body)

    assert asyncio.run(served()) is True
    assert taken == [body]
