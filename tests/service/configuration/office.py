"""A policy folder with a `placet.toml`, and a service under it whose tools count calls."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from policy import Caller, PolicyStore, ToolError, build_tool_service
from policy.approvals import Approved, ScriptedApprover
from policy.audit import AuditRecord, MemorySink
from policy.service import GovernedService
from tests.fakes import CountingHandler

SILENT = "policy for every agent\n"


def tool(name: str, **spec: Any) -> CountingHandler:
    """Return a tool that counts its runs."""
    return CountingHandler(name, **spec)


class Office:
    """One folder, its store, a sink, an approver who agrees, and the service."""

    def __init__(
        self, folder: Path, toml: str, *tools: CountingHandler, rules: str = SILENT
    ) -> None:
        self.folder = folder / "rules"
        self.folder.mkdir()
        (self.folder / "global.policy").write_text(rules, "utf-8")
        self.file = self.folder / "placet.toml"
        self.file.write_text(toml, "utf-8")
        self.store = PolicyStore(self.folder, settle=0.0)
        self.sink = MemorySink()
        self.approver = ScriptedApprover(otherwise=Approved(by="ann"))
        self.service: GovernedService = build_tool_service(
            self.store,
            tools=tools,
            approver=self.approver,
            audit=self.sink,
            workspace=folder,
            home=str(folder),
            asks_per_session=1000,
        )

    def as_agent(self, agent: str = "default", **more: Any) -> GovernedService:
        """Return the service as another caller sees it."""
        return self.service.bound_to(Caller(agent=agent, **more))

    @property
    def last(self) -> AuditRecord:
        """The latest record."""
        return self.sink.records[-1]

    async def outcome(self, name: str, *, agent: str = "default") -> str:
        """Call a tool and return the verdict on record."""
        with suppress(ToolError):
            await self.as_agent(agent).execute(name, {})
        return self.last.verdict.value

    @property
    def rules(self) -> list[str]:
        """The rules that carried the last verdict, in the order of the record."""
        record = self.last
        return [reason.rule for reason in record.reasons if reason.verdict is record.verdict]
