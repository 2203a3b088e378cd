"""What a broker may be told: limits, users, access rules, and where from (a TOML file or Python)."""

from __future__ import annotations

import ipaddress
import math
import re
import tomllib
from collections.abc import Container
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from voicewire.mqtt.errors import MalformedError, MQTTError
from voicewire.mqtt.packets import MAX_REMAINING, WAIT_FOR_ALL
from voicewire.mqtt.topics import FOREIGN, check_filter, matches

__all__ = ["Access", "Config", "ConfigError", "Limits", "load"]


class ConfigError(ValueError):
    """The configuration of a broker is wrong; the message says where.

    Examples
    --------
    >>> issubclass(ConfigError, ValueError)
    True
    """


@dataclass(frozen=True, slots=True)
class Limits:
    """What one client, one user and all together may cost, and what happens beyond it.

    Parameters
    ----------
    max_packet : int
        Largest Remaining Length in bytes; a larger packet closes the connection.
    max_partial_bytes : int
        Bytes received of packets that are not complete yet, of all connections; beyond it whoever holds most is closed.
    packet_timeout, min_rate : float
        A packet is complete `packet_timeout` seconds after its first byte, or its bytes come at `min_rate` bytes a
        second from then on; else its connection is closed. Time in which the broker does not read does not count,
        but of time in which the client does not read what waits for it, only ``out_hard / min_rate`` seconds.
    max_connections : int
        Further clients get CONNACK 3.
    max_sessions : int
        Sessions kept for when their clients are away; further ones get CONNACK 3.
    user_share : float
        The part of `max_connections`, `max_sessions`, `max_waiting_bytes`, `max_partial_bytes`, `max_retained` and
        `max_retained_bytes` that one user may have, where there is a password file. All clients without a user name
        are one user there; without a password file nobody's name is proven, and all are one user, who may have
        everything. Clients whose CONNECT is not complete yet are one user, too, of `max_partial_bytes`. Where the
        number of users times this share is at most 1, no user can be refused anything because of others.
    max_client_id : int
        Bytes of a client id; a longer one gets CONNACK 2.
    max_inflight : int
        QoS 1-3 messages on the way to one client; more wait in its queue.
    max_queued : int
        Messages that wait for one client; more are dropped and counted.
    max_queued_bytes : int
        The same in bytes of topic and payload, in-flight ones included.
    max_waiting_bytes : int
        Bytes of all messages that are in flight or wait for all clients, in memory and in the store; more are dropped
        and counted. Each counts for 300 bytes beside its topic and payload, and for each client that is to get it,
        unless that is 1500 bytes or more: then it counts once, and for 100 bytes with each further client. A packet id
        that waits for its PUBREL counts for 100 bytes. What waits to be written at QoS 0 may be a quarter. The last
        eighth is kept for those who hold little: an equal part for each session.
    max_filters : int
        Topic filters in one SUBSCRIBE or UNSUBSCRIBE; more close the connection.
    max_subscriptions : int
        For each client; further ones get 0x80.
    max_subscription_bytes : int
        The same in bytes of their filters.
    max_retained, max_retained_bytes : int
        Retained messages of the broker, and their bytes of topic and payload; what is beyond is not retained.
    max_route_bytes : int
        Memory for remembered routes (which topic goes to whom); all are forgotten when it is used up.
    max_holds : int
        Messages of one publisher that wait for subscribers; more close the connection.
    max_named : int
        Client ids that one QoS 3 PUBLISH may name; more close the connection.
    max_report : int
        Bytes of ids and answers in one report; what is beyond counts, but is not listed, and the report says so.
    out_high, out_low, out_hard : int
        Bytes waiting to be written to one client: publishers who feed it are held back above `out_high` until
        it falls below `out_low`; above `out_hard` QoS 0 messages for it are dropped.
    stall : float
        Seconds that one client may hold back publishers without reading a byte.
    max_hold_back : float
        Seconds that one client may hold back publishers at a stretch, however it reads.
    connect_timeout : float
        Seconds from the network connection to the last byte of CONNECT.
    hold_timeout : float
        Seconds until an E-MQTT publisher who asked for a report gets one, complete or not.

    Raises
    ------
    ConfigError
        If a limit is not a number, or the broker could not work with it.

    Examples
    --------
    >>> Limits(max_connections=20).max_connections
    20
    """

    max_packet: int = 16 * 2**20
    max_partial_bytes: int = 256 * 2**20
    packet_timeout: float = 30.0
    min_rate: float = 4096.0
    max_connections: int = 10_000
    max_sessions: int = 100_000
    user_share: float = 0.25
    max_client_id: int = 1024
    max_inflight: int = 1000
    max_queued: int = 10_000
    max_queued_bytes: int = 64 * 2**20
    max_waiting_bytes: int = 2**30
    max_filters: int = 20_000
    max_subscriptions: int = 10_000
    max_subscription_bytes: int = 2**20
    max_retained: int = 100_000
    max_retained_bytes: int = 256 * 2**20
    max_route_bytes: int = 16 * 2**20
    max_holds: int = 1000
    max_named: int = 4096
    max_report: int = 2**20
    out_high: int = 2**20
    out_low: int = 2**18
    out_hard: int = 8 * 2**20
    stall: float = 1.0
    max_hold_back: float = 5.0
    connect_timeout: float = 10.0
    hold_timeout: float = 30.0

    def __post_init__(self) -> None:
        for f in fields(self):
            value, whole = getattr(self, f.name), f.type == "int"
            number = isinstance(value, int) or (not whole and isinstance(value, float) and math.isfinite(value))
            least, most, why = _POSSIBLE.get(f.name, (0 if whole else 1e-3, math.inf, ""))
            if isinstance(value, bool) or not number or not least <= value <= most:
                words = f"{'a whole number' if whole else 'a number'} from {least:g} "
                words += f"to {most}" if most < math.inf else "up"
                raise ConfigError(f"limits: {f.name} = {value!r} is not {words}{why}")
        if not self.out_low <= self.out_high <= self.out_hard:
            raise ConfigError("limits: out_low may not be above out_high, nor that above out_hard")
        if self.max_packet + MAX_HEADER > self.user_share * self.max_partial_bytes:
            raise ConfigError(
                f"limits: a packet of max_packet = {self.max_packet} bytes could never be complete: it and its header "
                f"must fit into user_share * max_partial_bytes = {self.user_share * self.max_partial_bytes:.0f}"
            )


