"""`Decider`: maps an agent's call to ours, judges it by the policy in force, and records it."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from policy.audit import AuditFileUnfit, AuditRecord, JsonlSink
from policy.catalog import builtin_catalog
from policy.daemon.agents import AGENTS, AgentEvent, read_event
from policy.daemon.agents.agent import (
    Agent,
    HookCall,
    call_ids,
    mcp_tool,
    read_hook,
    told_to_user,
)
from policy.daemon.agents.mapping import Mapped, OurCall, Unmapped, mapped
from policy.daemon.changed_settings import SettingsWatch
from policy.daemon.context import HookContext
from policy.daemon.hook_history import HookHistory
from policy.daemon.protocol import BLOCKED
from policy.daemon.records import Arrived, record_of_call
from policy.daemon.repeated_calls import RepeatedCalls
from policy.daemon.request import HookAnswer, Request
from policy.daemon.session_events import SessionEvents
from policy.daemon.updated_input import updated_input
from policy.daemon.wording import (
    last_good_rules,
    question,
    refusal,
    result_not_redacted,
    why_not_asked,
)
from policy.environment import Disk, FactSource
from policy.generation import Generation
from policy.model import (
    SENTENCES,
    Caller,
    NotFound,
    PermissionDenied,
    ToolError,
    Verdict,
    strictest,
)
from policy.service import Adjudicator, Judgement, SessionLogUnusable, looked_for
from policy.store import PolicyStore

_LOG = logging.getLogger(__name__)

# How often a call is judged, while other calls of its session change what it is decided by.
_MOST_JUDGEMENTS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class HookOutcome:
    """The result for one call of an agent: verdict, reasons, and changes of its input.

    `judged` are the judgements of the calls of ours that it stands for; none where there are none.
    `calls` are the names that the call may have in the event that tells of its end.
    """

    verdict: Verdict
    why: str = ""
    updated: Mapping[str, Any] | None = None
    judged: tuple[Judgement, ...] = ()
    calls: tuple[str, ...] = ()

    def denied(self, why: str) -> HookOutcome:
        """Return this outcome as a denial."""
        return replace(self, verdict=Verdict.DENY, why=why, updated=None)

    def with_note(self, note: str) -> HookOutcome:
        """Return this outcome with a remark in its reason; an allow then has one, for its user."""
        return replace(self, why=f"{self.why} ({note})" if self.why else note)

    def answer(self, agent: Agent) -> HookAnswer:
        """Return it in the agent's own format."""
        match self.verdict:
            case Verdict.ALLOW:
                return agent.allow(f"placet: {self.why}" if self.why else "", self.updated)
            case Verdict.ASK:
                return agent.ask(f"placet: {self.why}", self.updated)
            case _:
                return agent.deny(f"placet: {self.why}", None)


