"""Definitions as data: written as JSON, and in the forms that model providers take."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import orjson
import pytest
from jsonschema_rs import validator_for
from pydantic import BaseModel, Field, TypeAdapter

from policy import NotFound, PolicyStore, build_tool_service
from policy.catalog import Arguments, Origin, ToolSpec
from policy.service import GovernedService
from policy.tools import PROVIDERS, ToolDefinition, Traits, builtin_handlers, tool

RULES = """\
policy for every agent
default deny
allow *
ask refund when input.amount > 100
"""


class Paid(BaseModel):
    """What was paid."""

    amount: int


@tool(traits=Traits(category="money", examples=({"customer": "ada", "amount": 5},)))
def refund(customer: str, amount: Annotated[int, Field(ge=0)], note: str | None = None) -> Paid:
    """Pay a customer back."""
    return Paid(amount=amount)


@tool(traits=Traits(strict_schema=True))
def look_up(customer: str, year: int | None = None) -> None:
    """Look up a customer."""


class Read(Arguments):
    """Read."""

    operation: Literal["read"]
    path: str


class Write(Arguments):
    """Write."""

    operation: Literal["write"]
    path: str
    content: str


@tool
def notes(args: Read | Write) -> None:
    """Keep notes."""


@pytest.fixture
def service(tmp_path: Path) -> GovernedService:
    (tmp_path / "rules.policy").write_text(RULES)
    return build_tool_service(
        PolicyStore(tmp_path / "rules.policy"),
        tools=[*builtin_handlers(), refund, look_up, notes],
        workspace=tmp_path,
    )


@pytest.mark.parametrize(
    "dumped",
    [
        lambda one: json.loads(json.dumps(dataclasses.asdict(one))),
        lambda one: orjson.loads(orjson.dumps(one)),
        lambda one: TypeAdapter(ToolDefinition).dump_python(one, mode="json"),
        lambda one: json.loads(TypeAdapter(ToolDefinition).dump_json(one)),
    ],
    ids=["json", "orjson", "pydantic", "pydantic as JSON"],
)
def test_a_definition_is_written_as_json(
    dumped: Callable[[ToolDefinition], Any], service: GovernedService
) -> None:
    for definition in service.list():
        found = dumped(definition)
        assert found["parameters"] == json.loads(json.dumps(definition.parameters))
        assert TypeAdapter(ToolDefinition).validate_python(found) == definition
    assert dumped(service.get_tool("refund"))["output"]["properties"] == {
        "amount": {"type": "integer"}
    }


def test_what_a_caller_does_to_a_definition_changes_no_other(service: GovernedService) -> None:
    mine = service.get_tool("refund").parameters
    assert isinstance(mine, dict)
    mine["properties"].clear()
    assert list(service.get_tool("refund").parameters["properties"]) == [
        "customer",
        "amount",
        "note",
    ]


def test_tools_are_found_by_category_and_name(service: GovernedService) -> None:
    assert [one.name for one in service.list_tools("money")] == ["refund"]
    assert service.list_tools() == service.list()
    assert service.get_tool("refund") == service.describe("refund")
    with pytest.raises(NotFound, match="no tool is called `refnd` here"):
        service.get_tool("refnd")


PARAMETERS = {
    "type": "object",
    "properties": {
        "customer": {"type": "string"},
        "amount": {"type": "integer", "minimum": 0},
        "note": {"type": "string"},
    },
    "required": ["customer", "amount"],
    "additionalProperties": False,
}
DESCRIPTION = (
    "Pay a customer back. A call may wait for an approval.\n\n"
    'Examples:\n{"customer":"ada","amount":5}'
)
STRICT = {
    "type": "object",
    "properties": {"customer": {"type": "string"}, "year": {"type": ["integer", "null"]}},
    "required": ["customer", "year"],
    "additionalProperties": False,
}


def test_each_provider_gets_its_own_form(service: GovernedService) -> None:
    def form(provider: Any, name: str) -> Any:
        found = service.get_tool_schemas(provider)
        return next(one for one in found if one.get("function", one)["name"] == name)

    said = {"name": "refund", "description": DESCRIPTION}
    assert form("openai", "refund") == {
        "type": "function",
        "function": {**said, "parameters": PARAMETERS},
    }
    assert form("openai-responses", "refund") == {
        "type": "function",
        **said,
        "parameters": PARAMETERS,
        "strict": False,
    }
    assert form("anthropic", "refund") == {**said, "input_schema": PARAMETERS}
    assert form("gemini", "refund") == {**said, "parametersJsonSchema": PARAMETERS}
    strict = {"name": "look_up", "description": "Look up a customer."}
    assert form("openai", "look_up")["function"] == {**strict, "parameters": STRICT, "strict": True}
    assert form("openai-responses", "look_up")["strict"] is True
    assert form("anthropic", "look_up") == {**strict, "input_schema": STRICT, "strict": True}
    assert form("gemini", "look_up") == {**strict, "parametersJsonSchema": STRICT}


def test_every_tool_has_every_form(service: GovernedService) -> None:
    assert service.get_tool_schemas() == service.get_tool_schemas("openai")
    for provider in PROVIDERS:
        found = service.get_tool_schemas(provider)
        assert len(found) == len(service.list())
        assert json.loads(json.dumps(found)) == found
        for one in found:
            inner = one.get("function", one)
            (schema,) = (
                v
                for k, v in inner.items()
                if k in ("parameters", "input_schema", "parametersJsonSchema")
            )
            assert schema["type"] == "object"
            validator_for(schema)


def test_only_what_this_caller_sees_is_listed(tmp_path: Path) -> None:
    (tmp_path / "rules.policy").write_text(
        "policy for every agent\ndefault deny\n"
        'allow notes when input.operation == "read"\nallow refund when agent.name == "billing"\n'
    )
    store = PolicyStore(tmp_path / "rules.policy")
    service = build_tool_service(store, tools=[refund, notes], workspace=tmp_path)
    (only,) = service.get_tool_schemas("anthropic")
    assert only["input_schema"]["properties"]["operation"]["enum"] == ["read"]


def test_a_name_that_a_provider_refuses_is_an_error_before_it_is_sent(tmp_path: Path) -> None:
    class Remote:
        spec = ToolSpec(
            name="hub__find.all", origin=Origin(kind="mcp", server="hub", tool="find.all")
        )
        definition = ToolDefinition(name="hub__find.all")

        async def invoke(self, input: dict[str, Any], ctx: Any) -> None: ...

    (tmp_path / "rules.policy").write_text("policy for every agent\ndefault deny\nallow hub__*\n")
    store = PolicyStore(tmp_path / "rules.policy")
    service = build_tool_service(store, tools=[Remote()], workspace=tmp_path)
    with pytest.raises(ValueError, match=r"anthropic does not accept `hub__find\.all` as the name"):
        service.get_tool_schemas("anthropic")
    assert [one["name"] for one in service.get_tool_schemas("gemini")] == ["hub__find.all"]


def test_another_provider_is_refused_by_name(service: GovernedService) -> None:
    other: Any = "mistral"
    with pytest.raises(ValueError, match="one of openai, openai-responses, anthropic, gemini"):
        service.get_tool_schemas(other)