MAX_HEADER = 5
"""Bytes of the longest fixed header."""
_POSSIBLE: dict[str, tuple[float, float, str]] = {
    "max_packet": (1, MAX_REMAINING, ""),
    "max_connections": (1, math.inf, ""),
    "user_share": (1e-6, 1, ""),
    "max_client_id": (1, 65535, ""),
    "max_inflight": (1, 65535, " (there are no more packet ids)"),
    "max_filters": (1, math.inf, ""),
    "max_named": (1, WAIT_FOR_ALL - 1, ""),
    "max_report": (0, 2**21, " (it lists at most 65535 ids)"),
    "out_low": (1, math.inf, ""),
}
"""Least and greatest value of a limit where it is not just a number from 0 (of bytes, things) or 0.001 (seconds) up."""


@dataclass(frozen=True, slots=True)
class Access:
    """One access rule.

    Parameters
    ----------
    topic : str
        Topic filter; ``%u`` and ``%c`` stand for the user name and the client id.
    user : str
        User name, ``*`` for everyone, empty for anonymous clients.
    allow : {"read", "write", "readwrite", "none"}
        ``none`` forbids and wins over every other rule.

    Examples
    --------
    >>> Access("home/#", user="anna", allow="read").allow
    'read'
    """

    topic: str
    user: str = "*"
    allow: str = "readwrite"

    def __post_init__(self) -> None:
        if self.allow not in ("read", "write", "readwrite", "none"):
            raise ConfigError(f"access: allow = {self.allow!r}; read, write, readwrite or none are possible")
        check_filter(self.topic)
        for mark in PLACEHOLDERS.findall(self.topic):
            if mark not in ("%u", "%c"):
                raise ConfigError(f"access: {mark!r} in a topic is not supported: %u is the user, %c the client id")
        if self.topic.split("/")[0] in FOREIGN:
            raise ConfigError(f"access: topic = {self.topic!r:.60} is not supported: MQTT 3.1.1 has no shared ones")
        if PLACEHOLDERS.search(self.user):
            raise ConfigError(
                f"access: user = {self.user!r:.60} is not supported: give one name, '*' for everyone, '' for anonymous"
            )

    @property
    def by_name(self) -> bool:
        """Does it depend on the user name, which only a password proves?"""
        return self.user != "*" or "%u" in self.topic


PLACEHOLDERS = re.compile(r"\$?\{+[\w.-]+\}+|%[A-Za-z]+")
"""What stands for a name in the rules of this broker and of others."""


def _levels(pattern: str) -> list[str]:
    """The levels of a filter; a topic has at least one, so ``#`` alone is ``+/#``."""
    return ["+", "#"] if pattern == "#" else pattern.split("/")


