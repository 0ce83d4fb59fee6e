"""`Person`, which opinions each person may answer, and which are still unanswered. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from policy.model import Caller, Reason, Terms
from policy.values import normal_form, without_invisible

# Returns the groups that a person belongs to now.
GroupsOf: TypeAlias = Callable[[str], tuple[str, ...]]

_ANYBODY = Terms()


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A person who answers: a stable identity, and the groups it belongs to.

    `agent` and `session` are set if the answer came from an agent or from within a session: no
    agent may approve, and nobody from within the session that asks. `listed` is set if the groups
    are those of `[approvals.groups]`, which may change after the answer.
    """

    id: str
    groups: tuple[str, ...] = ()
    agent: str | None = None
    session: str | None = None
    listed: bool = field(default=False, metadata={"stored": "if set"})

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", as_tuple(self.groups))


def as_tuple(given: Any) -> Any:
    """Return a list or set as a tuple; anything else as it is."""
    return tuple(given) if isinstance(given, (list, set, frozenset)) else given


def as_of_now(people: Iterable[Person], groups_of: GroupsOf) -> tuple[Person, ...]:
    """Return the people with the groups that they belong to now, where a configuration lists them.

    An answer counts only as long as its person is in the group that it was given for.
    """
    return tuple(
        replace(person, groups=groups_of(person.id)) if person.listed else person
        for person in people
    )


def entitled(people: Iterable[Person], caller: Caller) -> tuple[Person, ...]:
    """Return the people who may approve for this caller at all, each identity once.

    No agent may, and nobody from within a session of the caller's own chain.
    """
    found = {identity(person): person for person in people if not why_not_entitled(person, caller)}
    return tuple(found.values())


def why_not_entitled(person: Person, caller: Caller) -> str | None:
    """Return why a person may not approve for this caller at all; None if they may."""
    if not identity(person):
        return "an approval needs the name of a person"
    if person.agent is not None:
        return "an agent cannot approve"
    if person.session is not None and any(person.session == one.session for one in caller.chain()):
        return "nobody can approve out of the session that asks"
    return None


def identity(person: Person) -> str:
    """Return the identity of a person: the visible part of the name, ignoring letter case.

    Surrounding spaces are not visible either; a name without visible characters is nobody's.
    """
    text = without_invisible(normal_form(person.id, "NFKC"))
    seen = "".join(char for char in text if char.isprintable()).strip()
    return normal_form(seen.casefold(), "NFKC")


def may_answer(person: Person, reason: Reason) -> bool:
    """Return whether a person is in a group that may answer this opinion."""
    return _may(person, (reason.terms or _ANYBODY).groups)


def unanswered(
    reasons: Iterable[Reason], people: Iterable[Person], caller: Caller
) -> tuple[Reason, ...]:
    """Return the opinions that no person entitled to them has answered."""
    able = entitled(people, caller)
    return tuple(reason for reason in reasons if not answers(able, reason.terms or _ANYBODY))


def answers(able: tuple[Person, ...], terms: Terms) -> bool:
    """Return whether these people, each entitled to approve at all, satisfy `terms`."""
    if not terms.two_people:
        return any(_may(person, terms.groups) for person in able)
    if len(terms.groups) < 2:
        return sum(1 for person in able if _may(person, terms.groups)) >= 2
    return _one_of_each(able, terms.groups, frozenset())


def _may(person: Person, groups: tuple[str, ...]) -> bool:
    return not groups or any(group in person.groups for group in groups)


def _one_of_each(able: tuple[Person, ...], groups: tuple[str, ...], taken: frozenset[str]) -> bool:
    """Return whether each group has a different member: two identities are two people."""
    if not groups:
        return True
    first, rest = groups[0], groups[1:]
    return any(
        _one_of_each(able, rest, taken | {identity(person)})
        for person in able
        if first in person.groups and identity(person) not in taken
    )
