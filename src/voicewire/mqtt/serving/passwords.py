"""User names and their passwords: what the file says, and checking one without keeping the others waiting."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import re
from collections.abc import Callable, Container
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from voicewire.mqtt.config import ConfigError

__all__: list[str] = []  # the broker's inside: only this room's own modules use it

MOST_ROUNDS = 1_000_000
"""Of PBKDF2, for one password: about half a second. A file that asks for more is refused."""
_HEX = "(" + "|".join(f"[0-9a-f]{{{digits}}}" for digits in (32, 40, 56, 64, 96, 128)) + ")"
_BASE64 = "([A-Za-z0-9+/_-]{22}==|[A-Za-z0-9+/_-]{27}=|[A-Za-z0-9+/_-]{38}==|[A-Za-z0-9+/_-]{43}=" \
    "|[A-Za-z0-9+/_-]{64}|[A-Za-z0-9+/_-]{86}==)"
HASHED = re.compile(
    r"\s+\$|\{[\w.-]+\}|(argon2\w*|bcrypt\w*|crypt|md5|pbkdf2\w*|s?sha\d*([-_]\w+)?|scrypt)[$:]"  # known names
    r"|[\w.+-]+(:\d+)*\$(\w+=)?\d+([$:,]|$)"  # any name and a number of rounds: SCRAM-SHA-256$4096:
    r"|[!*]+(:|$)|x(:|$)"  # locked accounts
    rf"|(.*[^0-9a-f])?{_HEX}([:$]|$)|(md5|sha-?\d*){_HEX}$"  # digests, behind anything (realm:, *, 0x), or salted
    rf"|[a-z][\w.-]*[-$:=]{_BASE64}$",
    re.IGNORECASE,
)
"""What hashes of other programs look like: their names and rounds, and digests in hexadecimal digits or Base64."""
SLOW = 1000
"""Rounds from which on a password is not checked in the broker's own loop."""


@dataclass(frozen=True, slots=True)
class Secret:
    """What a password is compared with: itself (no salt), its SHA512 (0 rounds), or its PBKDF2."""

    wanted: bytes
    salt: bytes | None = None
    rounds: int = 0

    def check(self, password: bytes) -> bool:
        """Is it this password?"""
        if self.salt is None:
            given = password
        elif not self.rounds:
            given = hashlib.sha512(password + self.salt).digest()
        else:
            given = hashlib.pbkdf2_hmac("sha512", password, self.salt, self.rounds, len(self.wanted))
        return hmac.compare_digest(given, self.wanted)


def read_secret(text: str) -> Secret:
    """Read what stands behind a name in a password file."""
    if not text:
        raise ValueError("the password is empty")
    if HASHED.match(text):
        raise ValueError("this looks like another program's hash; if it is the password, mosquitto_passwd -U hashes it")
    if not text.startswith("$"):
        return Secret(text.encode())
    _, scheme, *parts = text.split("$")
    if scheme not in ("6", "7"):
        raise ValueError(f"a hash of the unknown scheme ${scheme[:20]}$ (known are $6$ and $7$, of mosquitto_passwd)")
    rounds = 0
    if scheme == "7" and parts:
        number, parts = parts[0], parts[1:]
        if not (number.isascii() and number.isdecimal() and len(number) < 10 and 1 <= int(number) <= MOST_ROUNDS):
            raise ValueError(f"{number[:20]!r} rounds of PBKDF2 (1 to {MOST_ROUNDS} are possible)")
        rounds = int(number)
    try:
        salt, wanted = (base64.b64decode(part, validate=True) for part in parts)
    except ValueError:
        raise ValueError(f"a damaged hash of scheme ${scheme}$: salt and hash in Base64 are expected") from None
    if not salt or len(wanted) != 64:
        raise ValueError(f"a damaged hash of scheme ${scheme}$: it has {len(wanted)} bytes, SHA512 has 64")
    return Secret(wanted, salt, rounds)


class Passwords:
    """User names and password hashes.

    One `name:hash` a line, the hash as `mosquitto_passwd` writes it (``$7$``: PBKDF2-SHA512, ``$6$``: salted
    SHA512); what looks like no hash at all is the password itself.
    """

    def __init__(self, path: Path | str) -> None:
        self._users: dict[str, Secret] = {}
        try:
            lines = Path(path).read_text(encoding="utf-8-sig").split("\n")
        except OSError as error:
            raise ConfigError(f"cannot read the password file {path}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise ConfigError(f"the password file {path} is no text in UTF-8") from None
        for i, line in enumerate(lines, 1):
            line = line.removesuffix("\r")
            if not line.strip() or line.startswith("#"):
                continue
            if line.lstrip().startswith("#"):
                raise ConfigError(f"{path}, line {i}: blanks before '#': a comment has it at the begin of its line")
            name, colon, secret = line.partition(":")
            if not colon or not name:
                raise ConfigError(f"{path}, line {i}: 'name:hash' expected")
            if name != name.strip():
                raise ConfigError(f"{path}, line {i}: blanks around the name {name[:40]!r}: take them away")
            if name in self._users:
                raise ConfigError(f"{path}, line {i}: {name[:40]!r} has a password already")
            try:
                self._users[name] = read_secret(secret)
            except ValueError as error:
                raise ConfigError(f"{path}, line {i}, of {name[:40]!r}: {error}") from None
        self.plain = any(secret.salt is None for secret in self._users.values())
        self._beside: ThreadPoolExecutor | None = None

    @property
    def names(self) -> Container[str]:
        """Whose passwords these are."""
        return self._users

    def check(self, user: str, password: bytes | None) -> bool:
        """Is `password` that of `user`?"""
        secret = self._users.get(user)
        return secret is not None and password is not None and secret.check(password)

    def prove(
        self, loop: asyncio.AbstractEventLoop, user: str, password: bytes | None, wanted: Callable[[], bool]
    ) -> bool | asyncio.Future[bool]:
        """Check a password: at once, or beside the loop if that takes long; then only if it is still `wanted`."""
        secret = self._users.get(user)
        if secret is None or secret.rounds < SLOW:
            return self.check(user, password)
        if self._beside is None:
            self._beside = ThreadPoolExecutor(1, "voicewire-passwords")
        return loop.run_in_executor(self._beside, lambda: wanted() and self.check(user, password))

    def close(self) -> None:
        """Check no more; the one that is being checked takes half a second at most."""
        if self._beside is not None:
            self._beside.shutdown(cancel_futures=True)
