"""Replays recorded calls through a whole service, with the results they had."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import policy
from policy.model import Caller, PermissionDenied, ToolError, Verdict
from policy.service import ApprovalRequest, Approved, Denied, ExecutionContext, GovernedService


@dataclass(slots=True)
class RecordedTool:
    """A tool that returns what the recorded call returned; `runs` counts its calls."""

    name: str
    description: str
    schema: Mapping[str, Any]
    result: Any = None
    runs: int = 0

    async def execute(self, input: Any, ctx: ExecutionContext) -> Any:
        """Return the recorded result."""
        self.runs += 1
        return self.result


@dataclass(slots=True)
class Person:
    """Answers every question alike, and counts them."""

    approves: bool = True
    asked: int = 0

    async def ask(self, request: ApprovalRequest) -> Approved | Denied:
        """Approve or refuse."""
        self.asked += 1
        return Approved(by="person") if self.approves else Denied(by="person")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one call: `allowed`, `asked` or `denied`, and by which rules it was denied."""

    tool: str
    input: Mapping[str, Any]
    verdict: str
    rules: frozenset[str] = frozenset()


@dataclass(slots=True)
class Replay:
    """A service over a policy and recorded tools."""

    service: GovernedService
    tools: Mapping[str, RecordedTool]
    person: Person
    sessions: int = 0

    def session(self, *said: str) -> GovernedService:
        """Return a new session of a new user who has written `said`."""
        self.sessions += 1
        name = f"s{self.sessions}"
        bound = self.service.bound_to(Caller(session=name, user=name))
        bound.heard(*said)
        return bound

    async def call(
        self, session: GovernedService, name: str, input: Mapping[str, Any], result: Any
    ) -> Outcome:
        """Make one call, which returns `result` if it runs."""
        tool, asked = self.tools[name], self.person.asked
        tool.result, runs = result, tool.runs
        rules: frozenset[str] = frozenset()
        try:
            await session.execute(tool.name, dict(input))
        except ToolError as error:
            verdict = "asked" if self.person.asked > asked else "denied"
            rules = _denying(error)
        else:
            verdict = "asked" if self.person.asked > asked else "allowed"
            assert tool.runs == runs + 1
        return Outcome(tool=tool.name, input=input, verdict=verdict, rules=rules)


def _denying(error: ToolError) -> frozenset[str]:
    """Return the names of the rules that denied a call."""
    if not isinstance(error, PermissionDenied) or error.decision is None:
        return frozenset()
    reasons = error.decision.reasons
    return frozenset(one.rule for one in reasons if one.rule and one.verdict is Verdict.DENY)


def open_replay(
    rules: Path, listed: Iterable[Mapping[str, Any]], *, workspace: Path, **settings: Any
) -> Replay:
    """Return a service over the policy in a folder, for tools as `tools/list` answers them."""
    workspace.mkdir()
    tools = {
        one["name"]: RecordedTool(one["name"], one["description"], one["inputSchema"])
        for one in listed
    }
    person = Person()
    service = policy.build_tool_service(
        policy.PolicyStore(rules),
        tools=list(tools.values()),
        workspace=workspace,
        approver=person,
        asks_per_session=1_000,
        **settings,
    )
    return Replay(service=service, tools=tools, person=person)
