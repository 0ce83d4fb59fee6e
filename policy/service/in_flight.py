"""What has become known of one call while it is on its way: written inward, read by the audit.

The façade makes one `InFlight` a call and every middleware of the stack finds it here, so none of
them asks a second time who calls or which policy is in force. A middleware used alone finds
nothing and judges for itself.
"""

from __future__ import annotations

import os
from contextvars import ContextVar
from dataclasses import field
from typing import Any

from policy.audit import Approval
from policy.call import Caller
from policy.decision import Decision
from policy.records import dataclass
from policy.service.adjudicator import Judgement
from policy.service.handler import ExecutionContext
from policy.service.usage import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class RawCall:
    """A call as it came, to be read and judged once more."""

    tool: str
    input: Any


@dataclass(slots=True)
class Family:
    """What calls that lead to each other have in common: how many steps of chains they took."""

    steps: int = 0


_NOBODY = Caller()


@dataclass(slots=True, kw_only=True)
class InFlight:
    """One call on its way.

    `raw` is the call as it came. `judgement` is None until it is judged; `permitted` says that
    nothing stands against running exactly its call; `approvals` are in the order they were given;
    `usage` is what the tool reports while it runs. `parent` is the id of the call whose tool makes
    this one, and `depth` how many calls it stands in.
    """

    id: str = field(default_factory=lambda: os.urandom(16).hex())
    caller: Caller = _NOBODY
    context: ExecutionContext | None = None
    raw: RawCall | None = None
    judgement: Judgement | None = None
    permitted: bool = False
    approvals: list[Approval] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    parent: str | None = None
    depth: int = 0
    family: Family = field(default_factory=Family)

    @property
    def decision(self) -> Decision | None:
        """The decision in force for this call, if it was judged."""
        return None if self.judgement is None else self.judgement.decision

    def within(self, enclosing: InFlight | None) -> InFlight:
        """Say which running call this one is made from, if any; return it."""
        if enclosing is not None:
            self.parent, self.depth = enclosing.id, enclosing.depth + 1
            self.family = enclosing.family
        return self


_CURRENT: ContextVar[InFlight | None] = ContextVar("placet_call", default=None)
_ENCLOSING: ContextVar[InFlight | None] = ContextVar("placet_enclosing_call", default=None)


def enclosing_call() -> InFlight | None:
    """Return the call whose tool is running here, None outside of every tool."""
    return _ENCLOSING.get()


def current_call() -> InFlight | None:
    """Return the call being executed in this task, None outside of one."""
    return _CURRENT.get()


class carrying:  # noqa: N801 - used as a statement, `with carrying(call):`
    """Let everything awaited within the block belong to `call`."""

    __slots__ = ("_call", "_token")

    def __init__(self, call: InFlight) -> None:
        self._call = call

    def __enter__(self) -> InFlight:
        self._token = _CURRENT.set(self._call)
        return self._call

    def __exit__(self, *raised: object) -> None:
        _CURRENT.reset(self._token)


class running:  # noqa: N801 - used as a statement, `with running(call):`
    """Let the calls that a tool makes within the block be calls of their own, made from `call`."""

    __slots__ = ("_call", "_current", "_enclosing")

    def __init__(self, call: InFlight | None) -> None:
        self._call = call

    def __enter__(self) -> None:
        self._current = _CURRENT.set(None)
        self._enclosing = _ENCLOSING.set(self._call)

    def __exit__(self, *raised: object) -> None:
        _ENCLOSING.reset(self._enclosing)
        _CURRENT.reset(self._current)
