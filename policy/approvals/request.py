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
    """One question. The answer serves this call, by this caller, and nothing else.

    `input` is what would run, complete; `shown` is the same for eyes: hidden characters spelled
    out, cuts marked. `resources` say canonically what the call would touch. `digest` names tool,
    input and resources; it is what the answer is bound to. `reasons` are the opinions that ask
    and have not been answered yet; each must be, by somebody entitled to it. `kind` is `elevation`
    where the question is about calls to come; `tool` then holds the patterns, `input` the bounds.
    """

    id: str
    tool: str
    input: Mapping[str, Any]
    shown: str
    reasons: tuple[Reason, ...]
    resources: tuple[str, ...] = ()
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
        """The script that a shell would get for a command, if it is more than another spelling."""
        return script_for(self.tool, self.input)