def covers(rule: str, pattern: str) -> bool:
    """Is every topic that `pattern` matches also matched by `rule`?"""
    if pattern.startswith("$") and rule[:1] in "+#":
        return False
    outer, inner = _levels(rule), _levels(pattern)
    for i, level in enumerate(outer):
        if level == "#":
            return True
        if i >= len(inner) or inner[i] == "#" or (level != "+" and level != inner[i]):
            return False
    return len(outer) == len(inner)


MARKS = re.compile("%[uc]")
"""What stands for the user name and the client id in the topic of a rule."""
REMEMBERED = 16384
"""Bytes for a client's remembered permissions to write."""


class Permissions:
    """What one client may read and write, from the rules that concern it; answers are remembered."""

    __slots__ = ("_denied", "_known", "_read", "_room", "_write")

    def __init__(self, rules: tuple[Access, ...], user: str | None, client_id: str) -> None:
        names = {"%u": user or "", "%c": client_id}

        def filled(text: str) -> str | None:
            values = [names[mark] for mark in MARKS.findall(text)]
            if not all(values) or any(c in value for value in values for c in "+#/"):
                return None  # a name with a wildcard must not widen its owner's rights
            return MARKS.sub(lambda mark: names[mark[0]], text)  # once: a name with a mark in it stays as it is

        mine = [(filled(r.topic), r.allow) for r in rules if r.user in ("*", user or "")]
        self._denied = [t for t, allow in mine if t and allow == "none"]
        self._read = [t for t, allow in mine if t and allow.startswith("read")]
        self._write = [t for t, allow in mine if t and allow.endswith("write")]
        self._known: dict[str, bool] = {}
        self._room = REMEMBERED

    def may_write(self, topic: str) -> bool:
        """May the client publish to `topic`?"""
        known = self._known.get(topic)
        if known is None:
            self._room -= 100 + len(topic)
            if self._room < 0:
                self._known.clear()
                self._room = REMEMBERED
            known = self._allowed(self._write, topic)
            if self._room > 100 + len(topic):
                self._known[topic] = known
        return known

    def may_read(self, topic: str) -> bool:
        """May the client be sent a message on `topic`?"""
        return self._allowed(self._read, topic)

    def may_subscribe(self, pattern: str) -> bool:
        """May the client subscribe to `pattern` (it must lie wholly within one rule)?"""
        return any(covers(r, pattern) for r in self._read) and not any(covers(r, pattern) for r in self._denied)

    def _allowed(self, rules: list[str], topic: str) -> bool:
        return any(matches(r, topic) for r in rules) and not any(matches(r, topic) for r in self._denied)


