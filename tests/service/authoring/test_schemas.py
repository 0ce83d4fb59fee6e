"""The schemas that models see for authors' types, as the service lists them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from annotated_types import Ge
from jsonschema import Draft202012Validator
from pydantic import Field

from policy import PolicyStore
from policy.catalog import Arguments
from policy.model import thaw
from policy.service import GovernedService, build_tool_service
from policy.tools import Traits, tool


class FileReadArgs(Arguments):
    """What it reads."""

    path: str
    """The path of the file to read."""
    encoding: str = "utf-8"
    """The encoding of its text."""


class Where(Arguments):
    """A place in a list."""

    start: Annotated[int, Ge(0)] = 0
    kind: Literal["page", "row"] | None = None


class SearchInput(Arguments):
    """What is searched for."""

    query: Annotated[str, Field(pattern="^[^*]+$", max_length=500)]
    """The words to look for."""
    limit: int | None = None
    """At most so many results."""
    where: Where | None = None
    also: list[Where] = Field(default_factory=list)


def service(folder: Any, *, strict: bool) -> GovernedService:
    (folder / "global.policy").write_text("policy for every agent\ndefault allow\n")
    traits = Traits(strict_schema=strict)

    @tool(traits=traits)
    async def read(args: FileReadArgs) -> str:
        """Read a file."""
        return args.encoding

    @tool(traits=traits)
    async def search(args: SearchInput) -> int:
        """Search."""
        return -1 if args.limit is None else args.limit

    return build_tool_service(PolicyStore(folder), tools=[read, search])


def parameters(of: GovernedService, name: str) -> Any:
    described = of.describe(name)
    assert described is not None
    found = thaw(described.parameters)
    Draft202012Validator.check_schema(found)
    return found


def test_the_schema_of_a_tool_is_that_of_its_types(tmp_path: Any) -> None:
    found = parameters(service(tmp_path, strict=False), "read")
    assert found["type"] == "object"
    assert found["required"] == ["path"]
    assert found["properties"]["path"] == {
        "type": "string",
        "description": "The path of the file to read.",
    }
    assert found["properties"]["encoding"] == {
        "type": "string",
        "default": "utf-8",
        "description": "The encoding of its text.",
    }


@pytest.mark.parametrize("strict", [True, False])
def test_no_schema_holds_what_models_or_clients_trip_over(tmp_path: Any, *, strict: bool) -> None:
    found = parameters(service(tmp_path, strict=strict), "search")
    words = set(_keys(found))
    assert not words & {"$ref", "$defs", "format", "pattern", "title"}


def _keys(schema: Any) -> Any:
    if isinstance(schema, dict):
        for key, value in schema.items():
            yield key
            yield from _keys(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _keys(value)


async def test_a_strict_schema_requires_everything_and_admits_null(tmp_path: Any) -> None:
    strict = service(tmp_path, strict=True)
    found = parameters(strict, "search")
    assert sorted(found["required"]) == sorted(found["properties"])
    assert found["additionalProperties"] is False
    inner = found["properties"]["where"]
    inner = next(part for part in inner.get("anyOf", [inner]) if "properties" in part)
    assert sorted(inner["required"]) == sorted(inner["properties"])
    given = {"query": "x", "limit": None, "where": None, "also": None}
    assert Draft202012Validator(found).is_valid(given)
    # What a strict schema makes a model write is taken for what it means.
    assert (await strict.execute("search", given)).value == -1
    nested = {**given, "limit": 3, "where": {"start": None, "kind": None}}
    assert Draft202012Validator(found).is_valid(nested)
    assert (await strict.execute("search", nested)).value == 3
