"""One session tree as a log keeps it in memory: its calls, its budgets and what its user wrote."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType

from policy.model import (
    NO_CALLS,
    RUNNING,
    Balance,
    CalledTool,
    Caller,
    CallOutput,
    Charge,
    History,
    Outcome,
    PastCall,
    ReleasedCall,
    ToolCalls,
)
from policy.service.sessions.heard_texts import MISSED, RESUMED, HeardTexts
from policy.service.sessions.kept_calls import KeepingBounds, KeptBytes, KeptCalls, past_call
from policy.service.sessions.memory_budgets import MemoryBudgets
from policy.service.sessions.session_log import SessionKey


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningCall:
    """A call that was handed to its tool; `past` None: its input is not kept."""

    tool: CalledTool
    at: datetime | None
    past: PastCall | None


def running_call(caller: Caller, call: ReleasedCall) -> RunningCall:
    """Return a call that is about to run."""
    past = None if call.input is None else past_call(caller, call, RUNNING, None)
    return RunningCall(tool=call.tool, at=call.at, past=past)


@dataclass(eq=False, slots=True)
class SessionTree:
    """The calls of one session tree; `joined` is the tree that it has become a part of."""

    kept: KeptCalls
    heard: HeardTexts
    ended: dict[CalledTool, ToolCalls] = field(default_factory=dict)
    unknown: str | None = None
    running: dict[Hashable, RunningCall] = field(default_factory=dict)
    sessions: set[SessionKey] = field(default_factory=set)
    joined: SessionTree | None = None
    budgets: MemoryBudgets = field(default_factory=MemoryBudgets)
    # Derived from the others; None where it has to be made anew.
    history: History | None = None

    def snapshot(self) -> History:
        """Return the history; the same object until a call changes it."""
        if self.history is None:
            tools = dict(self.ended)
            running: list[PastCall] = []
            not_kept: list[CalledTool] = []
            for call in self.running.values():
                tools[call.tool] = tools.get(call.tool, NO_CALLS).and_one(RUNNING, call.at)
                if call.past is None:
                    not_kept.append(call.tool)
                else:
                    running.append(call.past)
            self.history = History(
                tools=MappingProxyType(tools),
                unknown=self.unknown,
                kept=self.kept.until_now(tuple(running), not_kept=not_kept),
            )
        return self.history

    def begin(self, release: Hashable, call: RunningCall) -> None:
        """Add a call that runs."""
        self.running[release] = call
        self.kept.forget_before(call.at)
        self.history = None

    def end(
        self, release: Hashable, outcome: Outcome, output: CallOutput | None, size: int
    ) -> None:
        """Note how a call ended; its input and output take `size` bytes."""
        call = self.running.pop(release, None)
        if call is None:
            # It has been cleared.
            return
        self.ended[call.tool] = self.ended.get(call.tool, NO_CALLS).and_one(outcome, call.at)
        if call.past is None:
            self.kept.add_gap(call.tool)
        else:
            told = output or CallOutput()
            past = replace(call.past, outcome=outcome, result=told.result, texts=told.texts)
            self.kept.add(past, size)
        self.history = None

    def withdraw(self, release: Hashable) -> None:
        """Forget a call that never reached its tool."""
        self.running.pop(release, None)
        self.history = None

    def balance(self, charge: Charge, now: datetime | None) -> Balance:
        """Return what is left of one of the tree's own budgets."""
        if self.unknown is not None:
            return Balance(used=None, wait=None, unknown=self.unknown)
        return self.budgets.balance(charge, now)

    def hear(self, texts: Sequence[str], *, number: int, missed: bool) -> None:
        """Add what the user wrote; see `SessionLog.hear` and `HeardTexts.add`."""
        heard = self.heard
        is_new = heard.messages is None and heard.unknown is None
        if missed and is_new and not (self.ended or self.running):
            self.unknown = self.unknown or RESUMED
            self.history = None
        if self.unknown is not None or missed or (is_new and (self.ended or self.running)):
            heard.lose(self.unknown or heard.unknown or MISSED)
        heard.add(texts, number=number)

    def clear(self, *, running: bool) -> None:
        """Forget the calls that have ended, and with `running` those that have not.

        What was charged stays, and so does what the user wrote.
        """
        if self.ended or self.running:
            is_new = self.heard.messages is None and self.heard.unknown is None
            if is_new:
                self.heard.lose(MISSED)
        self.ended = {}
        self.kept.forget_all()
        self.kept.set_gaps({}, {})
        if running:
            self.running = {}
        self.history = None

    def join(self, other: SessionTree) -> None:
        """Make another tree a part of this one."""
        for tool, calls in other.ended.items():
            self.ended[tool] = calls.and_those(self.ended.get(tool, NO_CALLS))
        self.kept.join(other.kept)
        self.heard.join(other.heard)
        self.budgets.add_all(other.budgets)
        self.unknown = self.unknown or other.unknown
        self.running |= other.running
        self.sessions |= other.sessions
        self.history = None
        other.joined = self
        other.ended, other.running, other.sessions, other.heard = {}, {}, set(), HeardTexts()
        other.budgets = MemoryBudgets()


def empty_tree(bounds: KeepingBounds, of_all: KeptBytes) -> SessionTree:
    """Return a tree without calls; `of_all` counts what the calls of all trees take."""
    return SessionTree(KeptCalls(bounds, of_all), HeardTexts(bounds.said))


def root_of(tree: SessionTree) -> SessionTree:
    """Return the tree that a tree has become a part of, or itself."""
    while tree.joined is not None:
        tree = tree.joined
    return tree
