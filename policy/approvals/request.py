"""`ApprovalRequest`: asks people to approve one exact call, or an elevation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from policy.decision import GenerationId
from policy.model import Caller, Reason, freeze
from policy.shell import script_for


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest:
    """One approval request. The answer serves this call, by this caller, and no other.

    `input` is the complete input that would run; `shown` is the same for display: hidden characters
    escaped, cuts marked. `resources` are what the call would access, in canonical form. `values`
    say where the values stand that rules look for in earlier calls or in what the user wrote.
    `digest` is of tool, input and resources; the answer is valid for that digest only. `reasons`
    are the opinions that ask and are not yet answered; each needs an answer from a person entitled
    to it.
    If the request is about future calls, `kind` is `elevation`, `tool` has the patterns and `input`
    the bounds.
    """

    id: str
    tool: str
    input: Mapping[str, Any]
    shown: str
    reasons: tuple[Reason, ...]
    resources: tuple[str, ...] = ()
    values: tuple[str, ...] = field(default=(), metadata={"stored": "if set"})
    digest: str
    caller: Caller = field(default_factory=Caller)
    generation: GenerationId | None = None
    asked_at: datetime | None = None
    expires: datetime | None = None
    kind: Literal["call", "elevation"] = "call"

    def __post_init__(self) -> None:
        object.__setattr__(self, "input", freeze(self.input))

    @property
    def rewritten_script(self) -> str | None:
        """The script that a shell would run for a command, if it differs by more than spelling."""
        return script_for(self.tool, self.input)
