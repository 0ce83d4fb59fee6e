"""What has become known of one call while it is on its way: written inward, read by the audit.

The façade makes one `InFlight` a call and every middleware of the stack finds it here, so none of
them asks a second time who calls or which policy is in force. A middleware used alone finds
nothing and judges for itself.
"""

from __future__ import annotations

import uuid
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from policy.audit import Approval
from policy.call import Caller
from policy.decision import Decision
from policy.service.adjudicator import Judgement
from policy.service.handler import ExecutionContext
from policy.service.usage import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class RawCall:
    """A call as it came, to be read and judged once more."""

    tool: str
    input: Any


@dataclass(slots=True, kw_only=True)
class InFlight:
    """One call on its way.

    `raw` is the call as it came. `judgement` is None until it is judged; `permitted` says that
    nothing stands against running exactly its call; `approvals` are in the order they were given;
    `usage` is what the tool reports while it runs.
    """

    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    caller: Caller = field(default_factory=Caller)
    context: ExecutionContext | None = None
    raw: RawCall | None = None
    judgement: Judgement | None = None
    permitted: bool = False
    approvals: list[Approval] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)

    @property
    def decision(self) -> Decision | None:
        """The decision in force for this call, if it was judged."""
        return None if self.judgement is None else self.judgement.decision


_CURRENT: ContextVar[InFlight | None] = ContextVar("placet_call", default=None)


def current_call() -> InFlight | None:
    """Return the call being executed in this task, None outside of one."""
    return _CURRENT.get()


class carrying:  # noqa: N801 - used as a statement, `with carrying(call):`
    """Let everything awaited within the block belong to `call`; None for no call."""

    __slots__ = ("_call", "_token")

    def __init__(self, call: InFlight | None) -> None:
        self._call = call

    def __enter__(self) -> InFlight | None:
        self._token = _CURRENT.set(self._call)
        return self._call

    def __exit__(self, *raised: object) -> None:
        _CURRENT.reset(self._token)
