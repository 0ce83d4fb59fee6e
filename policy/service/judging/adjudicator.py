"""Judges a raw call once: policy, filter and context rules, joined.

Everything that can refuse a call is evaluated here, before any person is asked. The policy in
force and the guards are taken once, together, and not read again later.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from msgspec import structs

from policy.catalog import SANDBOX_CONNECT, ToolSpec
from policy.decision import Decision, Visibility
from policy.diagnostics import visible
from policy.environment import FactSource, JudgedHosts, WorkspaceUnusable
from policy.evaluation import Keep
from policy.generation import Generation
from policy.model import (
    EMPTY,
    SENTENCES,
    CalledTool,
    Caller,
    Code,
    Facts,
    History,
    NotFound,
    Reason,
    ReleasedCall,
    SandboxTier,
    ToolCall,
    ToolError,
    ValidationFailed,
    Verdict,
)
from policy.service.judging.connections import ConnectionJudge
from policy.service.judging.guards import GuardCell, Guards
from policy.service.judging.identity import LapsedScopes
from policy.service.judging.joining import joined
from policy.service.judging.judge import Judge, JudgeSource, NoPolicy, PolicyAnswer, Refusal
from policy.service.judging.known_tools import KnownTools
from policy.service.judging.lookup_guard import denied_without_lookup
from policy.service.judging.running_call import (
    FindRunning,
    RunningCall,
    Standing,
    standing_by,
)
from policy.service.refusal_messages import denial, frozen_by, is_for_want_of_history
from policy.service.sessions import JudgedHistory, history_failed
from policy.service.visible_tools import said_of_input, visibility_of_tools
from policy.store import Freezer
from policy.tools import Registration, ResolvedName

_LOG = logging.getLogger(__name__)
_SEEN_AS = {
    Verdict.ALLOW: Visibility.OPEN,
    Verdict.ASK: Visibility.ASKS,
    Verdict.DENY: Visibility.HIDDEN,
    Verdict.NONE: Visibility.HIDDEN,
}
_UNLIKE = "the policy has another definition of the tool than the one that would run"


class ReadyTools(Protocol):
    """The tools that have a handler."""

    def get(self, full_name: str, /) -> Registration | None:
        """Return the entry of exactly this tool; None if it has no handler."""
        ...

    def meant(self, name: object) -> ResolvedName | None:
        """Return the version that a name without one refers to; None if there are no versions."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One call as judged by one policy together with one set of guards.

    `decision` is the joined one; its `call` is what would run. `error` is the error of a refused
    call, None if it may go on (perhaps after an approval). `judge` is the generation, `spec` its
    definition of the tool. `entry` is the handler that was registered at that time. `by` is what
    judged it.
    """

    decision: Decision
    facts: Facts
    guards: Guards
    judge: Judge | None
    spec: ToolSpec | None = None
    entry: Registration | None = None
    stale: bool = False
    error: ToolError | None = None
    by: Adjudicator | None = None

    @property
    def called(self) -> CalledTool:
        """The tool that would run, as the history of its session names it."""
        spec = self.spec if self.entry is None else self.entry.handler.spec
        name = self.decision.call.tool
        if spec is None:
            return CalledTool(name=name)
        return CalledTool(name=name, kind=spec.origin.kind, server=spec.origin.server)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tool that a freeze may have."""
        known = () if self.spec is None else self.spec.names_in_rules
        return tuple(dict.fromkeys((self.decision.call.tool, self.decision.asked.tool, *known)))

    def released(self, id: str | None) -> ReleasedCall:
        """Return the call that would run, with as much of it as rules read of earlier calls."""
        keep = self._keep
        return ReleasedCall(
            tool=self.called,
            at=self.facts.now,
            input=None if keep == "summary" else self.decision.call.input,
            id=id,
        )

    @property
    def keeps_output(self) -> bool:
        """Whether rules read what the call returns."""
        return self._keep == "result"

    @property
    def _keep(self) -> Keep:
        judge = self.judge
        keep = judge.program.keep if isinstance(judge, Generation) else None
        return "summary" if keep is None else keep(self.called)

    @property
    def history_read(self) -> History | None:
        """The history that the decision has looked at; None if it looked at none."""
        recall = self.facts.resolvers.history
        return recall.read if isinstance(recall, JudgedHistory) else None