class _Everything(Permissions):
    """Where there are no rules at all."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__((), None, "")

    def may_write(self, topic: str) -> bool:
        return True

    def may_read(self, topic: str) -> bool:
        return True

    def may_subscribe(self, pattern: str) -> bool:
        return True


EVERYTHING = _Everything()


def permissions(rules: tuple[Access, ...], user: str | None, client_id: str) -> Permissions:
    """Return what a client may read and write: everything where there are no rules."""
    return Permissions(rules, user, client_id) if rules else EVERYTHING


@dataclass(slots=True)
class Config:
    """Everything a broker may be told.

    Parameters
    ----------
    host, port : str, int
        Where to listen; port 0 takes a free one.
    deny_subscribe : tuple of str
        Topic filters that SUBSCRIBE is refused for (0x80): exactly these, not what else matches the same topics.
        Who may read a topic is said by `access`.
    access : tuple of Access
        Access rules; none: everything is allowed.
    password_file : Path, optional
        User names and hashes; without it everyone is let in. With it a session belongs to the user who began it:
        nobody else may take it over or end it (CONNACK 2).
    allow_anonymous : bool
        Let clients without user name in although there is a password file. False needs one; None, the default, is
        False where there is one.
    tls_cert, tls_key : Path, optional
        PEM files; the key may be in the same file.
    persist : Path, optional
        SQLite file in which sessions outlive the broker.
    qos3 : bool
        Speak E-MQTT with clients that ask for it; False makes the broker a strict MQTT 3.1.1 server.
    favours : bool
        Serve a message whose publisher waits before others: its first copies are written early, its answer before
        what waits for others, and a PUBREL to a subscriber up to 5 ms late. False: everything in turn, PUBREL at
        once, as the paper on E-MQTT has it.
    sys_interval : float
        Seconds between statistics under ``$SYS``; 0: none.
    limits : Limits
        What one client may cost.

    Examples
    --------
    >>> Config(port=0).host
    '127.0.0.1'
    """

    host: str = "127.0.0.1"
    port: int = 1883
    deny_subscribe: tuple[str, ...] = ()
    access: tuple[Access, ...] = ()
    password_file: Path | None = None
    allow_anonymous: bool | None = None
    tls_cert: Path | None = None
    tls_key: Path | None = None
    persist: Path | None = None
    qos3: bool = True
    favours: bool = True
    sys_interval: float = 10.0
    limits: Limits = field(default_factory=Limits)
    _source: tuple[str, str] | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.host, str):
            raise ConfigError(f"host = {self.host!r:.90} is not text")
        check_host(self.host)
        if isinstance(self.port, bool) or not isinstance(self.port, int) or not 0 <= self.port <= 65535:
            raise ConfigError(f"port = {self.port!r} is not a port (0 to 65535)")
        number = isinstance(self.sys_interval, int | float) and not isinstance(self.sys_interval, bool)
        if not number or not 0 <= self.sys_interval < 1e9:
            raise ConfigError(f"sys_interval = {self.sys_interval!r} is not a number of seconds (0: no statistics)")

    @property
    def open_to_strangers(self) -> bool:
        """May whoever reaches the port from another machine read and write everything?"""
        if self.password_file and not self.allow_anonymous:
            return False
        if self.access and (self.password_file or not any(rule.by_name for rule in self.access)):
            mine = [rule for rule in self.access if rule.user in ("*", "")]
            denied = any(rule.allow == "none" for rule in mine)
            if denied or not any(rule.topic == "#" and rule.allow == "readwrite" for rule in mine):
                return False
        try:
            return not ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host != "localhost"

    def check_users(self, names: Container[str] | None) -> None:
        """Refuse rules that would protect nothing.

        Parameters
        ----------
        names : container of str or None
            Those in the password file; None without one.

        Raises
        ------
        ConfigError
            For a rule that needs a password file, or a name that is not in it; the line is named.
        """
        for i, rule in enumerate(self.access):
            at = ("access", i, "user" if rule.user != "*" else "topic")
            if names is None and rule.by_name:
                what = f"user = {rule.user!r:.60}" if rule.user != "*" else f"%u in topic = {rule.topic!r:.60}"
                list_too = LIST if "," in rule.user else ""
                self._refuse(at, f"access: {what} protects nothing without a password file, as anyone may give any "
                             f"name: give one (password_file){list_too}")  # fmt: skip
            if names is not None and rule.user not in ("", "*") and rule.user not in names:
                why = LIST if "," in rule.user else "; add the name there, or correct it here"
                where = f"is not in the password file {self.password_file}"
                self._refuse(at, f"access: user = {rule.user!r:.60} {where}{why}")
        if names is None and self.allow_anonymous is False:
            self._refuse(("allow_anonymous",), "allow_anonymous = false protects nothing without a password file, as "
                         "no name is proven and everyone is let in: give one (password_file)")  # fmt: skip

    def _refuse(self, keys: tuple[str | int, ...], message: str) -> None:
        if self._source is None:
            raise ConfigError(message)
        path, text = self._source
        line = _line(text, keys)
        raise ConfigError(f"{path}, line {line}: {message}" if line else f"{path}: {message}")


LIST = "; a list of users is not supported: write a rule for each"
"""Added where a name that is not known has a comma."""


def check_host(host: str) -> None:
    """Refuse what is neither a host name nor an address, and would fail later, or with no clear reason."""
    try:
        if ":" in host:
            ipaddress.IPv6Address(host)
        host.encode("idna")
    except UnicodeError:
        raise ConfigError(
            f"host = {host!r:.90} is no host name: a part between dots is empty, longer than 63, or not possible in one"
        ) from None
    except ValueError:
        raise ConfigError(
            f"host = {host!r:.90} is no host name or address: give it alone, without brackets, the port by itself"
        ) from None
    if host and not all(c.isprintable() and c not in " /[]" for c in host):
        raise ConfigError(f"host = {host!r:.90} is no host name or address")


def load(path: Path | str) -> Config:
    """Read a TOML file whose keys are the fields of :class:`Config`, with tables `limits` and `access`.

    Parameters
    ----------
    path : Path or str
        The file. Paths in it are relative to its folder.

    Returns
    -------
    Config
        What it says; defaults elsewhere.

    Raises
    ------
    ConfigError
        If the file cannot be read, or a key or value is not known.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "broker.toml"
    ...     _ = path.write_text("port = 0\\n[limits]\\nuser_share = 0.1\\n")
    ...     load(path).limits.user_share
    0.1
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
        data = tomllib.loads(text)
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is no text in UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        last = f"at line {len(text.splitlines())}, the last"
        raise ConfigError(f"{path}: {str(error).replace('at end of document', last)}") from None
    try:
        config = _config(data, Path(path).parent)
        config._source = str(path), text
        return config
    except _WrongKeyError as error:
        line = _line(text, error.keys)
        raise ConfigError(f"{path}, line {line}: {error}" if line else f"{path}: {error}") from None


