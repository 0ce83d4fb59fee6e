"""The service as its users hold it: one stack of middlewares, seen by one caller."""

from __future__ import annotations

import builtins
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from policy.call import Caller
from policy.catalog import ToolSpec
from policy.service.approvals import Approver
from policy.service.classification import SmartFilter
from policy.service.context_rule import ContextRule
from policy.service.events import Events, Listener
from policy.service.guards import GuardCell
from policy.service.handler import ExecutionContext, ToolHandler
from policy.service.in_flight import InFlight, RawCall, carrying
from policy.service.registry import Registration, ToolRegistry
from policy.service.service import ToolDefinition, ToolOutput, ToolService
from policy.service.visibility import Visibility


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
            return await self.stack.execute(name, input)

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
