"""`InFlight`: what is known of one call on its way through the layers.

The façade makes one `InFlight` a call and every middleware of the stack finds it here, so none of
them asks a second time who calls or which policy is in force. A middleware used alone finds
nothing and judges for itself.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeAlias

from policy.audit import Approval, ResultRedaction
from policy.decision import Decision
from policy.model import Caller
from policy.sandbox import SandboxDenial
from policy.service.judging.adjudicator import Judgement
from policy.service.judging.running_call import RunningCall
from policy.tools import ExecutionContext, RunningTime, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrivedCall:
    """A call as received, to be read and judged once more."""

    tool: str
    input: Any


@dataclass(slots=True)
class CallFamily:
    """What calls that lead to each other share: the number of chain steps taken."""

    steps: int = 0


_NOBODY = Caller()


class InFlight:
    """One call on its way.

    `raw` is the call as received, kept if it may be judged once more. `judgement` is None until
    it is judged; `permitted` means that exactly its call may run; `approvals` are in the order
    they were given; `usage` is what the tool reports while it runs. `enclosing` is the call whose
    tool makes this one, `parent` its id, `depth` the number of calls around it. `about_to_run` is
    called before the tool runs, None for nothing; `has_begun` means that it may have had an
    effect. `redactions` are what rules have redacted of the result, None if no layer redacts it.
    `sandbox` is what confines the programs that its tool has started, None if it started none, and
    `denial` why that seems to have made them fail.
    """

    # Made for every call, so it has nothing that most calls do not use.
    __slots__ = (
        "_family",
        "about_to_run",
        "approvals",
        "caller",
        "context",
        "denial",
        "depth",
        "enclosing",
        "has_begun",
        "id",
        "judgement",
        "made",
        "parent",
        "permitted",
        "raw",
        "redactions",
        "sandbox",
        "time",
        "usage",
    )

    def __init__(self, caller: Caller = _NOBODY, raw: ArrivedCall | None = None) -> None:
        self.id = secrets.token_hex(16)
        self.caller = caller
        self.context: ExecutionContext | None = None
        self.raw = raw
        self.judgement: Judgement | None = None
        self.permitted = False
        self.approvals: list[Approval] = []
        self.usage = Usage()
        self.enclosing: InFlight | None = None
        self.parent: str | None = None
        self.depth = 0
        self._family: CallFamily | None = None
        self.about_to_run: Callable[[], None] | None = None
        self.has_begun = False
        self.time: RunningTime | None = None
        self.redactions: tuple[ResultRedaction, ...] | None = None
        self.sandbox: str | None = None
        self.denial: SandboxDenial | None = None
        self.made: tuple[str, ...] = ()

    def note_made(self, paths: tuple[str, ...]) -> None:
        """Note what a program of the call made that others run or read as settings."""
        self.made = (*self.made, *(path for path in paths if path not in self.made))

    def running(self, judgement: Judgement, *, installs: bool = False) -> RunningCall:
        """Return the call as it was released, to see what a policy leaves of it."""
        origin = None if judgement.spec is None else judgement.spec.origin
        return RunningCall(
            plugin=origin.server if origin is not None and origin.kind == "ext" else None,
            installs=installs,
            decision=judgement.decision,
            caller=self.caller,
            facts=judgement.facts,
            judge=judgement.judge,
            called=judgement.called,
            names=judgement.names,
            id=self.id,
        )

    def begins(self) -> None:
        """Note that the tool runs now; raises PermissionDenied if that cannot be recorded."""
        about_to_run, self.about_to_run = self.about_to_run, None
        if about_to_run is not None:
            about_to_run()
        self.has_begun = True

    @property
    def decision(self) -> Decision | None:
        """The decision in force for this call, if it was judged."""
        return None if self.judgement is None else self.judgement.decision

    @property
    def family(self) -> CallFamily:
        """What this call shares with those that lead to it, and those it leads to."""
        if self._family is None:
            self._family = CallFamily()
        return self._family

    def within(self, enclosing: InFlight) -> None:
        """Set the running call that this one is made from."""
        self.enclosing, self.parent, self.depth = enclosing, enclosing.id, enclosing.depth + 1
        self._family = enclosing.family

    def follows(self, first: InFlight) -> None:
        """Set the call whose answer this one replaces."""
        self.caller, self.context = first.caller, first.context
        self.parent, self.depth = first.id, first.depth
        self._family = first.family


# Where a task is: executing a call, within the tool of one (in a tuple), or neither.
_Place: TypeAlias = InFlight | tuple[InFlight] | None
HERE: ContextVar[_Place] = ContextVar("placet_call", default=None)


def enclosing_call() -> InFlight | None:
    """Return the call whose tool is running here, None outside of every tool."""
    here = HERE.get()
    if here is None:
        return None
    return here[0] if isinstance(here, tuple) else here.enclosing


def current_call() -> InFlight | None:
    """Return the call being executed in this task, None outside of one."""
    here = HERE.get()
    return None if isinstance(here, tuple) else here


class carrying:  # noqa: N801 - used as a statement, `with carrying(call):`
    """Make everything awaited within the block belong to `call`."""

    __slots__ = ("_call", "_token")

    def __init__(self, call: InFlight) -> None:
        self._call = call

    def __enter__(self) -> InFlight:
        call = self._call
        if call.enclosing is None:
            call.enclosing = enclosing_call()
        self._token = HERE.set(call)
        return call

    def __exit__(self, *raised: object) -> None:
        HERE.reset(self._token)
