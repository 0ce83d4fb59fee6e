"""A service around real handlers under rules in a file; only the clock is replaced."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from policy import Caller, PolicyStore
from policy.audit import AuditRecord, MemorySink
from policy.model import ToolError
from policy.service import GovernedService, build_tool_service
from policy.tools import Registration
from tests.fakes import CountingHandler, FakeClock

HEADER = "policy for every agent\ndefault deny\n"


def versioned(name: str, version: int, **more: Any) -> CountingHandler:
    """Return one version of a tool; it answers with the number of its version."""

    async def body(input: dict[str, Any], ctx: Any) -> Any:
        return version

    return CountingHandler(name, body, version=version, **more)


class Governed:
    """One service with its store, records and clock."""

    def __init__(
        self,
        folder: Path,
        rules: str,
        *tools: Any,
        caller: Caller | None = None,
        **more: Any,
    ) -> None:
        self.file = folder / "rules.policy"
        self.file.write_text(HEADER + rules)
        self.store = PolicyStore(self.file)
        self.sink = MemorySink()
        self.clock = FakeClock()
        self.service: GovernedService = build_tool_service(
            self.store,
            tools=tools,
            audit=self.sink,
            clock=self.clock,
            workspace=folder,
            caller=caller,
            **more,
        )
        assert self.store.current is not None, self.store.status.diagnostics

    def say(self, rules: str) -> None:
        """Put other rules in force."""
        self.file.write_text(HEADER + rules)
        assert self.store.reload().generation is not None
        assert not self.store.status.stale, self.store.status.diagnostics

    async def call(self, tool: str, caller: Caller | None = None, **input: Any) -> Any:
        """Return what a call gives: the output's value, or the kind and code of its error."""
        service = self.service if caller is None else self.service.bound_to(caller)
        try:
            return (await service.execute(tool, input)).value
        except ToolError as error:
            return f"{error.kind}/{error.code}"

    def shown(self, caller: Caller | None = None) -> list[str]:
        """Return the names that `list` shows."""
        service = self.service if caller is None else self.service.bound_to(caller)
        return [definition.name for definition in service.list()]

    @property
    def records(self) -> list[AuditRecord]:
        return list(self.sink.records)

    def register(self, handler: Any) -> Registration:
        return self.service.register(handler)
