"""The interface of a tool service, part by part, as applications use it.

Each test is a script with what `policy` and `policy.service` export. Where Placet deviates from
what others do, decision 0052 says so, and the last tests check what it says.
"""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest
from mcp import Client
from pydantic import BaseModel

import policy
from policy import (
    Caller,
    GuestScope,
    NotFound,
    PermissionDenied,
    PolicyStore,
    Timeout,
    ValidationFailed,
    build_tool_service,
)
from policy.proxy import ListChanges, tool_server
from policy.service import (
    Allow,
    Approved,
    BuiltinTools,
    Confirm,
    ContextRuleLayer,
    CoreDispatch,
    Deny,
    ExecAuditLayer,
    GovernedService,
    LayeredPermissionResolver,
    PermissionLayer,
    PolicyEngine,
    Rewrite,
    ScriptedApprover,
    TimeoutLayer,
    ToolEnded,
    ToolFilter,
    ToolRegistry,
    ToolStarted,
    fixed_limits,
    handler_for,
    invoke_with_session_trace,
    register_builtins,
    tool,
)

HEADER = "policy for every agent\ndefault deny\n"
PAGE = Path(__file__).parents[2] / "docs/decisions/0052-where-the-interface-differs.md"


def served(folder: Path, rules: str = "allow *\n", **more: Any) -> GovernedService:
    """Return a service under these rules."""
    (folder / "rules").mkdir()
    (folder / "rules/global.policy").write_text(HEADER + rules)
    (folder / "work").mkdir()
    return build_tool_service(PolicyStore(folder / "rules"), workspace=folder / "work", **more)


@tool
def word_count(text: str) -> dict[str, int]:
    """Count the words of a text."""
    return {"count": len(text.split())}


@tool
async def sleeper() -> None:
    """Wait for longer than anybody does."""
    await asyncio.Event().wait()


async def test_the_facade_lists_describes_and_executes(tmp_path: Path) -> None:
    service = served(tmp_path, tools=[word_count])
    assert [definition.name for definition in service.list()] == ["word_count"]
    assert service.describe("word_count") is not None
    assert service.describe("nothing") is None
    for input in ({"text": "a b"}, '{"text": "a b"}'):
        output = await service.execute("word_count", input)
        assert output.value == {"count": 2}
    metadata = output.metadata
    assert metadata.latency_ms >= 0
    assert (metadata.tokens_used, metadata.source) == (None, "builtin")


