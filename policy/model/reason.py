"""One verdict on a call, with the rule or mechanism that it comes from."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

from policy.model.codes import Doubt
from policy.model.verdict import Verdict

# How the explanation begins where a condition turns on the result of an earlier call.
RESULT_NOT_KNOWN = "what came of a call of"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembering:
    """How long one approval counts: `remember DURATION|session [for FIELDS] [up to N times]`.

    `seconds` is None for the rest of the session. `fields` are paths to the input fields that must
    be equal; if empty, the whole call must be. `times` is None where no number is set.
    """

    seconds: float | None
    fields: tuple[tuple[str | int, ...], ...] = ()
    times: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a reason that asks requires of the approval.

    `groups` (`by`) may approve; if empty, anybody may. `two_people` requires two identities: one of
    each group, or two of the only group. `digest` identifies the asking rule by its meaning; None
    where the reason is not from a rule.
    """

    groups: tuple[str, ...] = ()
    two_people: bool = False
    remember: Remembering | None = None
    digest: str | None = None

    @property
    def plain(self) -> bool:
        """Whether the approval of any one person is enough."""
        return not self.groups and not self.two_people


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitUse:
    """How much of a limit is used where a call has no room in it.

    `used` is None where that is not known. `wait` is how many seconds it takes until there is room;
    None where time alone makes none.
    """

    used: int | Decimal | None
    capacity: int | Decimal
    wait: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """One verdict on the call and its origin.

    `rule` is the rule's name, `file:line` of a rule without one, `table:KEY`, or one of `default
    none schema scope identity floor frozen confirmation pin`. `clause` is the deciding clause in
    canonical text, None if there was none. `undecided` is the explanation where the verdict applies
    because a condition was indeterminate, and `doubt` what is not known for certain then. `message`
    is for the agent and its user (the rule's `because`), `audit` for the log only. `terms` (on an
    ask) define who may approve, and for how long that counts; None means anybody, once.
    """

    rule: str
    verdict: Verdict
    layer: str | None = None
    file: str | None = None
    line: int | None = None
    clause: str | None = None
    message: str | None = None
    audit: str | None = None
    # `indeterminate` in JSON; stored approvals have this name: it stays until their next version.
    undecided: str | None = None
    shadow: bool = False
    terms: Terms | None = None
    limit: LimitUse | None = field(default=None, metadata={"stored": "if set"})
    doubt: Doubt | None = field(default=None, metadata={"stored": "if set"})