class Adjudicator:
    """Judges calls by the policy in force, joined with the guards set on the service."""

    def __init__(
        self,
        *,
        source: JudgeSource = NoPolicy,
        guards: GuardCell | None = None,
        fact_source: FactSource | None = None,
        tools: Callable[[], ReadyTools] | None = None,
        stale: Callable[[], bool] = lambda: False,
        freezer: Freezer | None = None,
        sandbox: Callable[[Judge, str], SandboxTier | None] = lambda judge, tool: None,
        running: FindRunning = lambda: None,
    ) -> None:
        self._running = running
        self._source = source
        self.guards = guards or GuardCell()
        self._fact_source = fact_source or FactSource()
        self._tools = tools
        self._stale = stale
        self._freezer = freezer or Freezer()
        self._sandbox = sandbox
        self._known_tools = KnownTools()
        self._lapsed = LapsedScopes()

    @classmethod
    def fixed(cls, guards: Guards) -> Adjudicator:
        """Return an adjudicator without a policy, for guards that do not change."""
        return cls(guards=GuardCell(guards))

    async def judge(self, tool: str, input: Any, caller: Caller) -> Judgement:
        """Return the joined judgement of a raw call; raises only when cancelled."""
        guards, stale = self.guards.current, self._stale()
        judge = self._source()
        if judge is None:
            return _undecided(tool, guards, stale=stale, why="no policy is in force")
        tools = None if self._tools is None else self._tools()
        # The newest version is the newest with a handler, whatever others the policy knows.
        meant = None if tools is None else tools.meant(tool)
        name = tool if meant is None else meant.name
        running = self._running() if name == SANDBOX_CONNECT else None
        try:
            deciding = judge
            if name == SANDBOX_CONNECT:
                deciding = ConnectionJudge(judge, running, await self._standing(running, judge))
            facts, hosts = self._facts(caller, judge, name)
            caller = self._lapsed.seen_on(caller, facts.now)
            answer = deciding.answer(name, input, caller=caller, facts=facts)
            if hosts.has_pending:

                def ask(known: Facts = facts) -> PolicyAnswer:
                    return deciding.answer(name, input, caller=caller, facts=known)

                answer = await self._fact_source.with_disk_lookups(ask, hosts, answer)
            if hosts.pending:
                denied = denied_without_lookup(judge, answer, ask=ask, caller=caller, facts=facts)
                answer = (
                    await self._fact_source.with_lookups(ask, hosts) if denied is None else denied
                )
            spec = None if answer.admitted is None else answer.admitted.spec
            decision = joined(answer, judge, guards=guards, caller=caller, facts=facts)
            also = () if running is None else running.names
            decision = self._unless_frozen(decision, spec, also=also)
        except WorkspaceUnusable as error:
            _LOG.error("a call is denied: %s", error)
            why = "the workspace of the session cannot be used"
            return _undecided(tool, guards, stale=stale, why=why, code="workspace-unavailable")
        except Exception as error:  # noqa: BLE001 - an error while deciding allows nothing
            _LOG.error("deciding failed, so the call is denied: %s", type(error).__name__)
            _LOG.debug("deciding failed", exc_info=error)
            return _undecided(tool, guards, stale=stale, why="the policy could not be evaluated")
        if meant is not None and meant.note:
            decision = structs.replace(decision, repairs=(meant.note, *decision.repairs))
        entry = None if tools is None else tools.get(decision.call.tool)
        refusal: ToolError | None = None
        if (
            decision.verdict is Verdict.DENY
            or answer.refused is not None
            or (
                tools is not None
                and not self._known_tools.is_ready(entry, spec, judge=judge, call=decision.call)
            )
        ):
            situation = _CallToJudge(
                judge=judge, guards=guards, caller=caller, facts=facts, tools=tools, input=input
            )
            decision, refusal = _refused(tool, decision, answer, entry=entry, situation=situation)
        return Judgement(
            decision=decision,
            facts=facts,
            guards=guards,
            judge=judge,
            spec=spec,
            entry=entry,
            stale=stale,
            error=refusal,
            by=self,
        )

    def _facts(self, caller: Caller, judge: Judge, tool: str) -> tuple[Facts, JudgedHosts]:
        """Return the facts of a call of a tool, with the sandbox that confines its code."""
        facts, hosts = self._fact_source.facts_for_call(caller)
        sandbox = self._sandbox(judge, tool)
        return facts if sandbox is None else replace(facts, sandbox=sandbox), hosts

    def foreseen(self, tool: str, input: Any, caller: Caller) -> Visibility:
        """Return what the verdict on a call is likely to be, without looking up host names.

        A call is open if its verdict hangs on a host name. Nothing is recorded, and nobody asked.
        """
        guards, judge = self.guards.current, self._source()
        if judge is None:
            return Visibility.HIDDEN
        try:
            facts, hosts = self._facts(caller, judge, tool)
            caller = self._lapsed.seen_on(caller, facts.now)
            answer = judge.answer(tool, input, caller=caller, facts=facts)
            if hosts.has_pending and answer.refused is None:
                return Visibility.OPEN
            spec = None if answer.admitted is None else answer.admitted.spec
            decision = joined(answer, judge, guards=guards, caller=caller, facts=facts)
            return _SEEN_AS[self._unless_frozen(decision, spec).verdict]
        except Exception as error:  # noqa: BLE001 - what cannot be decided is denied
            _LOG.error("deciding failed, so it is not shown: %s", type(error).__name__)
            return Visibility.HIDDEN

    def _unless_frozen(
        self, decision: Decision, spec: ToolSpec | None, *, also: tuple[str, ...] = ()
    ) -> Decision:
        """Return the decision, or a denial if people have frozen the tool, or one of these."""
        if decision.verdict is Verdict.DENY:
            return decision
        freezing = self._freezer.current()
        if not freezing:
            return decision
        names = () if spec is None else spec.names_in_rules
        freeze = freezing.on((decision.call.tool, decision.asked.tool, *names, *also))
        return decision if freeze is None else frozen_by(freeze, decision)

    async def still_permits(self, judgement: Judgement, running: RunningCall) -> bool:
        """Return whether a permitted call that has not begun would be permitted in the same form.

        What asks now must have asked before, so that it was answered. Limits were charged before.
        """
        judge = self._source()
        if judge is None or judge is judgement.judge:
            return judge is not None
        standing = await self._standing(running, judge)
        return standing.refusal is None and not standing.unlike

    def is_frozen(self, names: tuple[str, ...]) -> bool:
        """Return whether people have frozen a tool of these names."""
        return self._freezer.current().on(names) is not None

    async def _standing(self, running: RunningCall | None, judge: Judge) -> Standing:
        """Return what a policy leaves of a running call."""
        if running is None:
            return Standing()
        hosts = running.facts.resolvers.host
        tier = self._sandbox(judge, running.decision.call.tool)

        def ask() -> Standing:
            return standing_by(running, judge, tier=tier, host=hosts)

        found = ask()
        if not isinstance(hosts, JudgedHosts) or not hosts.has_pending:
            return found
        found = await self._fact_source.with_disk_lookups(ask, hosts, found)
        if hosts.pending:
            # No address could allow what is denied by its name.
            by_name = standing_by(running, judge, tier=tier, host=None)
            found = by_name if by_name.refusal else await self._fact_source.with_lookups(ask, hosts)
        return found

    def is_another(self, name: str, judge: Judge | None) -> bool:
        """Return whether every call of a tool is denied, as the policy has another definition."""
        if self._tools is None or not isinstance(judge, Generation):
            return False
        entry, spec = self._tools().get(name), judge.catalog.get(name)
        if entry is None or spec is None:
            return False
        return not self._known_tools.is_same(entry, spec, judge=judge)


