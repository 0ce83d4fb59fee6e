"""`Filed`: an approval request as it is stored, and how answers and time change it.

A store changes requests only by these functions, which decide who may answer what, and when. They
return a changed copy; the store numbers the changes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, TypeAlias

from policy.approvals.entitlement import (
    GroupsOf,
    Person,
    as_of_now,
    identity,
    may_answer,
    unanswered,
    why_not_entitled,
)
from policy.approvals.request import ApprovalRequest
from policy.diagnostics import visible
from policy.runtime import is_past

State: TypeAlias = Literal["pending", "approved", "denied", "cancelled", "expired", "used"]
"""`used`: approved, and the call that asked took the answer. Only `pending` can be answered."""

Ended: TypeAlias = Literal["cancelled", "expired", "used"]
"""How a request ends without a denial."""

OPEN: frozenset[State] = frozenset({"pending", "approved"})
"""The states in which a request may still let its call run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filed:
    """One approval request in a store, and its answers so far.

    `people` have agreed. A denial is final: `denied_by` and its `message`. `revision` grows with
    every change in the store.
    """

    request: ApprovalRequest
    key: str
    state: State = "pending"
    people: tuple[Person, ...] = ()
    denied_by: str | None = None
    message: str | None = None
    revision: int = 0


class AnswerRefused(Exception):
    """An answer that cannot be taken: the request has ended, or the person is not entitled.

    `groups` are those of which somebody is needed, if that is why.
    """

    def __init__(self, why: str, *, groups: tuple[str, ...] = ()) -> None:
        super().__init__(why)
        self.groups = groups


_STATES: dict[State, str] = {
    "approved": "has been approved already",
    "denied": "has been denied already",
    "cancelled": "has been withdrawn",
    "expired": "has expired",
    "used": "has been approved, and its call has run",
}


def as_of(filed: Filed, now: datetime) -> Filed:
    """Return the request as it is at `now`: an open one may have expired."""
    if filed.state in OPEN and is_past(filed.request.expires, now):
        return replace(filed, state="expired")
    return filed


def is_about(filed: Filed, request: ApprovalRequest) -> bool:
    """Return whether an open request is about the same call as another, by the same caller."""
    asked = filed.request
    return (
        filed.state in OPEN
        and asked.kind == request.kind
        and asked.digest == request.digest
        and asked.caller == request.caller
    )


def agreed(filed: Filed, person: Person, *, groups_of: GroupsOf | None = None) -> Filed:
    """Return the request with one more person; raise AnswerRefused if that changes nothing.

    With `groups_of`, those who agreed before count by the groups that they belong to now.
    """
    _must_be_pending(filed)
    if groups_of is not None:
        filed = replace(filed, people=as_of_now(filed.people, groups_of))
    request = filed.request
    wrong = why_not_entitled(person, request.caller)
    if wrong is not None:
        raise AnswerRefused(wrong)
    if person in filed.people:
        raise AnswerRefused(
            f"{visible(person.id, 80)} has agreed already, and somebody else is needed"
        )
    left = unanswered(request.reasons, filed.people, request.caller)
    if left and not any(may_answer(person, reason) for reason in left):
        groups = _groups_needed(filed)
        needed = f"it needs somebody of {' or '.join(visible(group, 80) for group in groups)}"
        raise AnswerRefused(
            f"{visible(person.id, 80)} may not answer this: {needed}", groups=groups
        )
    others = (other for other in filed.people if identity(other) != identity(person))
    people = (*others, person)
    done = not unanswered(request.reasons, people, request.caller)
    return replace(filed, people=people, state="approved" if done else "pending")


def denied(filed: Filed, person: Person, message: str | None) -> Filed:
    """Return the request denied; raise AnswerRefused if it is not pending."""
    _must_be_pending(filed)
    return replace(filed, state="denied", denied_by=person.id, message=message)


def ended(filed: Filed, state: Ended) -> Filed | None:
    """Return the request ended without a denial; None if it had ended before."""
    may_end = filed.state == "approved" if state == "used" else filed.state in OPEN
    return replace(filed, state=state) if may_end else None


def is_sound(filed: Filed) -> bool:
    """Return whether a request can be in its state: its people must have approved it."""
    if filed.state not in ("approved", "used"):
        return True
    request = filed.request
    able = any(why_not_entitled(person, request.caller) is None for person in filed.people)
    return able and not unanswered(request.reasons, filed.people, request.caller)


def _must_be_pending(filed: Filed) -> None:
    if filed.state != "pending":
        raise AnswerRefused(f"this request {_STATES[filed.state]}")


def _groups_needed(filed: Filed) -> tuple[str, ...]:
    left = unanswered(filed.request.reasons, filed.people, filed.request.caller)
    groups = (group for reason in left if reason.terms for group in reason.terms.groups)
    return tuple(dict.fromkeys(groups))