class Once:
    """A filter and a context rule that note what they are called with."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.calls: list[tuple[str, Mapping[str, Any]]] = []

    def classify(self, name: str, input: Mapping[str, Any]) -> Any:
        self.calls.append((name, input))
        return self.answer

    def evaluate(self, name: str, input: Mapping[str, Any]) -> Any:
        self.calls.append((name, input))
        return self.answer


async def test_the_layers_can_be_stacked_by_hand() -> None:
    registry = ToolRegistry()
    registry.register("word_count", word_count)
    registry.register(sleeper)
    timeout = TimeoutLayer(CoreDispatch(registry), fixed_limits(30, {"sleeper": 0.01}))
    rules = ContextRuleLayer(timeout)
    permission = PermissionLayer(rules)
    service = ExecAuditLayer(permission)
    assert [each.name for each in service.list()] == ["sleeper", "word_count"]
    with pytest.raises(PermissionDenied):
        await service.execute("word_count", {"text": "a b"})
    permission.set_smart_filter(Once(Allow()))
    rules.set_rules([Once(Rewrite({"text": "a b c"}))])
    assert (await service.execute("word_count", {"text": "a"})).value == {"count": 3}
    permission.set_smart_filter(Once(Confirm(reason="sure?")))
    permission.set_approver(ScriptedApprover(Approved(by="ada")))
    assert (await service.execute("word_count", {"text": "a"})).value == {"count": 3}
    permission.set_smart_filter(Once(Allow()))
    rules.set_rules([])
    with pytest.raises(Timeout) as late:
        await service.execute("sleeper", {})
    assert late.value.seconds == 0.01


async def test_a_call_goes_through_filter_rule_approver_and_handler_in_one_go(
    tmp_path: Path,
) -> None:
    approver = ScriptedApprover(Approved(by="ada"))
    service = served(tmp_path, tools=[word_count], approver=approver)
    heard: list[Any] = []
    service.subscribe(heard.append)
    smart_filter, rule = Once(Confirm("sure?")), Once(Rewrite({"text": "a b c"}))
    service.set_smart_filter(smart_filter)
    service.set_rules([rule])
    output = await service.execute("WordCount", {"text": "a"})
    assert output.value == {"count": 3} and output.metadata.rewritten
    # The name was corrected before anything was asked, and people saw what ran.
    assert smart_filter.calls[0] == rule.calls[0] == ("word_count", {"text": "a"})
    assert approver.requests[0].input == {"text": "a b c"}
    started, ended = heard
    assert isinstance(started, ToolStarted) and isinstance(ended, ToolEnded)
    assert (started.name, ended.name) == ("stream.tool_start", "stream.tool_end")


async def test_errors_are_of_six_classes(tmp_path: Path) -> None:
    service = served(
        tmp_path,
        "allow * except word_count\n",
        tools=[word_count, sleeper],
        timeouts={"sleeper": 0.01},
    )
    with pytest.raises(NotFound) as unknown:
        await service.execute("nothing", {})
    assert unknown.value.name == "nothing"
    with pytest.raises(PermissionDenied) as denied:
        await service.execute("word_count", {"text": "a"})
    assert denied.value.decision is not None
    with pytest.raises(ValidationFailed):
        await service.execute("sleeper", {"for": "ever"})
    with pytest.raises(Timeout):
        await service.execute("sleeper", {})
    for name in ("Execution", "Transport"):
        assert issubclass(getattr(policy, name), policy.ToolError)


class TranslateArgs(BaseModel):
    """What to translate."""

    text: str
    target_language: str
    source_language: str | None = None


class Translate:
    """A tool that declares its traits in methods."""

    NAME = "translate"
    DESCRIPTION = "Translate a text."
    Args = TranslateArgs

    def category(self) -> str:
        return "text"

    def requires_confirmation(self) -> bool:
        return True

    def strict_schema(self) -> bool:
        return True

    def examples(self) -> list[dict[str, Any]]:
        return [{"text": "good morning", "target_language": "fr"}]

    async def call(self, args: TranslateArgs) -> str:
        return f"{args.text} in {args.target_language}"


class Echo:
    """A tool that is described by its methods, and gets the context."""

    def name(self) -> str:
        return "echo"

    def description(self) -> str:
        return "Say it again."

    def schema(self) -> dict[str, Any]:
        return {"type": "object", "properties": {"text": {"type": "string"}}}

    async def execute(self, input: Mapping[str, Any], ctx: Any) -> dict[str, Any]:
        return {"text": input["text"], "workspace": ctx.workspace, "for": ctx.caller.agent}


class Count:
    """A tool with models of its input and output."""

    class Input(BaseModel):
        text: str

    class Output(BaseModel):
        count: int

    name: ClassVar[str] = "count"
    description: ClassVar[str] = "Count letters."

    def usage_rule(self) -> str:
        return "Count before you send."

    async def execute(self, params: Input) -> Output:
        return Count.Output(count=len(params.text))


class Dynamic:
    """A tool that is described by its schema."""

    name: ClassVar[str] = "dynamic"
    description: ClassVar[str] = "Return the parameters."

    def parameters_schema(self) -> dict[str, Any]:
        return {"type": "object", "properties": {"text": {"type": "string"}}}

    def usage_rule(self) -> None:
        return None

    async def execute_dynamic(self, params: Mapping[str, Any]) -> Any:
        return dict(params)


async def test_tools_of_all_documented_forms_are_called_through_one_service(
    tmp_path: Path,
) -> None:
    approver = ScriptedApprover(Approved(by="ada"))
    service = served(tmp_path, tools=[Translate(), Echo()], approver=approver)
    service.register(Count())
    service.registry.register(Dynamic())
    caller = service.bound_to(Caller(agent="coder"))
    input = {"text": "hello", "target_language": "fr"}
    outputs = [
        (await caller.execute(name, given)).value
        for name, given in (
            ("translate", input),
            ("echo", {"text": "hello"}),
            ("count", {"text": "hello"}),
            ("dynamic", {"text": "hello"}),
        )
    ]
    workspace = str(tmp_path / "work")
    assert outputs == [
        "hello in fr",
        {"text": "hello", "workspace": workspace, "for": "coder"},
        {"count": 5},
        {"text": "hello"},
    ]
    # Only the tool that requires it was confirmed.
    assert [request.tool for request in approver.requests] == ["translate"]
    assert service.usage_rules() == "## Tool Usage Rules\n\n- count: Count before you send.\n"


def test_a_definition_follows_from_what_a_tool_declares() -> None:
    definition = handler_for(Translate()).definition
    assert (definition.category, definition.requires_confirmation) == ("text", True)
    assert definition.strict
    assert set(definition.parameters["required"]) == {
        "text",
        "target_language",
        "source_language",
    }
    assert definition.llm_context is not None and "good morning" in definition.llm_context


async def test_usage_rules_reach_the_clients_of_a_server(tmp_path: Path) -> None:
    service = served(tmp_path, tools=[Count(), Echo()])
    async with Client(tool_server(lambda client: service, ListChanges())) as client:
        described = {each.name: each.description for each in (await client.list_tools()).tools}
    assert described == {
        "count": "Count letters. Usage: Count before you send.",
        "echo": "Say it again.",
    }


def test_a_registry_is_filled_emptied_and_looked_at() -> None:
    registry = ToolRegistry()
    changes: list[str] = []
    registry.subscribe(lambda change: changes.append(type(change).__name__))
    assert len(BuiltinTools.default_for_agent().register_all(registry)) == 10
    before = registry.snapshot()
    registry.register(Dynamic())
    assert registry.get("dynamic") is not None and "dynamic" in registry.list()
    assert "dynamic" not in before
    assert registry.unregister("dynamic") is not None
    assert registry.unregister("dynamic") is None
    assert changes[-2:] == ["Registered", "Unregistered"]
    with pytest.raises(policy.ToolError, match="cannot be registered as `other`"):
        registry.register("other", Dynamic())
    with pytest.raises(TypeError, match="is not a tool"):
        registry.register("dynamic")


# The arguments of the built-in tools; those with `?` may be left out.
BUILTIN = {
    "file_read": "path encoding?",
    "file_write": "path content",
    "file_list": "path recursive?",
    "file_delete": "path",
    "file_mkdir": "path",
    "file_chmod": "path mode",
    "bash_exec": "command timeout?",
    "web_fetch": "url method? headers?",
    "list_tools": "category?",
    "get_tool_schema": "tool_name",
}


def test_the_built_in_tools_take_what_they_are_documented_to_take(tmp_path: Path) -> None:
    service = served(tmp_path, tools=[])
    register_builtins(service)
    taken = {
        definition.name: " ".join(
            name if name in definition.parameters.get("required", ()) else f"{name}?"
            for name in definition.parameters["properties"]
        )
        for definition in service.list()
    }
    assert taken == BUILTIN


async def test_a_session_trace_and_a_resolver_and_an_engine_of_identities(tmp_path: Path) -> None:
    service = served(tmp_path, "allow word_count with approval\n", tools=[word_count])
    store = PolicyStore(tmp_path / "rules")
    store.extend_catalog([word_count.spec])
    resolver = LayeredPermissionResolver(lambda: store.current)
    assert isinstance(resolver.classify("word_count", {"text": "a"}), Confirm)
    (tmp_path / "rules/global.policy").write_text(HEADER + "deny word_count\n")
    store.reload()
    assert isinstance(resolver.classify("word_count", {"text": "a"}), Deny)
    guest = Caller(role="guest", scope=GuestScope(allowed_tools=("word_*",)))
    assert isinstance(PolicyEngine().check(guest, "word_count"), Allow)
    assert isinstance(PolicyEngine().check(guest, "bash_exec"), Deny)

    class Session:
        events: ClassVar[list[str]] = []

        async def emit(self, event: object) -> None:
            self.events.append(type(event).__name__)

    with pytest.raises(PermissionDenied):
        await invoke_with_session_trace(
            service, Session(), "word_count", {"text": "a"}, session="s1"
        )
    assert Session.events == ["ToolCallRequested", "ToolCallDenied"]


async def test_a_whitelist_a_blacklist_and_a_list_to_confirm(tmp_path: Path) -> None:
    approver = ScriptedApprover(Approved(by="ada"))
    tools = [word_count, Echo(), Count()]
    service = served(tmp_path, tools=tools, approver=approver)
    service.set_smart_filter(
        ToolFilter(
            allowed={"word_*", "echo"}, blocked={"echo"}, require_confirmation={"word_count"}
        )
    )
    assert [each.name for each in service.list()] == ["word_count"]
    await service.execute("word_count", {"text": "a"})
    assert len(approver.requests) == 1
    for name in ("echo", "count"):
        with pytest.raises(PermissionDenied):
            await service.execute(name, {"text": "a"})


# What decision 0052 says of the interface.


def test_the_decision_names_every_deviation_that_is_checked_here() -> None:
    text = PAGE.read_text()
    for said in (
        "await service.list()",
        "with_confirmation",
        "ctx.capabilities",
        "TimedOut",
        "FollowLayer",
        "code_exec",
        "execute_dynamic",
    ):
        assert said in text


async def test_a_list_is_a_list_and_is_not_awaited(tmp_path: Path) -> None:
    service = served(tmp_path, tools=[word_count])
    assert type(service.list()) is list
    assert not inspect.isawaitable(service.list())
    assert not inspect.iscoroutinefunction(service.describe)


async def test_tools_that_do_not_ship_are_not_found_but_may_be_registered(tmp_path: Path) -> None:
    service = served(tmp_path)
    for name in ("code_exec", "python_exec", "web_search", "memory_store", "sessions_list"):
        with pytest.raises(NotFound):
            await service.execute(name, {})

    @tool(name="code_exec", traits=policy.service.Traits(exec_class=True, unseen=True))
    def code_exec(language: Literal["python"], code: str) -> str:
        """Run a program."""
        return f"{language}: {code}"

    service.register(code_exec)
    output = await service.execute("code_exec", {"language": "python", "code": "1"})
    assert output.value == "python: 1"


def test_a_definition_is_changed_like_any_other_dataclass() -> None:
    definition = handler_for(Echo()).definition
    assert not hasattr(definition, "with_confirmation")
    assert dataclasses.replace(definition, requires_confirmation=True).requires_confirmation