def adjudicator_within(service: object, *, skipping: type | tuple[()] = ()) -> Adjudicator | None:
    """Return the adjudicator of the first layer further in that has one, but for some layers."""
    while service is not None:
        found = getattr(service, "adjudicator", None)
        if isinstance(found, Adjudicator) and not isinstance(service, skipping):
            return found
        service = getattr(service, "inner", None)
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _CallToJudge:
    """Who calls, with which input and facts, and everything that judges the call."""

    judge: Judge
    guards: Guards
    caller: Caller
    facts: Facts
    tools: ReadyTools | None
    input: Any

    def hides(self, name: str) -> bool:
        """Return whether a tool is denied for every input, so that messages must not reveal it."""
        try:
            return self._expected(name, EMPTY) is Visibility.HIDDEN
        except Exception:  # noqa: BLE001 - what cannot be told apart is kept to ourselves
            return True

    def text_for(self, name: str, message: str) -> str:
        """Return what is said of a tool's input, without what this caller is not shown of it."""
        try:
            spec = self._spec(name)
            if spec is None:
                return message
            return said_of_input(message, self.input, spec, self._expected)
        except Exception:  # noqa: BLE001 - what cannot be told apart is kept to ourselves
            return SENTENCES["validation-failed"]

    def _spec(self, name: str) -> ToolSpec | None:
        """Return the definition of a tool, its own if it has a handler."""
        entry = None if self.tools is None else self.tools.get(name)
        if entry is not None:
            return entry.handler.spec
        return self.judge.catalog.get(name) if isinstance(self.judge, Generation) else None

    def _expected(self, name: str, fields: Mapping[str, Any]) -> Visibility:
        return visibility_of_tools(self.judge, self.guards, self.caller, self.facts)(name, fields)


