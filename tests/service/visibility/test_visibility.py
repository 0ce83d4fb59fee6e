"""The tools that a caller sees, by the same rules that judge its calls."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel

from policy import Caller, GuestScope, PolicyStore, build_tool_service
from policy.audit import MemorySink
from policy.catalog import Reads, Runs, Writes
from policy.model import NotFound, PermissionDenied, ToolError
from policy.service import Allow, Classification, ToolFilter
from policy.tools import Traits, builtin_handlers, tool
from tests.fakes import CountingHandler
from tests.service.registry.stage import Governed, versioned

OPS = Caller(user="ada", groups=("ops",))
OTHER = Caller(user="bob")
HELPER = Caller(agent="helper", parent=OPS)
GUEST = Caller(role="guest", scope=GuestScope(allowed_tools=("deploy*",)))
NOBODY = Caller(role="anonymous")

META = tuple(h for h in builtin_handlers() if h.spec.category == "meta")
SCHEMA = {
    "type": "object",
    "properties": {"region": {"type": "string"}},
    "required": ["region"],
    "additionalProperties": False,
}


def governed(folder: Path, rules: str, **more: Any) -> Governed:
    tools = [
        CountingHandler("deploy", schema=SCHEMA, open_fields=False),
        CountingHandler("look"),
        *META,
    ]
    return Governed(folder, "allow list_tools, get_tool_schema\n" + rules, *tools, **more)


@pytest.mark.parametrize(
    ("rules", "seen_by"),
    [
        ('allow deploy when "ops" in user.groups\n', {"ops", "helper"}),
        ('allow deploy unless "ops" in user.groups\n', {"other", "guest"}),
        ('allow deploy when session.role == "guest"\n', {"guest"}),
        ("allow deploy when agent.depth == 0\n", {"ops", "other", "guest"}),
        ("allow deploy\ndeny deploy when user.id is absent\n", {"ops", "other"}),
        ('allow deploy when "ops" in user.groups and input.region == "eu"\n', {"ops"}),
        ('allow deploy when "ops" in user.groups or input.region == "eu"\n', None),
        ('allow deploy\ndeny deploy when input.region == "us"\n', None),
        ('allow deploy\ndeny deploy when tool.name == "deploy"\n', set()),
        ("allow deploy when now within 20:00..21:00\n", None),
        ("allow deploy when now within 21:00..22:00\n", set()),
    ],
)
async def test_what_a_caller_can_never_call_is_hidden(
    rules: str, seen_by: set[str] | None, tmp_path: Path
) -> None:
    g = governed(tmp_path, rules)
    callers = {"ops": OPS, "other": OTHER, "guest": GUEST}
    if seen_by is not None and "helper" in seen_by:
        callers["helper"] = Caller(agent="helper", groups=("ops",), parent=OPS)
    wanted = set(callers) if seen_by is None else seen_by
    assert {name for name, who in callers.items() if "deploy" in g.shown(who)} == wanted
    for name, who in callers.items():
        ran = await g.call("deploy", who, region="eu") == {"region": "eu"}
        assert ran is (name in wanted)


async def test_the_situation_hides_a_tool_while_it_lasts(tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "placet.toml").write_text('[context]\nmode = "string"\n')
    (tmp_path / "rules" / "a.policy").write_text(
        "policy for every agent\ndefault deny\nallow deploy\n"
        'deny deploy when context.mode == "readonly"\n'
    )
    situation = {"mode": "normal"}
    service = build_tool_service(
        PolicyStore(tmp_path / "rules"),
        tools=[CountingHandler("deploy")],
        workspace=tmp_path,
        context=lambda caller: situation,
    )
    for mode, shown in (("normal", True), ("readonly", False), ("normal", True)):
        situation["mode"] = mode
        assert bool(service.list()) is shown
        assert (service.describe("deploy") is not None) is shown


def test_a_sub_agent_sees_what_all_of_its_chain_may_call(tmp_path: Path) -> None:
    g = governed(tmp_path, 'allow deploy when "ops" in user.groups\nallow look\n')
    child = Caller(agent="helper", groups=("ops",), parent=OTHER)
    assert "deploy" not in g.shown(child)
    assert "look" in g.shown(child)


def test_what_may_ask_is_marked(tmp_path: Path) -> None:
    rules = 'allow deploy, look\nask deploy when "ops" in user.groups\n'
    g = governed(tmp_path, rules)
    for who, asks in ((OPS, True), (OTHER, False)):
        shown = {tool.name: tool.may_ask for tool in g.service.bound_to(who).list()}
        assert (shown["deploy"], shown["look"]) == (asks, False)


@pytest.mark.parametrize(
    ("rule", "asking"),
    [
        ('ask * when writes "**/.github/**"', {"save", "run", "vague"}),
        ('ask * when reads "**/.github/**"', {"read", "run", "vague"}),
        ("ask * when writes anything", {"save", "run", "vague"}),
        ('ask * when connects to "*.example.com"', {"run", "vague"}),
        ("ask * unless reads only workspace", {"read", "run", "vague"}),
    ],
)
def test_only_what_a_rule_can_ask_about_is_marked(
    rule: str, asking: set[str], tmp_path: Path
) -> None:
    @tool(traits=Traits(complete=True))
    def look() -> None: ...

    @tool(traits=Traits(complete=True))
    def read(path: Annotated[str, Reads()]) -> None: ...

    @tool(traits=Traits(complete=True))
    def save(path: Annotated[str, Writes()]) -> None: ...

    @tool(traits=Traits(complete=True))
    def run(command: Annotated[str, Runs()]) -> None: ...

    @tool
    def vague(text: str) -> None: ...

    g = Governed(tmp_path, f"allow *\n{rule}\n", look, read, save, run, vague)
    assert {shown.name for shown in g.service.list() if shown.may_ask} == asking


RULES = (
    "",
    "allow *\n",
    'allow deploy when "ops" in user.groups\nallow look\n',
    "allow look\nallow deploy with approval\n",
    "allow * except look\n",
    "allow deploy with approval\ndeny look\n",
    'allow *\ndeny look unless session.role == "guest"\n',
)


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("who", [OPS, OTHER, HELPER, GUEST, NOBODY])
async def test_list_describe_and_the_tools_that_tell_of_tools_agree(
    rules: str, who: Caller, tmp_path: Path
) -> None:
    g = governed(tmp_path, rules)
    service = g.service.bound_to(who)
    listed = {tool.name: tool for tool in service.list()}
    for name in g.service.registry.list():
        assert (service.describe(name) is not None) is (name in listed)
    if "list_tools" not in listed:
        assert (await g.call("list_tools", who)).startswith("permission-denied")
        return
    told = await g.call("list_tools", who)
    assert {tool["name"]: tool["may_ask"] for tool in told} == {
        name: tool.may_ask for name, tool in listed.items()
    }
    for name in g.service.registry.list():
        schema = await g.call("get_tool_schema", who, tool_name=name)
        assert (schema == "execution/execution") is (name not in listed)


async def test_what_is_hidden_is_denied_all_the_same(tmp_path: Path) -> None:
    g = governed(tmp_path, 'allow deploy when "ops" in user.groups\n')
    assert await g.call("deploy", OTHER, region="eu") == "permission-denied/not-allowed"
    assert await g.call("deploy", OPS, region="eu") == {"region": "eu"}


@pytest.mark.parametrize("input", [{}, {"regoin": "eu"}, {"region": [1]}])
async def test_a_bad_call_of_a_hidden_tool_learns_nothing_of_its_schema(
    input: dict[str, Any], tmp_path: Path
) -> None:
    g = governed(tmp_path, 'allow deploy when "ops" in user.groups\n')
    with pytest.raises(PermissionDenied) as refused:
        await g.service.bound_to(OTHER).execute("deploy", input)
    assert refused.value.message == "no rule allows this"
    # People who read the record learn what was wrong with the call too.
    assert g.records[-1].outcome == "denied"
    assert any(reason.rule == "schema" for reason in g.records[-1].reasons)
    with pytest.raises(ToolError, match="region"):
        await g.service.bound_to(OPS).execute("deploy", input)


async def test_no_hidden_tool_is_proposed(tmp_path: Path) -> None:
    rules = 'allow deploy_service when "ops" in user.groups\n'
    g = Governed(tmp_path, rules, CountingHandler("deploy_service"))
    with pytest.raises(NotFound) as unknown:
        await g.service.bound_to(OTHER).execute("deplyo_servise", {})
    assert unknown.value.message == "no tool is called `deplyo_servise`"
    with pytest.raises(NotFound, match="did you mean `deploy_service`"):
        await g.service.bound_to(OPS).execute("deplyo_servise", {})


class Everything:
    """A filter that lets everything through."""

    def classify(self, name: str, input: Any) -> Classification:
        return Allow()


async def test_without_a_store_a_filter_decides_what_can_be_seen(tmp_path: Path) -> None:
    tools = [CountingHandler("deploy"), versioned("look", 1), versioned("look", 2)]
    service = build_tool_service(tools=tools, workspace=tmp_path, audit=MemorySink())
    assert service.list() == []
    service.set_smart_filter(Everything())
    assert [tool.name for tool in service.list()] == ["deploy", "look"]
    assert [tool.name for tool in service.bound_to(GUEST).list()] == ["deploy"]
    assert service.bound_to(NOBODY).list() == []


@pytest.mark.parametrize("with_policy", [True, False])
async def test_a_filter_by_name_hides_and_marks_what_it_denies_and_asks(
    tmp_path: Path, *, with_policy: bool
) -> None:
    tools = [CountingHandler(name) for name in ("look", "deploy", "drop", "sealed")]
    g = Governed(tmp_path, "allow *\ndeny sealed\n", *tools)
    service = g.service if with_policy else build_tool_service(tools=tools, workspace=tmp_path)
    service.set_smart_filter(ToolFilter(allowed={"look", "d*", "sealed"}, blocked={"drop"}))
    shown = {"look", "deploy"} if with_policy else {"look", "deploy", "sealed"}
    assert {definition.name for definition in service.list()} == shown
    assert service.describe("drop") is None
    with pytest.raises(PermissionDenied, match="this tool is blocked"):
        await service.execute("drop", {})
    service.set_smart_filter(ToolFilter(require_confirmation={"deploy"}))
    asks = {definition.name: definition.may_ask for definition in service.list()}
    assert (asks["deploy"], asks["look"]) == (True, False)
    service.set_smart_filter(Everything())
    assert service.describe("drop") is not None


OPERATIONS = {
    "type": "object",
    "properties": {
        "operation": {"type": "string", "enum": ["read", "write", "delete"]},
        "path": {"type": "string"},
    },
    "required": ["operation"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("rules", "operations", "may_ask"),
    [
        ("allow notes\n", ["read", "write", "delete"], False),
        ('allow notes\ndeny notes when input.operation == "delete"\n', ["read", "write"], False),
        (
            'allow notes\ndeny notes when input.operation == "delete" and input.path == "a"\n',
            ["read", "write", "delete"],
            False,
        ),
        (
            'allow notes\ndeny notes when input.operation in ["write", "delete"] '
            'unless "ops" in user.groups\n',
            ["read"],
            False,
        ),
        ('allow notes when input.operation == "read" and input.path == "a"\n', ["read"], False),
        (
            'allow notes\nask notes when input.operation == "write"\n'
            'deny notes when input.operation == "delete"\n',
            ["read", "write"],
            True,
        ),
        (
            'allow notes when input.operation == "read"\n'
            'ask notes when input.operation == "write"\n',
            ["read"],
            False,
        ),
        ('allow notes when input.operation == "read" and "ops" in user.groups\n', None, False),
    ],
)
async def test_operations_that_are_never_allowed_are_left_out_of_the_schema(
    rules: str, operations: list[str] | None, may_ask: bool, tmp_path: Path
) -> None:
    notes = CountingHandler("notes", schema=OPERATIONS, open_fields=False)
    g = Governed(tmp_path, rules, notes, caller=OTHER)
    shown = g.service.describe("notes")
    if operations is None:
        assert shown is None
        return
    assert shown is not None
    assert list(shown.parameters["properties"]["operation"]["enum"]) == operations
    assert shown.may_ask is may_ask
    for operation in OPERATIONS["properties"]["operation"]["enum"]:  # type: ignore[index]
        if operation not in operations:
            denied = await g.call("notes", operation=operation, path="a")
            assert denied.startswith("permission-denied")


def test_a_tool_all_of_whose_operations_are_denied_is_hidden(tmp_path: Path) -> None:
    notes = CountingHandler("notes", schema=OPERATIONS, open_fields=False)
    denials = "".join(
        f'deny notes when input.operation == "{name}"\n' for name in ("read", "write", "delete")
    )
    g = Governed(tmp_path, "allow notes\n" + denials, notes)
    assert g.shown() == []


class Look(BaseModel):
    """Look at a note."""

    operation: Literal["look"]
    path: str


class Drop(BaseModel):
    """Drop a note."""

    operation: Literal["drop"]
    path: str


@tool(name="desk", traits=Traits(complete=True))
def desk(args: Look | Drop) -> str:
    """Do one of two things."""
    return args.operation


@pytest.mark.parametrize(
    ("name", "input"),
    [
        ("desk", {"operation": "nope", "path": "a"}),
        ("desk", {"operation": "DROP", "path": "a"}),
        ("desk", {"operation": "drop"}),
        ("desk", {"operation": "drop", "path": "a", "more": 1}),
        ("desk", {"operation": "drop", "path": 1}),
        ("desk", {}),
        ("notes", {"operation": "nope"}),
        ("notes", {"operation": "drop", "path": 1}),
        ("notes", {"operation": ["drop"]}),
    ],
)
async def test_no_error_tells_of_an_operation_that_is_not_shown(
    name: str, input: dict[str, Any], tmp_path: Path
) -> None:
    schema = {
        "type": "object",
        "properties": {
            "operation": {"type": "string", "enum": ["look", "drop"]},
            "path": {"type": "string"},
        },
        "required": ["operation"],
        "additionalProperties": False,
    }
    notes = CountingHandler("notes", schema=schema, open_fields=False)
    rules = 'allow desk, notes\ndeny desk, notes when input.operation == "drop"\n'
    g = Governed(tmp_path, rules, notes, desk)
    with pytest.raises(ToolError) as refused:
        await g.service.execute(name, input)
    assert "drop" not in refused.value.message
    # Who sees the operation is told of it as before.
    g.say("allow desk, notes\n")
    with suppress(ToolError):
        await g.service.execute(name, {"operation": "nope", "path": "a"})
    assert "`drop`" in (g.sink.records[-1].message or "")