class Decider:
    """Answers the hook calls of one context by the policy in force at that moment."""

    def __init__(self, context: HookContext) -> None:
        self.context = context
        self.store = PolicyStore(
            context.policy,
            guarded=context.guarded(),
            agent_settings=context.project_settings(),
            audit=context.audit,
        )
        self._disk = Disk()
        self._sinks: dict[str, JsonlSink] = {}
        self._history = HookHistory(context.policy)
        self._events = SessionEvents(self._history)
        self._settings = SettingsWatch(context.settings())
        self._repeated: RepeatedCalls[tuple[Arrived, HookOutcome]] = RepeatedCalls()

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[Decider]:
        """Follow edits of the policy until the block ends."""
        async with self.store.watch():
            yield self

    async def answer(self, request: Request) -> HookAnswer:
        """Return the answer to one hook call; nothing but an explicit allow ends in allow.

        An event that only tells something is noted, and stops nothing.
        """
        agent = AGENTS.get(request.agent)
        if agent is None:
            return HookAnswer(
                status=BLOCKED, stderr=f"placet: no agent is called {request.agent}\n"
            )
        began, generation = time.monotonic(), self.store.current
        event = read_event(agent, request.input)
        if event is not None:
            return self._noted_event(agent, event, request, generation)
        arrived, outcome = await self._noted_once(agent, request, generation)
        latency = round((time.monotonic() - began) * 1000)
        records = self._records(arrived, outcome, latency)
        if not self._kept(records, generation):
            outcome = outcome.denied(SENTENCES["cannot-record"])
        if outcome.verdict is not Verdict.DENY:
            self._settings.begin(arrived.caller, outcome.calls, records)
        return outcome.answer(agent)

    def _noted_event(
        self, agent: Agent, event: AgentEvent, request: Request, generation: Generation | None
    ) -> HookAnswer:
        """Note what the agent tells of a session; people are told if a call changed settings."""
        caller = _calling(_caller(request, generation), event)
        self._repeated.forget((caller, event.call))
        self._events.note(agent, event, caller)
        changed = self._settings.end(caller, event.call) if event.call else None
        if changed is None:
            return agent.heard
        _LOG.warning("%s", changed.sentence)
        self._kept(list(changed.records), generation)
        return told_to_user(f"placet: {changed.sentence}")

    async def judged(self, request: Request) -> tuple[Arrived, HookOutcome]:
        """Return a hook call as received, and its outcome; nothing is recorded."""
        return await self._judged(AGENTS[request.agent], request, self.store.current)

    async def _noted_once(
        self, agent: Agent, request: Request, generation: Generation | None
    ) -> tuple[Arrived, HookOutcome]:
        """Return a call and its outcome: those of before if the agent asks about it once more."""

        def noted() -> Awaitable[tuple[Arrived, HookOutcome]]:
            return self._noted(agent, request, generation)

        try:
            call = read_hook(agent, request.input, cwd=request.cwd)
        except Unmapped:
            return await noted()
        if not call.is_named or self.store.freezer.current():
            return await noted()
        asked = _calling(_caller(request, generation), call), call.id
        question = request, None if generation is None else generation.id
        return await self._repeated.once(asked, question, noted)

    async def _noted(
        self, agent: Agent, request: Request, generation: Generation | None
    ) -> tuple[Arrived, HookOutcome]:
        """Return a call and its outcome, noted in the history of its session if it goes on."""
        for _ in range(_MOST_JUDGEMENTS):
            arrived, outcome = await self._judged(agent, request, generation)
            if outcome.verdict is Verdict.DENY:
                return arrived, outcome
            try:
                if self._history.note(arrived.caller, outcome.judged, calls=outcome.calls):
                    return arrived, outcome
            except SessionLogUnusable:
                return arrived, outcome.denied(SENTENCES["history-unavailable"])
        return arrived, outcome.denied(SENTENCES["changed-meanwhile"])

    async def _judged(
        self, agent: Agent, request: Request, generation: Generation | None
    ) -> tuple[Arrived, HookOutcome]:
        at, caller = datetime.now(UTC), _caller(request, generation)
        try:
            call = read_hook(agent, request.input, cwd=request.cwd)
        except Unmapped as problem:
            arrived = Arrived(tool="", input={}, caller=caller, at=at)
            return arrived, HookOutcome(verdict=Verdict.DENY, why=problem.message)
        caller = _calling(caller, call)
        arrived = Arrived(tool=call.tool, input=call.input, caller=caller, at=at)
        outcome = await self._decided(agent, call, caller, generation, request=request)
        if any(judgement.stale and judgement.judge is not None for judgement in outcome.judged):
            outcome = outcome.with_note(last_good_rules(self.context.policy))
        return arrived, outcome

    async def _decided(
        self,
        agent: Agent,
        call: HookCall,
        caller: Caller,
        generation: Generation | None,
        *,
        request: Request,
    ) -> HookOutcome:
        """Return what becomes of a call by one generation."""
        outcome = HookOutcome(verdict=Verdict.DENY)
        try:
            meant = _meant(agent, call, generation)
            adjudicator = self._adjudicator(generation, meant.cwd, request)
            judged = [
                await adjudicator.judge(each.tool, dict(each.input), caller) for each in meant.calls
            ]
            outcome = replace(outcome, judged=tuple(judged))
            verdict = strictest(_verdict(each) for each in judged)
            if verdict not in (Verdict.ALLOW, Verdict.ASK):
                return outcome.denied(refusal(judged, caller, call=call, context=self.context))
            decisions = tuple(each.decision for each in judged)
            unredacted = result_not_redacted(decisions)
            if unredacted is not None:
                return outcome.denied(unredacted)
            updated = updated_input(agent, call, meant, decisions)
            outcome = replace(outcome, calls=call_ids(call, updated))
        except Unmapped as problem:
            return outcome.denied(problem.message)
        if verdict is Verdict.ALLOW:
            return replace(outcome, verdict=verdict, updated=updated)
        asked = question(judged)
        why_not = why_not_asked(agent, call, judged, denies_asks=request.denies_asks)
        if why_not is not None:
            return outcome.denied(f"{why_not}: {asked}")
        return replace(outcome, verdict=verdict, why=asked, updated=updated)

    def _adjudicator(
        self, generation: Generation | None, cwd: str, request: Request
    ) -> Adjudicator:
        configured = _configured(generation, "workspace")
        workspace = self.context.workspace or configured or self.context.project
        fact_source = FactSource(
            workspace=os.path.realpath(workspace),
            cwd=cwd,
            home=self.context.home,
            disk=self._disk,
            git_elsewhere=request.git_elsewhere,
            history=self._history.recall,
            said=self._events.hearing.recall,
        )
        return Adjudicator(
            source=lambda: generation,
            fact_source=fact_source,
            stale=lambda: self.store.status.stale,
            freezer=self.store.freezer,
        )

    def _records(self, arrived: Arrived, outcome: HookOutcome, latency: int) -> list[AuditRecord]:
        """Return the records of a call, one for each call of ours that it was judged as."""
        script = None if outcome.updated is None else outcome.updated.get("command")
        return [
            record_of_call(
                arrived,
                verdict=outcome.verdict,
                decision=None if judgement is None else judgement.decision,
                values=() if judgement is None else looked_for(judgement, arrived.caller),
                error=_error(arrived, outcome, judgement),
                ran=script if isinstance(script, str) else None,
                stale=self.store.status.stale,
                latency_ms=latency,
            )
            for judgement in outcome.judged or (None,)
        ]

    def _kept(self, records: list[AuditRecord], generation: Generation | None) -> bool:
        """Write records to the audit file; tell whether they are kept, or need not be."""
        path = self.context.audit or _configured(generation, "audit")
        if path is None:
            return True
        try:
            sink = self._sinks.get(path)
            if sink is None:
                sink = self._sinks[path] = JsonlSink(path)
                self.store.guard(audit=path)
            for record in records:
                sink.write(record)
        except (OSError, AuditFileUnfit):
            return False
        return True


