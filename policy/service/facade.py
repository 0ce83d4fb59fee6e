"""`GovernedService`: the service as its users hold it, for one caller."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from policy.approvals import Grant
from policy.config_edit import Configured
from policy.decision import Visibility
from policy.environment import SessionWorkspaces
from policy.model import Caller, Execution, NotFound, ToolError, owner_of
from policy.processes import Launcher, SupervisedLauncher
from policy.runtime import acting_for
from policy.service.acknowledging import Acknowledging
from policy.service.asking.sandbox import Sandbox
from policy.service.configuration import Configurations
from policy.service.elevations import Elevations, elevation_of
from policy.service.facade_operations import is_within_call
from policy.service.freezes import Freezes
from policy.service.host_arguments import require_caller
from policy.service.host_objects import AnyApprover, AnyContextRule
from policy.service.in_flight import HERE, InFlight, enclosing_call
from policy.service.judging.classification import SmartFilter
from policy.service.judging.guards import GuardCell
from policy.service.layers.dispatch import shown_as
from policy.service.prompt_sections import joined, rules_section, usage_rules
from policy.service.recording.events import Events, Listener
from policy.service.refusal_messages import bounded_error
from policy.service.sessions import Hearing, SessionLogUnusable
from policy.service.visible_tools import VisibleTools
from policy.service.yaml import yaml_of
from policy.store import Freezing
from policy.tools import (
    Authored,
    Client,
    ExecutionContext,
    Provider,
    Registration,
    RegistryFeed,
    ToolDefinition,
    ToolHandler,
    ToolOutput,
    ToolRegistry,
    ToolService,
    handler_for,
    provider_schemas,
)
from policy.values import quote


@dataclass(frozen=True, slots=True, kw_only=True)
class GovernedService:
    """A `ToolService` whose every call is judged, recorded and limited in time.

    `bound_to` returns the same service for another caller. A setting made on one applies to all
    of them, from the next call on. With `workspaces` each session tree has its own, and `workspace`
    is None.
    """

    stack: ToolService
    registry: ToolRegistry
    guards: GuardCell
    events: Events
    visibility: VisibleTools
    elevations: Elevations
    configurations: Configurations
    freezes: Freezes
    acknowledging: Acknowledging
    hearing: Hearing
    caller: Caller
    workspace: str | None = None
    workspaces: SessionWorkspaces | None = None
    env: Mapping[str, str]
    client: Client | None = None
    launcher: Launcher = field(default_factory=SupervisedLauncher)
    # What all calls of this caller have in common.
    context: ExecutionContext = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        workspace, env = self.workspace, self.env
        if self.workspaces is not None:
            workspace = self.workspaces.path_of(self.caller)
            env = {**env, "PWD": workspace}
        context = ExecutionContext(
            workspace=workspace,
            env=env,
            tools=self,
            client=self.client,
            launcher=self.launcher,
        )
        object.__setattr__(self, "context", context)

    @property
    def root(self) -> str | None:
        """The folder that holds the files of all sessions: the workspace, or all workspaces."""
        return self.workspace if self.workspaces is None else self.workspaces.root

    async def execute(self, name: str, input: Any) -> ToolOutput:
        """Run a tool for this caller; raise ToolError if that did not end in an output.

        `input` is a JSON object as Python holds it, or its text.
        """
        call, enclosing = InFlight(self.caller), enclosing_call()
        if enclosing is not None:
            call.within(enclosing)
        call.context = self.context
        token = HERE.set(call)
        try:
            with acting_for(owner_of(self.caller)):
                return await self.stack.execute(name, input)
        except ToolError as error:
            raise bounded_error(error) from error.__cause__
        finally:
            HERE.reset(token)

    def list(self) -> builtins.list[ToolDefinition]:
        """Return the tools this caller may use, by name; each says whether a call may ask."""
        return self.visibility.shown(self.stack.list(), self.caller)

    def list_tools(self, category: str | None = None) -> builtins.list[ToolDefinition]:
        """Return the tools that `list` shows, of one category if one is given."""
        shown = self.list()
        return shown if category is None else [one for one in shown if one.category == category]

    def get_tool(self, name: str) -> ToolDefinition:
        """Return what `describe` does; raise NotFound for a tool that this caller does not see."""
        found = self.describe(name)
        if found is None:
            raise NotFound(name, f"no tool is called {quote(name)} here")
        return found

    def get_tool_schemas(self, provider: Provider = "openai") -> builtins.list[dict[str, Any]]:
        """Return the tools that `list` shows in the form that a model provider's interface takes.

        `provider` is `openai` (Chat Completions, which many servers take), `openai-responses`,
        `anthropic` or `gemini`. Raises ValueError for another one, and for a tool whose name the
        provider does not accept.
        """
        return provider_schemas(self.list(), provider)

    def list_yaml(self) -> str:
        """Return the result of `list` as YAML, escaped so that no description can break out."""
        return yaml_of(self.list())

    def describe(self, name: str) -> ToolDefinition | None:
        """Return one of the tools that `list` shows, None for any other.

        A name with a version, such as `translate@1`, selects that version.
        """
        found = self.stack.describe(name)
        if found is None:
            return None
        shown = self.visibility.shown([found], self.caller)
        return shown[0] if shown else None

    def expected(self, name: str, fields: Mapping[str, Any]) -> Visibility:
        """Return whether this caller may call a tool with an input that has these values."""
        return self.visibility.expected(name, fields, self.caller)

    def foreseen(self, name: str, input: Mapping[str, Any]) -> Visibility:
        """Return whether this caller may make a call; nothing is recorded, and nobody is asked.

        Host names are not looked up: a call whose verdict hangs on one is open.
        """
        return self.visibility.foreseen(name, input, self.caller)

    def versions(self, name: str) -> tuple[ToolDefinition, ...]:
        """Return the versions of a tool that this caller may use, by full name, newest first."""
        entries = self.registry.snapshot().versions(name)
        return tuple(
            self.visibility.shown([shown_as(e.name, e.handler) for e in entries], self.caller)
        )

    def usage_rules(self) -> str:
        """Return the usage rules of the tools that `list` returns, as a section of a prompt."""
        return usage_rules(self.list())

    def guidance(self) -> str:
        """Return the usage rules and the policy's rules for a model, as sections of a prompt."""
        return joined(self.usage_rules(), rules_section(self.rule_lines()))

    def rule_lines(self) -> tuple[str, ...]:
        """Return the rules in force for this caller, one plain sentence each."""
        return self.visibility.lines(self.caller)

    def heard(self, *texts: str, resumed: bool = False) -> None:
        """Note what the user of this session wrote, for rules with `named by user`, in order.

        Without texts, the user has written nothing so far. `resumed`: the user wrote others before,
        which were not noted; then what the user wrote is not known, nor are earlier calls if the
        session is new to this service. Raises PermissionDenied within a tool and for a session
        below another, and Execution if the texts cannot be noted.
        """
        for text in texts:
            if not isinstance(text, str):
                raise TypeError(f"what the user wrote is a string, not {type(text).__name__}")
        try:
            self.hearing.hear(self.caller, texts, resumed=resumed, inside=is_within_call())
        except SessionLogUnusable as error:
            raise Execution("placet:heard", str(error)) from error

    def bound_to(self, caller: Caller, *, client: Client | None = None) -> GovernedService:
        """Return this service for another caller. Raises TypeError if `caller` is not valid.

        `client` is what tools may tell the program that makes the calls.
        """
        require_caller(caller)
        return replace(self, caller=caller, client=client)

    def set_smart_filter(self, smart_filter: SmartFilter | None) -> None:
        """Replace the filter that is joined with the policy. Raises TypeError if it is invalid."""
        self.guards.set_smart_filter(smart_filter)

    def set_rules(self, rules: Iterable[AnyContextRule]) -> None:
        """Replace the context rules that are joined with the policy's.

        Raises TypeError if one of them is invalid.
        """
        self.guards.set_rules(rules)

    def set_approver(self, approver: AnyApprover | None) -> None:
        """Replace the approver; None turns every ask into a denial.

        Raises TypeError if it cannot be asked, or is a gate with another store than the service.
        """
        self.guards.set_approver(approver)

    def set_sandbox(self, sandbox: Sandbox | None) -> None:
        """Replace the sandbox that may ask about tools which run code; None for no sandbox.

        Raises TypeError if it cannot be asked, or never confirms.
        """
        self.guards.set_sandbox(sandbox)

    async def elevate(
        self, tools: Iterable[str], *, seconds: float, times: int, because: str = ""
    ) -> Grant:
        """Ask people to approve calls of `tools` for a while, and return the standing approval.

        It answers asks about this caller's calls of tools that match these patterns, if the people
        who gave it may answer the rule that asks. It never lifts a denial, or an indeterminate
        rule. Raises PermissionDenied, or ValidationFailed for an elevation that is not limited.
        """
        wanted = elevation_of(tools, seconds=seconds, times=times, because=because)
        try:
            return await self.elevations.give(self.caller, wanted)
        except ToolError as error:
            raise bounded_error(error) from error.__cause__

    async def revoke(self, grant_id: str) -> Grant | None:
        """Revoke a standing approval; running calls go on. Returns None if there is none."""
        return await self.elevations.revoke(self.caller, grant_id)

    async def configure(self, key: str, value: Any, *, dry_run: bool = False) -> Configured:
        """Set one key of the policy's `placet.toml`, None removing it, and put it in force.

        Only for an owner at the root of all calls: all others, and any tool in the middle of a
        call, get PermissionDenied. Raises PolicyInvalid with every diagnostic, or
        ConfigurationRefused, if the edit cannot be made; then nothing has changed.
        """
        return await self.configurations.edit(self.caller, key, value, dry_run=dry_run)

    async def freeze(
        self, tools: Iterable[str] = (), *, because: str, cancel: bool = False
    ) -> Freezing:
        """Deny every call of these tools at once, of all tools without any; return what is frozen.

        Tools are given by names or patterns. Pending requests about them are denied, approved
        calls do not run, and with `cancel` running calls are ended. It lasts until `unfreeze`, in
        every process that serves this policy. Only for an owner at the root of all calls.
        """
        return await self.freezes.freeze(self.caller, tools, because=because, cancel=cancel)

    async def unfreeze(self) -> Freezing:
        """Lift every freeze; return what was frozen. Only for callers who may `freeze`."""
        return await self.freezes.unfreeze(self.caller)

    async def acknowledge(self, digest: str) -> None:
        """Let an edit of the policy take effect that waits because calls may do more under it.

        `digest` is that of the difference, from the store's status. Only for an owner at the root
        of all calls: all others, and any tool in the middle of a call, get PermissionDenied. Raises
        NotFound if nothing waits under it.
        """
        await self.acknowledging.acknowledge(self.caller, digest)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` when calls start and end; return a function that ends that."""
        return self.events.subscribe(listener)

    def register(self, tool: Authored) -> Registration:
        """Add a tool while the service runs, to the policy's catalogue first.

        Raises ToolError if its name is taken, CatalogError if the catalogue cannot contain it, and
        PolicyInvalid if the policy has errors with it. Then nothing has changed.
        """
        handler = handler_for(tool)
        return self.registry.register(handler.spec.name, handler)

    def register_all(self, tools: Iterable[Authored]) -> tuple[Registration, ...]:
        """Add tools as one change of the policy and of the list, or none; raises like `register`.

        The policy is built once for all of them.
        """
        return self.registry.register_all(tools)

    def replace_all(self, server: str, tools: Iterable[Authored]) -> tuple[Registration, ...]:
        """Make these the tools of an MCP server, as one change; raises like `register`.

        Its other tools are removed from the service; rules may still name them.
        """
        return self.registry.replace_all(server, tools)

    def replace(self, entry: Registration, tool: Authored) -> Registration:
        """Replace a tool's handler and its entry in the catalogue; raises like `register`."""
        return self.registry.replace(entry, handler_for(tool))

    def unregister(self, entry: str | Registration) -> ToolHandler | None:
        """Remove a tool; running calls go on. Returns its handler, None if it was not there.

        `entry.dispose()` does the same. If it was the newest version, the name they share now
        refers to the one before it.
        """
        return self.registry.unregister(entry)

    def changes(self, *, buffer: int = 256) -> RegistryFeed:
        """Return the changes of the tools from now on, for `async for`; see `ToolRegistry`."""
        return self.registry.changes(buffer=buffer)
