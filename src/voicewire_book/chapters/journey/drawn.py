"""The exercise by hand of this chapter whose numbers each reader draws: see `voicewire_book.kit.drawn`."""

from __future__ import annotations

from voicewire_book.kit.drawn import Drawn, Exercise

__all__ = ["TEXT"]


def _text(size: int) -> Drawn:
    data, bare = -(-(size + 325 + 46) // 10), -(-(size + 46) // 10)
    whole = data + 5 + 15 + 15 + 48
    return Drawn(
        f"n = {size} bytes",
        whole / 100,
        (
            (data / 100, "these are the data alone: a session opens, is acknowledged, closes, and waits for six "
             "responses."),
            ((whole - data + bare) / 100, "the text is sealed and published too: 325 bytes more."),
            ((whole - 48) / 100, "both ends respond three times, 8 slots each."),
            ((whole - 30) / 100, "opening and closing take 15 slots each."),
        ),
        f"The message is {size} + 325 = {size + 325} bytes; with 40 of headers and 6 of framing that is {data} slots.\n"
        f"One ACK takes 5, opening and closing 15 each, six responses 48: {data} + 5 + 30 + 48 = {whole} slots.\n"
        f"At 10 ms a slot: {whole / 100:.2f} s.",
        unit="s",
        right=f"{data} slots of data in a session of {whole}: the text is there before the voice has said it.",
        tolerance=0.001,
    )  # fmt: skip


TEXT = Exercise("text", (17,), lambda rng: (int(rng.integers(8, 70)),), _text)
