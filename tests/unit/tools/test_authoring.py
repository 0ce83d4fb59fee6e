"""Tools as their authors write them."""

from __future__ import annotations

import asyncio
import threading
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from policy.catalog import Arguments, Reads, Resource
from policy.model import Execution, PermissionDenied, ValidationFailed
from policy.service import Allow, build_tool_service, invoke_with_session_trace
from policy.tools import ExecutionContext, Traits, handler_of, tool


class Anything:
    def classify(self, name: str, input: Any) -> Allow:
        return Allow()


@tool
def add(a: int, b: int = 2) -> int:
    """Add two numbers."""
    return a + b


def _cyclic() -> dict[str, Any]:
    result: dict[str, Any] = {}
    result["itself"] = result
    return result


@tool
def endless(declared: bool) -> Any:
    """Return what contains itself."""
    return _cyclic()


@tool
def endless_record() -> dict[str, Any]:
    """Return what contains itself, as a declared shape."""
    return _cyclic()


@pytest.mark.parametrize(
    ("name", "input"), [("endless", {"declared": False}), ("endless_record", {})]
)
async def test_a_result_that_contains_itself_is_an_error_that_says_so(
    name: str, input: dict[str, Any]
) -> None:
    service = build_tool_service(tools=[endless, endless_record])
    service.set_smart_filter(Anything())
    with pytest.raises(Execution, match=r"has run, but what it returned (contains|cannot be)"):
        await service.execute(name, input)


@tool(name="shout", traits=Traits(strict_schema=True, requires_confirmation=True))
async def loud(
    text: Annotated[str, Field(description="What to shout.")],
    ctx: ExecutionContext,
    mark: str = "!",
) -> dict[str, Any]:
    """Shout."""
    return {"said": text.upper() + mark, "by": ctx.caller.agent}


class Query(Arguments):
    path: Annotated[str, Reads()]


@tool
def look(query: Query) -> BaseModel:
    """Look."""
    return query


class Translate:
    """The sample of a tool written as a class."""

    NAME = "translate"
    DESCRIPTION = "Translate a text."
    CATEGORY = "text"
    EXAMPLES = ({"text": "hi", "target_language": "fr"},)

    class Args(BaseModel):
        text: str
        target_language: str
        source_language: str | None = None

    def call(self, args: Args) -> str:
        return f"{args.text} in {args.target_language}"


async def test_tools_of_every_kind_run_in_one_service() -> None:
    service = build_tool_service(tools=[add, look, handler_of(Translate())])
    service.set_smart_filter(Anything())
    assert (await service.execute("add", {"a": 1})).value == 3
    assert (await service.execute("look", {"path": "x"})).value == {"path": "x"}
    given = {"text": "hi", "target_language": "fr"}
    assert (await service.execute("translate", given)).value == "hi in fr"
    for bad in ({}, {"a": "1x"}, {"a": 1, "c": 2}, {"a": 1, "b": None, "c": 1}):
        with pytest.raises(ValidationFailed):
            await service.execute("add", bad)


async def test_a_tool_gets_the_context_of_its_call() -> None:
    service = build_tool_service(tools=[loud])
    output = await loud.invoke({"text": "hi"}, ExecutionContext())
    assert output == {"said": "HI!", "by": "default"}
    assert service.registry.get("shout") is loud


def test_definitions_follow_from_the_types() -> None:
    assert add.definition.description == "Add two numbers."
    assert list(add.definition.parameters["required"]) == ["a"]
    assert set(loud.definition.parameters["properties"]) == {"text", "mark"}
    assert list(loud.definition.parameters["required"]) == ["text", "mark"]
    assert loud.definition.requires_confirmation
    assert loud.definition.strict
    assert look.spec.resources == (Resource(verb="reads", steps=("path",)),)
    translate = handler_of(Translate()).definition
    assert (translate.category, translate.description) == ("text", "Translate a text.")
    assert translate.llm_context is not None
    assert list(translate.parameters["required"]) == ["text", "target_language"]


def test_a_parameter_without_a_type_is_the_authors_mistake() -> None:
    def untyped(a):  # type: ignore[no-untyped-def]
        return a

    with pytest.raises(TypeError, match="`a`"):
        tool(untyped)


async def test_what_is_no_json_is_no_result() -> None:
    @tool
    def strange() -> object:
        """Return something else."""
        return object()

    service = build_tool_service(tools=[strange])
    service.set_smart_filter(Anything())
    with pytest.raises(Execution):
        await service.execute("strange", {})


async def test_a_session_hears_of_a_call_twice_and_cannot_break_it() -> None:
    service = build_tool_service(tools=[add])
    heard: list[str] = []

    class Fails:
        def emit(self, event: Any) -> None:
            heard.append(type(event).__name__)
            raise RuntimeError

    session = Fails()
    with pytest.raises(PermissionDenied):
        await invoke_with_session_trace(service, session, "add", {"a": 1}, session="s")
    service.set_smart_filter(Anything())
    await invoke_with_session_trace(service, session, "add", {"a": 1}, session="s")
    with pytest.raises(ValidationFailed):
        await invoke_with_session_trace(service, session, "add", {}, session="s")
    assert heard == [
        *("ToolCallRequested", "ToolCallDenied"),
        *("ToolCallRequested", "ToolResult"),
        *("ToolCallRequested", "ToolCallFailed"),
    ]


async def test_a_tool_that_blocks_does_not_stop_the_loop() -> None:
    entered, release = threading.Event(), threading.Event()

    @tool
    def blocks() -> str:
        """Block until released."""
        entered.set()
        return "released" if release.wait(30) else "never"

    service = build_tool_service(tools=[blocks])
    service.set_smart_filter(Anything())
    running = asyncio.create_task(service.execute("blocks", {}))
    # Were the tool run on the loop, this could not be reached before it ended.
    assert await asyncio.to_thread(entered.wait, 30)
    assert not running.done()
    release.set()
    assert (await running).value == "released"
