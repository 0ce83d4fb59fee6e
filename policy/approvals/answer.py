"""The answers to an approval request, and the protocol of approvers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias

from policy.approvals.entitlement import Person, as_tuple
from policy.approvals.request import ApprovalRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Approved:
    """People agreed: `by`, a member of `groups`, and the others in `with_`.

    `listed` says where the groups of `by` are from, as `Person.listed` does.
    """

    by: str
    groups: tuple[str, ...] = ()
    with_: tuple[Person, ...] = ()
    listed: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", as_tuple(self.groups))
        object.__setattr__(self, "with_", as_tuple(self.with_))

    @property
    def people(self) -> tuple[Person, ...]:
        """Everybody who agreed."""
        return (Person(id=self.by, groups=self.groups, listed=self.listed), *self.with_)


@dataclass(frozen=True, slots=True, kw_only=True)
class Denied:
    """A person refused; `reason` is passed to the agent, which may then correct its call."""

    by: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class TimedOut:
    """Nobody answered in time."""


ApprovalOutcome: TypeAlias = Approved | Denied | TimedOut


class Approver(Protocol):
    """Passes requests to people entitled to answer. Any outcome but Approved is a denial."""

    async def ask(self, request: ApprovalRequest) -> ApprovalOutcome:
        """Return the answer; raising, or being cancelled, counts as a denial."""
        ...
