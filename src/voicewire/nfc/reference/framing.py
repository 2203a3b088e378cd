"""The division behind a CRC, to read (ISO/IEC 14443-3).

Notebook 2 is woven from this; `nfc.framing` holds what uses it.
"""

from __future__ import annotations

__all__ = ["divided"]


def divided(data: bytes, register: int) -> int:
    """Divide by x^16 + x^12 + x^5 + 1, the lowest bit of a byte first."""
    for byte in data:
        register ^= byte
        for _ in range(8):
            odd = register & 1
            register >>= 1
            register ^= 0x8408 if odd else 0
    return register
