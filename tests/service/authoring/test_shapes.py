"""Tools in every shape, registered in one service and called through it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import pytest
import yaml
from pydantic import BaseModel

from policy.catalog import Arguments
from policy.model import Execution, ValidationFailed
from policy.service import Allow, GovernedService, build_tool_service
from policy.tools import (
    DynamicTool,
    ExecutionContext,
    ToolHandler,
    Traits,
    call_json,
    dynamic_of,
    handler_for,
    tool,
)
from tests.fakes import CountingHandler


class Anything:
    def classify(self, name: str, input: Any) -> Allow:
        return Allow()


def service_of(*tools: Any) -> GovernedService:
    service = build_tool_service(tools=tools)
    service.set_smart_filter(Anything())
    return service


class SearchInput(Arguments):
    query: str
    """What to look for."""
    limit: int | None = None
    """How many to return."""


class Found(BaseModel):
    hits: list[str]


class Search:
    """The shape with models for both sides."""

    Input = SearchInput
    Output = Found
    name = "search"
    description = "Search for something."

    def usage_rule(self) -> str:
        return "Search once,\n  not twice."

    def category(self) -> str:
        return "web"

    async def execute(self, params: SearchInput) -> dict[str, Any]:
        return {"hits": [params.query] * (params.limit or 1)}


class McpInput(Arguments):
    operation: str
    """What to do: any text."""
    target: str
    """What to do it to."""
    params: dict[str, Any] | None = None
    """What else it needs."""


class Remote:
    NAME = "remote"
    DESCRIPTION = "Do something elsewhere."
    Args = McpInput

    def call(self, args: McpInput) -> str:
        return f"{args.operation} {args.target} {args.params}"


class Dynamic:
    """Nothing is known of it but its schema."""

    traits = Traits(read_only=True, strict_schema=True, examples=({"n": 1},))

    @property
    def name(self) -> str:
        return "double"

    def description(self) -> str:
        return "Double a number."

    def parameters_schema(self) -> dict[str, Any]:
        return {
            "$defs": {"N": {"type": "integer", "format": "uint8", "maximum": 255}},
            "type": "object",
            "properties": {"n": {"$ref": "#/$defs/N"}, "note": {"type": "string"}},
            "required": ["n"],
        }

    def usage_rule(self) -> None:
        return None

    async def execute_dynamic(self, params: Any) -> Any:
        return params["n"] * 2


class WithContext:
    name = "whoami"
    description = "Say who calls."

    def schema(self) -> dict[str, Any]:
        return {"type": "object", "properties": {}}

    async def execute(self, input: Any, ctx: ExecutionContext) -> Any:
        return [ctx.caller.agent, sorted(ctx.capabilities), ctx.workspace is not None]


def shout(text: str) -> str:
    """Shout."""
    return text.upper()


async def test_tools_of_every_shape_are_called_alike() -> None:
    service = service_of(Search(), Remote(), Dynamic(), shout)
    service.register(WithContext())
    for name, given, expected in (
        ("search", {"query": "x", "limit": 2}, {"hits": ["x", "x"]}),
        ("remote", {"operation": "go", "target": "there"}, "go there None"),
        ("double", {"n": 4}, 8),
        ("shout", {"text": "a"}, "A"),
        ("whoami", {}, ["default", [], True]),
    ):
        assert (await service.execute(name, given)).value == expected
    for name, bad in (("search", {"limit": 1}), ("double", {"n": 300}), ("whoami", {"x": 1})):
        with pytest.raises(ValidationFailed):
            await service.execute(name, bad)


def test_definitions_say_what_the_author_said() -> None:
    service = service_of(Search(), Dynamic(), Remote())
    search, double = service.describe("search"), service.describe("double")
    assert search is not None and double is not None
    assert search.usage_rule == "Search once, not twice."
    assert search.category == "web"
    assert search.output is not None and list(search.output["required"]) == ["hits"]
    assert dict(search.parameters["properties"]["limit"]) == {
        "type": "integer",
        "description": "How many to return.",
    }
    assert double.strict and double.llm_context == 'Examples:\n{"n":1}'
    assert list(double.parameters["required"]) == ["n", "note"]
    assert dict(double.parameters["properties"]["n"]) == {
        "type": "integer",
        "maximum": 255,
        "minimum": 0,
    }
    remote = service.describe("remote")
    assert remote is not None
    assert dict(remote.parameters["properties"]["operation"]) == {
        "type": "string",
        "description": "What to do: any text.",
    }


def test_definitions_as_yaml_are_what_is_listed() -> None:
    service = service_of(Search(), Dynamic())
    read = yaml.safe_load(service.list_yaml())
    assert [entry["name"] for entry in read] == ["double", "search"]
    assert read[1]["usage_rule"] == "Search once, not twice."


async def test_every_tool_is_a_dynamic_tool() -> None:
    for authored, given, expected in (
        (Search(), {"query": "x"}, {"hits": ["x"]}),
        (Dynamic(), {"n": 1}, 2),
        (WithContext(), {}, ["default", [], False]),
        (tool(shout), {"text": "a"}, "A"),
        (Remote(), {"operation": "a", "target": "b"}, "a b None"),
    ):
        dynamic = dynamic_of(authored)
        assert isinstance(dynamic, DynamicTool)
        assert dynamic.parameters_schema()["type"] == "object"
        assert await dynamic.execute_dynamic(given) == expected
        again: ToolHandler = handler_for(dynamic)
        assert again.spec.name == again.definition.name
    assert await call_json(shout, {"text": "b"}) == "B"
    with pytest.raises(ValidationFailed):
        await call_json(shout, {"text": 1, "more": 2})


class NoArgs:
    NAME = "x"
    DESCRIPTION = "X."

    def call(self, args: Any) -> None: ...


class NoCall:
    NAME = "x"
    DESCRIPTION = "X."
    Args = SearchInput


class NoName(NoCall):
    NAME = ""

    def call(self, args: Any) -> None: ...


class NoSchema:
    name = "x"
    description = "X."
    schema = "string"

    async def execute(self, input: Any, ctx: Any) -> None: ...


class BadExample(Search):
    EXAMPLES = ({"limit": 3},)


class BadOutput(Search):
    Output = Callable[[], int]


class BadTrait(Search):
    COMPLETE = "yes"


@pytest.mark.parametrize(
    ("authored", "message"),
    [
        (NoArgs(), "`NoArgs.Args`: the arguments of a tool must be a pydantic model"),
        (NoCall(), "`NoCall` has no method `call`"),
        (NoName(), "the name of a tool"),
        (NoSchema(), "`NoSchema.schema` is not a JSON Schema"),
        (BadExample(), "example 1 of `search` is not a valid input"),
        (BadOutput(), "a type that JSON has"),
        (BadTrait(), "`complete` must be true or false"),
        (Search, "`Search` is a class"),
        (object(), "is not a tool: a tool is a function"),
        (3, "is not a tool"),
        (lambda text: text, "`text`"),
    ],
)
def test_what_is_no_tool_is_the_authors_to_mend(authored: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        handler_for(authored)
    with pytest.raises(TypeError, match=message):
        build_tool_service(tools=[authored])
    with pytest.raises(TypeError, match=message):
        build_tool_service(tools=[]).register(authored)


class Broken:
    name = "broken"
    description = "Its schema leads nowhere."

    def parameters_schema(self) -> dict[str, Any]:
        return {"type": "object", "properties": {"x": {"$ref": "#/nowhere"}}}

    def usage_rule(self) -> None: ...

    async def execute_dynamic(self, params: Any) -> Any:
        return "ran"


class OfText(Broken):
    def parameters_schema(self) -> dict[str, Any]:
        return {"type": "string"}


class Misspelt(Broken):
    def parameters_schema(self) -> dict[str, Any]:
        return {"type": "object", "properties": {"x": {"type": "strng"}}}


@pytest.mark.parametrize(
    ("authored", "said"),
    [
        (Broken(), "without a target"),
        (OfText(), "not that of an object"),
        (Misspelt(), "is not valid"),
    ],
)
def test_a_tool_whose_schema_cannot_be_used_is_the_authors_to_mend(
    authored: Any, said: str
) -> None:
    with pytest.raises(TypeError, match=f"`{type(authored).__name__}.parameters_schema` .*{said}"):
        build_tool_service(tools=[authored])


class TakesNothing:
    NAME = "x"
    DESCRIPTION = "X."
    Args = SearchInput

    def call(self) -> None: ...


class TakesThree(TakesNothing):
    def call(self, args: Any, ctx: Any, more: Any) -> None: ...  # type: ignore[override]


class TakesByName(TakesNothing):
    def call(self, *, args: Any) -> None: ...  # type: ignore[override]


class Yields(TakesNothing):
    def call(self, args: Any) -> Any:  # type: ignore[override]
        yield args


async def streamed(text: str) -> Any:
    """Return a text in parts."""
    yield text


class NoParams:
    name = "x"
    description = "X."
    schema: ClassVar[dict[str, Any]] = {"type": "object"}

    def execute(self) -> None: ...


class InvokedWithout(CountingHandler):
    async def invoke(self, input: Any) -> Any: ...  # type: ignore[override]


class InvokedAtOnce(CountingHandler):
    def invoke(self, input: Any, ctx: Any) -> Any: ...


@pytest.mark.parametrize(
    ("authored", "said"),
    [
        (TakesNothing(), r"`TakesNothing.call` must take \(args\) or \(args, ctx\)"),
        (TakesThree(), r"`TakesThree.call` must take \(args, ctx\)"),
        (TakesByName(), r"`TakesByName.call` must take \(args\)"),
        (Yields(), "`Yields.call` yields"),
        (streamed, "`streamed` yields"),
        (NoParams(), r"`NoParams.execute` must take \(args\)"),
        (InvokedWithout(), r"`InvokedWithout.invoke` must take \(input, ctx\)"),
        (InvokedAtOnce(), "`InvokedAtOnce.invoke` must be async"),
    ],
)
def test_a_tool_that_cannot_be_called_is_the_authors_to_mend(authored: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        build_tool_service(tools=[authored])


# ------------------------------------------------------------------ outputs


class Report(BaseModel):
    status: Literal["ok"] = "ok"
    count: int
    note: str | None = None


def returning(value: Any, kind: Any = Report) -> Any:
    def report() -> Any:
        """Report."""
        return value

    report.__annotations__["return"] = kind
    return report


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (Report(count=1), Report, {"status": "ok", "count": 1, "note": None}),
        ({"count": 1}, Report, {"status": "ok", "count": 1, "note": None}),
        ([Report(count=2)], list[Report], [{"status": "ok", "count": 2, "note": None}]),
        ({"a": 1}, dict[str, int], {"a": 1}),
        ((1, "x"), tuple[int, str], [1, "x"]),
        ([1, "x"], tuple[int, str], [1, "x"]),
        (None, None, None),
        ({"a": {1}}, Any, {"a": [1]}),
    ],
)
async def test_an_output_has_its_declared_shape(value: Any, kind: Any, expected: Any) -> None:
    output = await service_of(returning(value, kind)).execute("report", {})
    assert output.value == expected


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({"count": "s3cret"}, Report),
        ({"count": 1, "status": "s3cret"}, Report),
        ({"s3cret": "s3cret"}, dict[str, int]),
        (["s3cret"], list[int]),
        ("s3cret", Report),
        ("s3cret", None),
        (Report.model_construct(count="s3cret"), Report),
        (3.5, int),
        (True, int),
        (float("nan"), float),
        (object(), Report),
    ],
)
async def test_a_wrong_output_fails_the_call_and_shows_no_value(value: Any, kind: Any) -> None:
    with pytest.raises(Execution) as failed:
        await service_of(returning(value, kind)).execute("report", {})
    assert "s3cret" not in str(failed.value)


async def test_a_wrong_field_is_named() -> None:
    with pytest.raises(Execution, match="`count`: it should be a valid integer"):
        await service_of(returning({"count": "x"})).execute("report", {})


# ------------------------------------------------------------------ strict schemas


class Inner(Arguments):
    deep: int = 3
    other: str | None = None


class Outer(Arguments):
    needed: str
    number: int = 2
    text: str | None = None
    kept: int | None = 5
    inner: Inner = Inner()
    many: tuple[Inner, ...] = ()


@tool(traits=Traits(strict_schema=True))
def strict(outer: Outer) -> dict[str, Any]:
    """Take many."""
    return outer.model_dump()


async def test_null_for_what_may_be_left_out_is_leaving_it_out() -> None:
    service = service_of(strict)
    shown = service.describe("strict")
    assert shown is not None
    assert list(shown.parameters["required"]) == list(Outer.model_fields)
    nulls = {"number": None, "text": None, "inner": None, "many": None}
    output = await service.execute("strict", {"needed": "x", "kept": 5, **nulls})
    assert output.value == {**Outer(needed="x").model_dump(), "many": []}
    below = {"inner": {"deep": None, "other": None}, "many": [{"deep": None, "other": "y"}]}
    output = await service.execute("strict", {"needed": "x", **nulls, **below})
    assert output.value["inner"] == {"deep": 3, "other": None}
    assert output.value["many"] == [{"deep": 3, "other": "y"}]
    with pytest.raises(ValidationFailed, match="needed"):
        await service.execute("strict", {"needed": None, **nulls})


async def test_null_that_means_something_is_kept() -> None:
    output = await service_of(strict).execute("strict", {"needed": "x", "kept": None})
    assert output.value["kept"] is None


def test_the_schema_of_file_read_is_the_sample() -> None:
    service = build_tool_service()
    service.set_smart_filter(Anything())
    shown = service.describe("file_read")
    assert shown is not None
    properties = shown.parameters["properties"]
    assert shown.parameters["type"] == "object"
    assert list(shown.parameters["required"]) == ["path"]
    assert {name: part["type"] for name, part in properties.items()} == {
        "path": "string",
        "encoding": "string",
    }
    assert all(part["description"] for part in properties.values())
