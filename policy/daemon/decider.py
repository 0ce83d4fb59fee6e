"""A hook request in, the agent's answer out: mapped, judged with the disk looked at, recorded."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from policy.audit import AuditFileUnfit, AuditRecord, JsonlSink
from policy.call import Caller
from policy.catalog import builtin_catalog
from policy.codes import SENTENCES
from policy.daemon.agents import (
    AGENTS,
    Agent,
    HookCall,
    Mapped,
    OurCall,
    Unmapped,
    mapped,
    mcp_tool,
    read_hook,
)
from policy.daemon.exchange import BLOCKED
from policy.daemon.handing_back import handed_back
from policy.daemon.place import Place, PlaceUnusable
from policy.daemon.records import Arrived, record_of_call
from policy.daemon.request import Answer, Request
from policy.decision import Decision
from policy.errors import NotFound, PermissionDenied, ToolError
from policy.reload import Disk, Generation, PolicyStore
from policy.service import Adjudicator, Judgement, World, because
from policy.verdict import Verdict, strictest


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What one decider is made for: a policy, where it is asked, and what the command line says."""

    policy: str
    home: str
    project: str
    workspace: str | None
    audit: str | None

    @classmethod
    def of(cls, request: Request) -> Setting:
        """Return the setting that a request comes from."""
        return cls(
            policy=request.policy,
            home=request.home,
            project=request.project or request.cwd,
            workspace=request.workspace,
            audit=request.audit,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judged:
    """One call of ours with its judgement, and the error it ends in."""

    judgement: Judgement
    error: ToolError | None

    @property
    def verdict(self) -> Verdict:
        verdict = self.judgement.decision.verdict
        is_known = verdict in (Verdict.ALLOW, Verdict.ASK) and self.error is None
        return verdict if is_known else Verdict.DENY


class Decider:
    """Answers the hook calls of one setting by the policy in force.

    Raises AuditFileUnfit where the audit file is not one.
    """

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.store = PolicyStore(setting.policy, guarded=_guarded(setting), audit=setting.audit)
        self._disk = Disk()
        self._sinks: dict[str, JsonlSink] = {}

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[Decider]:
        """Follow edits of the policy until the block ends."""
        async with self.store.watch():
            yield self

    async def answer(self, request: Request) -> Answer:
        """Return the answer to one hook call; nothing but an explicit allow ends in allow."""
        agent = AGENTS.get(request.agent)
        if agent is None:
            return Answer(status=BLOCKED, stderr=f"placet: no agent is called {request.agent}\n")
        began, at = time.monotonic(), datetime.now(UTC)
        try:
            call = read_hook(agent, request.input, cwd=request.cwd)
        except Unmapped as problem:
            return agent.deny(f"placet: {problem.message}", None)
        arrived = Arrived(
            tool=call.tool, input=call.input, caller=self._caller(request, call), at=at
        )
        verdict, why, updated, judged = await self._decide(agent, call, request, arrived.caller)
        records = self._records(arrived, verdict, why, updated, judged, began)
        if not self._kept(records) and verdict is not Verdict.DENY:
            verdict, why = Verdict.DENY, SENTENCES["cannot-record"]
        match verdict:
            case Verdict.ALLOW:
                return agent.allow("", updated)
            case Verdict.ASK:
                return agent.ask(f"placet: {why}", updated)
            case _:
                return agent.deny(f"placet: {why}", None)

    async def _decide(
        self, agent: Agent, call: HookCall, request: Request, caller: Caller
    ) -> tuple[Verdict, str, Mapping[str, Any] | None, tuple[_Judged, ...]]:
        """Return the verdict on a call, why, what changes of its input, and what was judged."""
        judged: tuple[_Judged, ...] = ()
        try:
            meant = self._meant(agent, call)
            adjudicator = self._adjudicator(meant.cwd)
            judged = tuple([await _judge(adjudicator, each, caller) for each in meant.calls])
            verdict = strictest(each.verdict for each in judged)
            if verdict not in (Verdict.ALLOW, Verdict.ASK):
                return Verdict.DENY, _told(judged), None, judged
            decisions = tuple(each.judgement.decision for each in judged)
            updated = handed_back(agent, call, meant, decisions)
            if verdict is Verdict.ASK:
                problem = _why_not_asked(agent, call, request, decisions)
                if problem is not None:
                    return Verdict.DENY, problem, None, judged
                return verdict, _question(decisions), updated, judged
        except Unmapped as problem:
            return Verdict.DENY, problem.message, None, judged
        return verdict, "", updated, judged

    def _meant(self, agent: Agent, call: HookCall) -> Mapped:
        """Return which calls of ours a call of the agent's is judged as."""
        name = mcp_tool(call)
        if name is None and call.tool not in agent.rows and self._lists(call.tool):
            name = call.tool
        if name is None:
            return mapped(agent.rows, call.tool, call.input, cwd=call.cwd)
        return Mapped(calls=(OurCall(tool=name, input=call.input),), cwd=call.cwd)

    def _lists(self, tool: str) -> bool:
        """Tell whether the policy's own lists name this very tool, and we do not."""
        generation = self.store.current
        found = None if generation is None else generation.catalog.get(tool)
        return (
            found is not None
            and found.name == tool
            and found.origin.kind == "host"
            and builtin_catalog().get(tool) is None
        )

    def _adjudicator(self, cwd: str) -> Adjudicator:
        world = World(
            workspace=os.path.realpath(self._workspace()),
            cwd=cwd,
            home=self.setting.home,
            disk=self._disk,
        )
        return Adjudicator(
            source=lambda: self.store.current,
            world=world,
            stale=lambda: self.store.status.stale,
            freezer=self.store.freezer,
        )

    def _workspace(self) -> str:
        configured = _service(self.store.current, "workspace")
        return self.setting.workspace or configured or self.setting.project

    def _caller(self, request: Request, call: HookCall) -> Caller:
        generation = self.store.current
        named = None if generation is None else generation.settings.caller
        agent = request.caller or (request.agent if named is None else named.agent)
        caller = replace(named or Caller(), agent=agent, session=call.session)
        if call.subagent is None:
            return caller
        name, session = call.subagent
        return replace(caller, agent=name, session=session, parent=caller)

    def _records(
        self,
        arrived: Arrived,
        verdict: Verdict,
        why: str,
        updated: Mapping[str, Any] | None,
        judged: tuple[_Judged, ...],
        began: float,
    ) -> list[AuditRecord]:
        """Return the records of a call, one for each call of ours that it was judged as."""
        latency = round((time.monotonic() - began) * 1000)
        stale = self.store.status.stale
        script = None if updated is None else updated.get("command")
        if not judged:
            error = NotFound(arrived.tool, why)
            return [
                record_of_call(
                    arrived,
                    verdict=verdict,
                    decision=None,
                    error=error,
                    ran=None,
                    stale=stale,
                    latency_ms=latency,
                )
            ]
        return [
            record_of_call(
                arrived,
                verdict=verdict,
                decision=each.judgement.decision,
                error=each.error or _error(arrived.tool, verdict, why),
                ran=script if isinstance(script, str) else None,
                stale=stale,
                latency_ms=latency,
            )
            for each in judged
        ]

    def _kept(self, records: list[AuditRecord]) -> bool:
        """Write records to the audit file; tell whether they are kept, or need not be."""
        path = self.setting.audit or _service(self.store.current, "audit")
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


async def _judge(adjudicator: Adjudicator, call: OurCall, caller: Caller) -> _Judged:
    judgement = await adjudicator.judge(call.tool, dict(call.input), caller)
    return _Judged(judgement=judgement, error=judgement.error)


def _told(judged: tuple[_Judged, ...]) -> str:
    """Return what a model is told of a denial."""
    denied = [each for each in judged if each.verdict is Verdict.DENY]
    error = next((each.error for each in denied if each.error is not None), None)
    if error is None:
        return SENTENCES["not-allowed"]
    if error.code == "policy-unavailable":
        return f"{error.message}: `placet check` says what is wrong with it"
    return error.message


def _why_not_asked(
    agent: Agent, call: HookCall, request: Request, decisions: tuple[Decision, ...]
) -> str | None:
    """Return why an ask cannot become the agent's own question, None where it can."""
    if request.denies_asks:
        return SENTENCES["no-approver"]
    for decision in decisions:
        for reason in decision.reasons:
            terms = reason.terms if reason.verdict is Verdict.ASK else None
            if terms is not None and not terms.plain:
                who = " and ".join(terms.groups) or "two people"
                return f"it needs an approval by {who}, which this agent's user cannot give"
    return agent.cannot_ask(call)


def _question(decisions: tuple[Decision, ...]) -> str:
    """Return what the user is told of a question."""
    asking = [
        reason for each in decisions for reason in each.deciding if each.verdict is Verdict.ASK
    ]
    said = dict.fromkeys(because(reason) or f"the rule {reason.rule} asks" for reason in asking)
    return "; ".join(said) or "a rule asks"


def _error(tool: str, verdict: Verdict, why: str) -> ToolError | None:
    return PermissionDenied(tool, why) if verdict is Verdict.DENY else None


def _service(generation: Generation | None, name: str) -> str | None:
    found = None if generation is None else getattr(generation.settings.service, name)
    return found if isinstance(found, str) else None


def _guarded(setting: Setting) -> list[str]:
    """Return the files that would take the hook away: agents' settings, and the daemon's socket."""
    named = [
        os.path.join(setting.home if place.startswith("~") else setting.project, place[2:])
        for agent in AGENTS.values()
        for place in agent.settings
    ]
    with suppress(PlaceUnusable):  # without a place for it there is no daemon either
        named += Place(setting.policy).files
    return [*named, *(os.path.realpath(path) for path in named)]
