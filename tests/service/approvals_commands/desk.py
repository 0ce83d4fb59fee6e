"""A service whose approval requests wait in the store of its policy's `[approvals]` table."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import policy
from policy.approvals import ApprovalGate, Filed, SqliteApprovals
from policy.generation import approvals_path, read_settings
from policy.model import Caller, Source, ToolError
from policy.service import GovernedService
from policy.tools import ToolOutput
from tests.unit.cli.running import Ran, run

SETTINGS = """\
[approvals]
store = "../state/approvals.sqlite"
timeout = "10m"

[approvals.groups]
finance = ["ada", "grace"]
secops = ["grace"]
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Office:
    """The folders of one test."""

    folder: Path

    @property
    def rules(self) -> Path:
        return self.folder / "rules"

    @property
    def work(self) -> Path:
        return self.folder / "work"

    @property
    def store(self) -> Path:
        settings, _ = read_settings(
            Source(name="placet.toml", text=(self.rules / "placet.toml").read_text("utf-8")),
            root=str(self.rules),
        )
        return approvals_path(self.rules, settings.approvals)

    def placet(self, *arguments: str) -> Ran:
        """Run `placet approvals`, the path behind the other arguments."""
        return run("approvals", *arguments, self.rules)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[GovernedService]:
        """Give the service over the policy, its questions in the configured store."""
        async with SqliteApprovals(self.store) as approvals:
            yield policy.build_tool_service(
                policy.PolicyStore(self.rules),
                approver=ApprovalGate(approvals, poll=0.01),
                approvals=approvals,
                workspace=self.work,
            )


def office(folder: Path, text: str, settings: str = SETTINGS) -> Office:
    """Make the folders of a test, with two files to work on."""
    made = Office(folder=folder)
    made.rules.mkdir()
    made.work.mkdir()
    (made.rules / "global.policy").write_text(text, encoding="utf-8")
    (made.rules / "placet.toml").write_text(settings, encoding="utf-8")
    for name in ("a.txt", "b.txt"):
        (made.work / name).write_text(name, encoding="utf-8")
    return made


def asking(
    service: GovernedService, tool: str, caller: Caller, **input: Any
) -> asyncio.Task[ToolOutput | ToolError]:
    """Begin a call that waits for people; its error is its outcome."""

    async def call() -> ToolOutput | ToolError:
        try:
            return await service.bound_to(caller).execute(tool, input)
        except ToolError as error:
            return error

    return asyncio.create_task(call())


async def question(office: Office, *, number: int = 1) -> Filed:
    """Return the newest question, as soon as so many wait."""
    async with SqliteApprovals(office.store) as store:
        while True:
            found = await store.open(now=datetime.now(UTC))
            if len(found) >= number:
                return found[-1]
            await asyncio.sleep(0)
