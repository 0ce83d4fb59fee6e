"""A service under rules in files, with tools that count calls and approvers that answer on cue.

Everything is real but the clock, the people and the tools.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from policy import Caller, PolicyStore
from policy.approvals import (
    ApprovalOutcome,
    ApprovalRequest,
    Approved,
    Approver,
    Denied,
    Grant,
    Ledger,
    SqliteApprovals,
)
from policy.audit import Approval, AuditRecord, MemorySink
from policy.service import GovernedService, build_tool_service
from tests.fakes import CountingHandler, FakeClock

ANN = Approved(by="ann", groups=("finance",))
BOB = Approved(by="bob", groups=("finance", "legal"))
CYD = Approved(by="cyd", groups=("legal",))
EVE = Approved(by="eve")
NO = Denied(by="ann", reason="use the test account")

HEADER = "policy for every agent\ndefault deny\n"


class People:
    """Answers from a list, running what stands between; an empty list is nobody's answer."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.requests: list[ApprovalRequest] = []

    async def ask(self, request: ApprovalRequest) -> ApprovalOutcome:
        self.requests.append(request)
        while self.answers and callable(self.answers[0]):
            self.answers.pop(0)()
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer  # type: ignore[no-any-return]

    @property
    def asked(self) -> list[tuple[str, ...]]:
        """Which rules each question was about."""
        return [tuple(reason.rule for reason in request.reasons) for request in self.requests]


class Slow:
    """Answers each question when the test does."""

    def __init__(self) -> None:
        self._open: asyncio.Queue[tuple[ApprovalRequest, asyncio.Future[ApprovalOutcome]]]
        self._open = asyncio.Queue()

    async def ask(self, request: ApprovalRequest) -> ApprovalOutcome:
        answer: asyncio.Future[ApprovalOutcome] = asyncio.get_running_loop().create_future()
        await self._open.put((request, answer))
        return await answer

    async def next(self) -> tuple[ApprovalRequest, asyncio.Future[ApprovalOutcome]]:
        """Return the next question, and where its answer goes; fail where none ever comes."""
        return await asyncio.wait_for(self._open.get(), 60)


class Stage:
    """One service under `rules`, and all that can be seen of it."""

    def __init__(
        self,
        folder: Path,
        rules: str,
        *answers: Any,
        tools: tuple[CountingHandler, ...] = (),
        approver: Approver | None = None,
        ledger: Ledger | None = None,
        **more: Any,
    ) -> None:
        self.file = folder / "global.policy"
        self.write(rules)
        self.clock = FakeClock()
        self.people = People(*answers)
        self.sink = MemorySink()
        self.ledger = SqliteApprovals(":memory:") if ledger is None else ledger
        self.handlers = {
            handler.spec.name: handler for handler in tools or (CountingHandler("pay"),)
        }
        self.store = PolicyStore(folder)
        self.service: GovernedService = build_tool_service(
            self.store,
            tools=tuple(self.handlers.values()),
            approver=self.people if approver is None else approver,
            approvals=self.ledger,
            audit=self.sink,
            clock=self.clock,
            workspace=folder,
            **more,
        )
        assert self.store.current is not None, self.store.status

    def write(self, rules: str) -> None:
        self.file.write_text(HEADER + rules)

    def edit(self, rules: str) -> None:
        self.write(rules)
        self.store.reload()
        assert not self.store.status.stale, self.store.status

    async def call(self, tool: str = "pay", by: Caller | None = None, **input: Any) -> Any:
        service = self.service if by is None else self.service.bound_to(by)
        return (await service.execute(tool, input)).value

    @property
    def runs(self) -> int:
        return sum(handler.calls for handler in self.handlers.values())

    @property
    def questions(self) -> int:
        return len(self.people.requests)

    @property
    def last(self) -> AuditRecord:
        return self.sink.records[-1]

    @property
    def approvals(self) -> list[tuple[str, str | None, tuple[str, ...]]]:
        """What the last record says of answers."""
        return [_told(approval) for approval in self.last.approvals]

    async def standing(self) -> tuple[Grant, ...]:
        return await self.ledger.standing(now=self.clock())


def _told(approval: Approval) -> tuple[str, str | None, tuple[str, ...]]:
    return approval.outcome, approval.by, approval.rules
