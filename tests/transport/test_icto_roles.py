"""Roles: whoever was granted one opens what is sealed for it, and nobody else; core RBAC (ANSI INCITS 359) over all."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicewire.transport.secure_objects.icto import (
    ExpiredError,
    Identity,
    NotAuthenticError,
    NotPermittedError,
    Rule,
    open_object,
    seal,
)
from voicewire.transport.secure_objects.icto_format import IctoError
from voicewire.transport.secure_objects.icto_roles import assume, grant

OWNER, WARD, ANN, BOB = (Identity.create(name) for name in ("owner", "ward", "ann", "bob"))
USERS = [ANN, BOB]
ROLES = [Identity.create(name) for name in ("nurse", "clerk", "doctor")]
NURSE = ROLES[0]
NOW = 1_800_000_000
CHART = seal({"chart": b"37.2"}, {"chart": Rule(("nurse",))}, [NURSE.public], OWNER)


def test_a_role_opens_and_its_absence_does_not() -> None:
    role = assume(grant(NURSE, ANN.public, WARD), ANN, WARD.public)
    assert role.name == "nurse" and role.public == NURSE.public
    assert open_object(CHART, role, OWNER.public) == {"chart": b"37.2"}
    with pytest.raises(NotPermittedError, match="ann takes no part"):
        open_object(CHART, ANN, OWNER.public)
    with pytest.raises(NotPermittedError, match="'nurse' was not granted to bob"):
        assume(grant(NURSE, ANN.public, WARD), BOB, WARD.public)


def test_a_name_is_not_a_role() -> None:
    """Keys count: somebody who calls himself as the role does has none of its keys."""
    with pytest.raises(NotPermittedError):
        open_object(CHART, Identity.create("nurse"), OWNER.public)
    with pytest.raises(NotAuthenticError, match="not sealed by ward"):
        assume(grant(NURSE, ANN.public, BOB), ANN, WARD.public)


@settings(max_examples=25, deadline=None)
@given(
    st.sets(st.sampled_from(list(product(range(len(USERS)), range(len(ROLES)))))),
    st.sets(st.sampled_from(list(product(range(len(ROLES)), "abc"))), min_size=1),
)
def test_a_user_opens_exactly_what_the_roles_of_the_user_may(
    assigned: set[tuple[int, int]], permitted: set[tuple[int, str]]
) -> None:
    parts = sorted({part for _, part in permitted})
    rules = {p: Rule(tuple(ROLES[r].name for r, part in sorted(permitted) if part == p)) for p in parts}
    data = seal(dict.fromkeys(parts, b"x"), rules, [role.public for role in ROLES], OWNER)
    for number, user in enumerate(USERS):
        opened = set()
        for r in (r for u, r in assigned if u == number):
            role = assume(grant(ROLES[r], user.public, WARD), user, WARD.public)
            try:
                opened |= set(open_object(data, role, OWNER.public))
            except NotPermittedError:
                continue
        assert opened == {part for r, part in permitted if (number, r) in assigned}


def test_a_grant_ends_and_changed_ones_are_refused() -> None:
    granted = grant(NURSE, ANN.public, WARD, until=NOW, created=NOW - 100)
    assert assume(granted, ANN, WARD.public, now=NOW).public == NURSE.public
    with pytest.raises(ExpiredError):
        assume(granted, ANN, WARD.public, now=NOW + 1)
    for at in range(0, len(granted), 7):
        changed = granted[:at] + bytes([granted[at] ^ 1]) + granted[at + 1 :]
        with pytest.raises(IctoError):
            assume(changed, ANN, WARD.public, now=NOW)


@pytest.mark.parametrize(
    "parts",
    [{"chart": bytes(64)}, {"role nurse": bytes(63)}, {"role nurse": bytes(64), "role clerk": bytes(64)}],
)
def test_another_object_is_no_grant(parts: dict[str, bytes]) -> None:
    data = seal(parts, {name: Rule(("ann",)) for name in parts}, [ANN.public], WARD)
    with pytest.raises(IctoError, match="grants no role"):
        assume(data, ANN, WARD.public)


def test_an_authority_takes_a_role_away_with_new_keys() -> None:
    """The limit that the module names: what was sealed for the old keys stays open to who had them."""
    old = assume(grant(NURSE, ANN.public, WARD), ANN, WARD.public)
    renewed = Identity.create("nurse")
    after = seal({"chart": b"36.6"}, {"chart": Rule(("nurse",))}, [renewed.public], OWNER)
    assert open_object(CHART, old, OWNER.public)
    with pytest.raises(NotPermittedError):
        open_object(after, old, OWNER.public)