def _verdict(judgement: Judgement) -> Verdict:
    return judgement.decision.verdict if judgement.error is None else Verdict.DENY


def _error(arrived: Arrived, outcome: HookOutcome, judgement: Judgement | None) -> ToolError | None:
    """Return why a call was denied, for its record; None if it was not denied."""
    if outcome.verdict is not Verdict.DENY:
        return None
    if judgement is None:
        return NotFound(arrived.tool, outcome.why)
    return judgement.error or PermissionDenied(arrived.tool, outcome.why)


def _meant(agent: Agent, call: HookCall, generation: Generation | None) -> Mapped:
    """Return the calls of our tools that a call of the agent is judged as."""
    name = mcp_tool(call)
    if name is None and call.tool not in agent.rows and _lists(generation, call.tool):
        name = call.tool
    if name is None:
        return mapped(agent.rows, call.tool, call.input, cwd=call.cwd)
    return Mapped(calls=(OurCall(tool=name, input=call.input),), cwd=call.cwd)


def _lists(generation: Generation | None, tool: str) -> bool:
    """Return whether the policy's own lists declare this tool, and Placet does not."""
    found = None if generation is None else generation.catalog.get(tool)
    return (
        found is not None
        and found.name == tool
        and found.origin.kind == "host"
        and builtin_catalog().get(tool) is None
    )


def _caller(request: Request, generation: Generation | None) -> Caller:
    """Return the caller that the command line and the configuration name."""
    named = None if generation is None else generation.settings.caller
    agent = request.caller or (request.agent if named is None else named.agent)
    return replace(named or Caller(), agent=agent)


def _calling(caller: Caller, call: HookCall | AgentEvent) -> Caller:
    """Return the caller of one call: the agent in its session, or a sub-agent below it."""
    caller = replace(caller, session=call.session)
    if call.subagent is None:
        return caller
    name, session = call.subagent
    return replace(caller, agent=name, session=session, parent=caller)


def _configured(generation: Generation | None, name: str) -> str | None:
    """Return a path of `[service]` in the configuration; None if it is not set."""
    found = None if generation is None else getattr(generation.settings.service, name)
    return found if isinstance(found, str) else None