class _WrongKeyError(ConfigError):
    """A key or its value is wrong; `keys` lead to it, from the top of the file."""

    def __init__(self, keys: tuple[str | int, ...], message: str) -> None:
        self.keys = keys
        super().__init__(message)


def _config(data: dict[str, Any], folder: Path) -> Config:
    for key, (kind, words) in _SHAPES.items():
        value = data.get(key, kind())
        if not isinstance(value, kind) or (key == "access" and not all(isinstance(rule, dict) for rule in value)):
            raise _WrongKeyError((key,), f"{key} = {value!r:.40} is not {words}")
    rules = [_make(Access, "access", rule, ("access", i)) for i, rule in enumerate(data.pop("access", []))]
    limits = _make(Limits, "limits", data.pop("limits", {}), ("limits",))
    for key in ("password_file", "tls_cert", "tls_key", "persist"):
        if key in data:
            data[key] = folder / data[key]
    denied = data["deny_subscribe"] = tuple(data.get("deny_subscribe", ()))
    for topic in denied:
        try:
            if not isinstance(topic, str):
                raise MalformedError("each of the topic filters is a text")
            check_filter(topic)
        except MalformedError as error:
            raise _WrongKeyError(("deny_subscribe",), f"deny_subscribe: {error}") from None
    config: Config = _make(Config, "the broker", data, ())
    config.limits, config.access = limits, tuple(rules)
    return config


_SHAPES: dict[str, tuple[type[Any], str]] = {
    "access": (list, "a list of tables, [[access]]"),
    "limits": (dict, "a table, [limits]"),
    "deny_subscribe": (list, "a list of topic filters"),
    **dict.fromkeys(("password_file", "tls_cert", "tls_key", "persist"), (str, "a path")),
}
"""What the keys that are no plain fields of `Config` hold."""


def _make(kind: type[Any], where: str, values: dict[str, Any], at: tuple[str | int, ...]) -> Any:
    """Make what a table of the file describes, or say which of its keys is wrong."""
    known = {f.name: f for f in fields(kind) if f.init}
    for key, value in values.items():
        if key not in known:
            message = f"{where}: unknown key {key!r}; known are {', '.join(sorted(known))}"
            raise _WrongKeyError((*at, key), message)
        wanted = {"str": str, "bool": bool, "bool | None": bool}.get(str(known[key].type))
        if wanted is not None and not isinstance(value, wanted):
            words = "text" if wanted is str else "true or false"
            raise _WrongKeyError((*at, key), f"{where}: {key} = {value!r} is not {words}")
    needed = {"topic": "#"} if kind is Access else {}
    if not needed.keys() <= values.keys():
        raise _WrongKeyError(at, f"{where}: a rule needs a topic")
    try:
        return kind(**values)
    except (ConfigError, MQTTError) as error:
        said = str(error)
    place = at
    for key, value in values.items():  # the one that is wrong by itself, if it is not two that do not fit together
        try:
            kind(**needed | {key: value})
        except (ConfigError, MQTTError) as error:
            place = (*at, key) if str(error) == said else place
    raise _WrongKeyError(place, said if said.startswith(where) else f"{where}: {said}")


MOST_LINES = 2000
"""Of a file whose wrong line is looked for: the text is read again several times."""


def _line(text: str, keys: tuple[str | int, ...]) -> int | None:
    """Find the line at which a key is first there; tomllib does not tell."""
    lines = text.split("\n")
    if not keys or len(lines) > MOST_LINES:
        return None
    low, high = 0, len(lines)  # it is there in the first `high` lines, and not in the first `low`
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _there(lines, middle, keys) else (middle, high)
    return high


def _there(lines: list[str], count: int, keys: tuple[str | int, ...]) -> bool:
    """Is the key in the first `count` lines, and as many more as end a value that they begin?"""
    for end in range(count, len(lines) + 1):
        try:
            found: Any = tomllib.loads("\n".join(lines[:end]))
        except tomllib.TOMLDecodeError:
            continue
        for key in keys:
            if key not in (range(len(found)) if isinstance(key, int) else found):
                return False
            found = found[key]
        return True
    return True