def _refused(
    tool: str,
    decision: Decision,
    answer: PolicyAnswer,
    *,
    entry: Registration | None,
    situation: _CallToJudge,
) -> tuple[Decision, ToolError]:
    """Return the decision about a call that may not run, and the error it ends in."""
    if answer.refused is not None:
        return decision, _refusal(tool, decision, answer.refused, situation)
    called = decision.call.tool
    code: Code | None
    if decision.verdict is Verdict.DENY:
        # Without a generation nothing was decided: there is no policy to speak of.
        if answer.decision.verdict is Verdict.DENY and decision.generation is None:
            return decision, denial(called, decision, code="policy-unavailable")
        if history_failed(situation.facts.resolvers) and is_for_want_of_history(decision):
            code, why = "history-unavailable", "it cannot be read"
            return decision, denial(called, decision, code=code, detail=why)
        return decision, denial(called, decision)
    if entry is None:
        return decision, NotFound(tool, f"no tool is called `{visible(called, 60)}` here")
    # Judged by another definition: that of a tool with other arguments, or other markers.
    unlike = Reason(rule="none", verdict=Verdict.DENY, message=_UNLIKE)
    denied = structs.replace(decision, verdict=Verdict.DENY, reasons=(unlike, *decision.reasons))
    is_own = entry.handler.spec.origin.kind == "host"
    code = "policy-unavailable" if is_own else "not-reviewed"
    return denied, denial(called, denied, code=code)


def _refusal(tool: str, decision: Decision, refused: Refusal, situation: _CallToJudge) -> ToolError:
    """Return the error for an invalid call; it reveals no tools hidden from this caller."""
    if refused.kind == "not-found":
        near = refused.suggestion
        if near is None or not situation.hides(near):
            return NotFound(tool, refused.message)
        return NotFound(tool, f"no tool is called `{refused.tool}`")
    if not refused.tool or not situation.hides(refused.tool):
        message = situation.text_for(refused.tool, refused.message)
        return ValidationFailed(decision.call.tool, message)
    return denial(refused.tool, decision, code="not-allowed")


def _undecided(
    tool: object,
    guards: Guards,
    *,
    stale: bool,
    why: str,
    code: Code = "policy-unavailable",
) -> Judgement:
    # A name that is not a string names no tool.
    name = tool if isinstance(tool, str) else ""
    call = ToolCall(tool=name)
    none = Reason(rule="none", verdict=Verdict.DENY, message=why)
    decision = Decision(verdict=Verdict.DENY, call=call, asked=call, reasons=(none,))
    return Judgement(
        decision=decision,
        facts=Facts(),
        guards=guards,
        judge=None,
        stale=stale,
        error=denial(name, decision, code=code),
    )
