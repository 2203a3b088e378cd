"""Roles for cipher objects: a part is sealed for a role, and an authority grants the role to people.

A role is an `Identity` like anybody's. A *grant* is itself a cipher object: its one part holds the role's private keys,
sealed for one member. Without a grant the role's parts stay closed, as to any stranger; that is cryptography's doing.
With it they open, and each of them names who granted what to whom. Objects need no change when people come.

Two limits are inherent. A grant's end binds programs that keep the rules: whoever once had the role's keys can keep
them. So to take a role from somebody, the authority makes new keys for it, and what is sealed from then on is safe.
Explained in ``notebooks/transport/03_tcp_against_mqtt.ipynb``.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from voicewire._kit._optional import Library
from voicewire.transport.secure_objects.icto import (
    Identity,
    NotPermittedError,
    PublicIdentity,
    Rule,
    inspect,
    open_object,
    seal,
)
from voicewire.transport.secure_objects.icto_format import IctoError

__all__ = ["assume", "grant"]

_ed25519 = Library("cryptography.hazmat.primitives.asymmetric.ed25519")
_x25519 = Library("cryptography.hazmat.primitives.asymmetric.x25519")

_PREFIX = "role "
"""Before the role's name in the name of the part, so that no other object is taken for a grant."""
_KEYS = 64


def grant(
    role: Identity,
    member: PublicIdentity,
    authority: Identity,
    *,
    until: int | None = None,
    since: int | None = None,
    created: int | None = None,
    random: Callable[[int], bytes] = os.urandom,
) -> bytes:
    """Grant a role to one person.

    Parameters
    ----------
    role : Identity
        The role, with its private keys.
    member : PublicIdentity
        Who gets it.
    authority : Identity
        Who grants, and signs.
    until : int, optional
        Last second in which it may be taken up, since 1970 UTC; None is no limit.
    since : int, optional
        First second in which it may be taken up; None is at once.
    created : int, optional
        Seconds since 1970 UTC; now if left out.
    random : callable
        Source of random bytes. Anything but the default is for known-answer tests.

    Returns
    -------
    bytes
        A cipher object for `assume`.

    Raises
    ------
    IctoError
        If a name or a time could be read in two ways.

    Examples
    --------
    >>> nurse, ann, ward = (Identity.create(name) for name in ("nurse", "ann", "ward"))
    >>> inspect(grant(nurse, ann.public, ward))["participants"]
    ['ann']
    """
    keys = role.sealing.private_bytes_raw() + role.signing.private_bytes_raw()
    part = _PREFIX + role.name
    rules = {part: Rule((member.name,), until, since)}
    return seal({part: keys}, rules, [member], authority, created=created, random=random)


def assume(granted: bytes, member: Identity, authority: PublicIdentity, *, now: float | None = None) -> Identity:
    """Take up a role that was granted.

    Parameters
    ----------
    granted : bytes
        What `grant` made.
    member : Identity
        Who takes it up.
    authority : PublicIdentity
        Who must have granted it.
    now : float, optional
        Time to hold against the grant's rule, in seconds since 1970 UTC; the clock's if left out.

    Returns
    -------
    Identity
        The role's; `open_object` takes it as the reader of what is sealed for the role.

    Raises
    ------
    NotAuthenticError
        If anybody else granted it, or a bit was changed.
    NotPermittedError, TooEarlyError, ExpiredError
        If it was granted to somebody else, has not begun, or is over.
    IctoError
        If the object is no grant.

    Examples
    --------
    >>> nurse, ann, ward = (Identity.create(name) for name in ("nurse", "ann", "ward"))
    >>> data = seal({"chart": b"37.2 C"}, {"chart": Rule(("nurse",))}, [nurse.public], ward)
    >>> open_object(data, assume(grant(nurse, ann.public, ward), ann, ward.public), ward.public)
    {'chart': b'37.2 C'}
    """
    parts = inspect(granted, authority)["parts"]
    assert isinstance(parts, list)
    names = [str(part["name"]) for part in parts]
    if len(names) != 1 or not names[0].startswith(_PREFIX) or parts[0]["bytes"] != _KEYS:
        raise IctoError("this object grants no role; look at it with 'inspect'")
    role = names[0].removeprefix(_PREFIX)
    try:
        keys = open_object(granted, member, authority, now=now)[names[0]]
    except NotPermittedError:
        raise NotPermittedError(f"the role {role!r} was not granted to {member.name}") from None
    kinds = _x25519.X25519PrivateKey, _ed25519.Ed25519PrivateKey
    return Identity(role, kinds[0].from_private_bytes(keys[:32]), kinds[1].from_private_bytes(keys[32:]))
