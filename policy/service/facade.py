"""The service as its users hold it: one stack of middlewares, seen by one caller."""

from __future__ import annotations

import builtins
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from policy.call import Caller
from policy.catalog import ToolSpec
from policy.errors import ToolError
from policy.service.approvals import Approver, Grant
from policy.service.classification import SmartFilter
from policy.service.context_rule import ContextRule
from policy.service.elevating import Elevations, elevation_of
from policy.service.events import Events, Listener
from policy.service.guards import GuardCell
from policy.service.handler import ExecutionContext, ToolHandler
from policy.service.in_flight import InFlight, RawCall, carrying
from policy.service.registry import Registration, ToolRegistry
from policy.service.sandbox import Sandbox
from policy.service.service import ToolDefinition, ToolOutput, ToolService
from policy.service.visibility import Visibility
from policy.service.words import fitted


@dataclass(frozen=True, slots=True, kw_only=True)
class GovernedService:
    """A `ToolService` whose every call is judged, recorded and limited in time.

    `bound_to` gives the same service for another caller. What is set on one is set on all of
    them, and holds for the calls that arrive from then on.
    """

    stack: ToolService
    registry: ToolRegistry
    guards: GuardCell
    events: Events
    visibility: Visibility
    elevations: Elevations
    announce: Callable[[Iterable[ToolSpec]], object]
    # Between telling the catalogue and the registry, nobody else may do either.
    registering: threading.Lock = field(default_factory=threading.Lock)
    caller: Caller
    workspace: str | None = None
    env: Mapping[str, str]

    async def execute(self, name: str, input: Any) -> ToolOutput:
        """Run a tool for this caller; raise ToolError if that did not end in an output.

        `input` is a JSON object as Python holds it, or its text.
        """
        call = InFlight(caller=self.caller, raw=RawCall(tool=name, input=input))
        call.context = ExecutionContext(workspace=self.workspace, env=self.env, tools=self)
        with carrying(call):
            try:
                return await self.stack.execute(name, input)
            except ToolError as error:
                raise fitted(error) from error.__cause__

    def list(self) -> builtins.list[ToolDefinition]:
        """Return the tools this caller may use, by name; each says whether a call may ask."""
        return self.visibility.shown(self.stack.list(), self.caller)

    def describe(self, name: str) -> ToolDefinition | None:
        """Return one of the tools that `list` shows, None for any other."""
        found = self.stack.describe(name)
        if found is None:
            return None
        shown = self.visibility.shown([found], self.caller)
        return shown[0] if shown else None

    def bound_to(self, caller: Caller) -> GovernedService:
        """Return this service as another caller sees it."""
        return replace(self, caller=caller)

    def set_smart_filter(self, smart_filter: SmartFilter | None) -> None:
        """Exchange the filter that is joined to the policy."""
        self.guards.set_smart_filter(smart_filter)

    def set_rules(self, rules: Iterable[ContextRule]) -> None:
        """Exchange the context rules that are joined to the policy's."""
        self.guards.set_rules(rules)

    def set_approver(self, approver: Approver | None) -> None:
        """Exchange the approver; None turns every ask into a denial."""
        self.guards.set_approver(approver)

    def set_sandbox(self, sandbox: Sandbox | None) -> None:
        """Exchange the sandbox that may ask about tools which run code; None for no such one."""
        self.guards.set_sandbox(sandbox)

    async def elevate(
        self, tools: Iterable[str], *, seconds: float, times: int, because: str = ""
    ) -> Grant:
        """Ask people to let calls of `tools` through for a while, and return what they gave.

        It answers what would be asked of this very caller about tools that fit these patterns,
        where those who gave it may answer that rule. It never lifts a denial, nor what could not
        be decided. Raises PermissionDenied, or ValidationFailed for what is not well bounded.
        """
        wanted = elevation_of(tools, seconds=seconds, times=times, because=because)
        try:
            return await self.elevations.give(self.caller, wanted)
        except ToolError as error:
            raise fitted(error) from error.__cause__

    async def revoke(self, grant_id: str) -> Grant | None:
        """Take a standing approval back; calls that run go on. None if there is none."""
        return await self.elevations.revoke(self.caller, grant_id)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Tell `listener` when calls start and end; return what ends that."""
        return self.events.subscribe(listener)

    def register(self, handler: ToolHandler) -> Registration:
        """Add a tool while the service runs; the policy's catalogue learns of it first.

        Raises ToolError if its name is taken, CatalogError if it cannot stand in the catalogue.
        """
        name = handler.spec.name
        with self.registering:
            if self.registry.get(name) is None:
                self.announce((handler.spec,))
            return self.registry.register(name, handler)

    def replace(self, entry: Registration, handler: ToolHandler) -> Registration:
        """Exchange a tool's handler, and what the catalogue says of it; raises like `register`."""
        with self.registering:
            if self.registry.snapshot().get(entry.name) is entry:
                self.announce((handler.spec,))
            return self.registry.replace(entry, handler)

    def unregister(self, entry: str | Registration) -> ToolHandler | None:
        """Remove a tool; calls that run go on. Returns its handler, None if it was not there."""
        return self.registry.unregister(entry)
