"""The lab on CoAP in blocks in every state: the solution stage by stage, nothing, and each usual mistake."""

from __future__ import annotations

import asyncio
import random
import socket

import numpy as np
import pytest

from voicewire.transport.reference import block_option
from voicewire_book.chapters.transport import lab_coap as lab


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


STAGES = [
    (lab.check_option, option),
    (lab.check_request, request),
    (lab.check_answer, answer),
    (lab.check_following, following),
    (lab.check_client, put),
]


@pytest.mark.parametrize(("check", "solution"), STAGES, ids=lambda x: getattr(x, "__name__", ""))
def test_the_solution_passes_stage_by_stage_and_nothing_is_not_answered(check, solution):
    assert check(solution), check(solution).message
    assert "not answered" in check(None).message
    assert not check(lambda *given: None)
    assert "ZeroDivisionError" in check(lambda *given: 1 / 0).message
    assert "function itself" in check(5).message


@pytest.mark.parametrize("form", [int, np.bool_])
def test_a_right_answer_in_another_form_is_taken(form):
    assert lab.check_client(lambda *given: form(put(*given)))
    assert lab.check_option(lambda *given: bytearray(option(*given)))
    assert lab.check_request(lambda *given: list(request(*given)))
    assert lab.check_following(lambda *given: list(following(*given)))


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
    ("check", "given", "hint"),
    [
        (lab.check_option, lambda delta, value: bytes([16 * min(delta, 15)]) + value, "the first byte is 0xb3"),
        (lab.check_option, in_other_order, "before those of the length"),
        (lab.check_option, one_further_byte, "14 for two"),
        (lab.check_request, no_deltas, "Block1 is option 27|one Uri-Path"),
        (lab.check_request, lambda i, t, path, b, part: request(i, t, path, b, part, code=2), "PUT is 3"),
        (lab.check_request, lambda i, t, path, b, part: request(i, t, path[:1], b, part), "one Uri-Path"),
        (lab.check_request, lambda i, t, p, b, part: request(i % 256 * 256 + i // 256, t, p, b, part), "higher first"),
        (lab.check_request, lambda i, t, path, b, part: request(i, b"", path, b, part), "token's length"),
        (lab.check_request, lambda i, t, p, b, part: request(i, t, p, b, part).replace(b"\xff", b"", 1), "aiocoap"),
        (lab.check_answer, lambda data: answer(data, marker=False), "behind 0xff is payload"),
        (lab.check_answer, lambda data: answer(bytes([0x60 + (data[0] & 15 if data else 0)]) + data[1:]), "is None"),
        (lab.check_answer, lambda data: answer(data, lengths=False), "of lengths, too"),
        (lab.check_answer, lambda data: (int.from_bytes(data[2:4], "big"), data[1], None), "is wanted"),
        (lab.check_following, lambda number, size, block: (number + 1, size), "go on with them"),
        (lab.check_following, lambda n, size, block: (n + 1, following(n, size, block)[1]), "numbers grow"),
        (lab.check_following, lambda n, size, block: (n, size), "the next is"),
        (lab.check_client, lambda *given: True, "the server has 0 of it"),
        (lab.check_client, lambda s, r, p, b: put(s, r, p, b, most=4), "after the fifth"),
        (lab.check_client, lambda s, r, p, b: put(s, r, p, b, most=9), "five times at most"),
        (lab.check_client, lambda s, r, p, b: put(s, r, p, b, first=1.0), "between 2 and 3 s"),
        (lab.check_client, lambda s, r, p, b: put(s, r, p, b, doubled=1), "twice as long"),
        (lab.check_client, lambda s, r, p, b: put(s, r, p, b, same_id=False), "after the fifth|the server has|same"),
        (lab.check_client, lambda s, r, p, b: put(s, r, p, b, ask=lambda n, z, block: (n + 1, z)), "ask stage 4"),
        (lab.check_client, lambda s, r, p, b: put(s, r, p, b) or None, "give up"),
        (lab.check_client, lambda s, r, p, b: put(s, r, p, b, heeds=False), "the server refused"),
    ],
)
def test_a_usual_mistake_fails_where_it_should_with_its_own_hint(check, given, hint):
    feedback = check(given)
    assert not feedback
    assert any(part in feedback.message for part in hint.split("|")), feedback.message


def test_the_last_stage_has_bodies_that_are_given_up_and_smaller_blocks():
    words = lab.check_client(put).message.split()
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
