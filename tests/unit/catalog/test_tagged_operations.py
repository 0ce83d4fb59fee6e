"""Operations of one tool, distinguished by a tag."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema_rs import validator_for
from pydantic import BaseModel, Field, RootModel

from policy.catalog import (
    Arguments,
    Reads,
    Resource,
    Writes,
    arguments_of,
    operations_of,
    strict_schema,
)


class Read(Arguments):
    """Read a file."""

    operation: Literal["read"]
    path: Annotated[str, Reads()]
    """The file."""
    limit: int = 10


class Write(Arguments):
    """Write a file."""

    operation: Literal["write", "append"]
    path: Annotated[str, Writes()]
    """The file."""
    content: str
    limit: str | None = None


class Look(Arguments):
    operation: Literal["look"]
    at: Annotated[str, Reads()]


FILE = operations_of(Read | Write | Look)


def test_one_flat_object_has_the_fields_of_all() -> None:
    assert FILE.schema == {
        "type": "object",
        "properties": {
            "operation": {
                "type": "string",
                "enum": ["read", "write", "append", "look"],
                "description": "`read`: Read a file. `write`, `append`: Write a file. `look`",
            },
            "path": {
                "type": "string",
                "description": "The file. (Required by `read`, `write`, `append`.)",
            },
            "limit": {
                "anyOf": [{"type": "integer"}, {"type": "string"}],
                "description": "(Optional in `read` (default 10), `write`, `append`.)",
            },
            "content": {
                "type": "string",
                "description": "(Required by `write`, `append`.)",
            },
            "at": {"type": "string", "description": "(Required by `look`.)"},
        },
        "required": ["operation"],
        "additionalProperties": False,
    }


def test_resources_are_those_of_the_operation() -> None:
    assert set(FILE.resources()) == {
        Resource(verb="reads", steps=("path",), only_for=("operation", ("read",))),
        Resource(verb="writes", steps=("path",), only_for=("operation", ("write", "append"))),
        Resource(verb="reads", steps=("at",), only_for=("operation", ("look",))),
    }
    only_reading = Resource(verb="reads", steps=("path",), only_for=("operation", ("read",)))
    assert only_reading.counts_in({"operation": "read"})
    assert not only_reading.counts_in({"operation": "write"})
    # What the operation is, nobody knows here; then everything counts.
    assert only_reading.counts_in({})
    assert only_reading.counts_in({"operation": 1})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "`operation` must be one of `read`, `write`, `append`, `look`"),
        ({"operation": ["read"]}, "`operation` must be one of"),
        ({"operation": "read", "path": "x", "content": "y"}, "`content` is not a field of"),
        ({"operation": "write", "path": "x"}, "operation `write` needs `content`"),
        ({"operation": "look", "att": "x"}, "did you mean `at`"),
        ({"operation": "read", "path": 1}, "`path`: input should be a valid string"),
    ],
)
def test_what_an_operation_refuses_it_names(given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FILE.coerce(given)


VALUES = st.sampled_from([None, "x", 1, "read", "write", "look"])


@given(st.dictionaries(st.sampled_from(["operation", "path", "limit", "content", "at"]), VALUES))
def test_what_is_coerced_is_coerced_to_itself_and_fits_the_schema(given: dict[str, Any]) -> None:
    try:
        coerced = FILE.coerce(given)
    except ValueError:
        return
    assert FILE.coerce(coerced) == coerced
    assert validator_for(dict(FILE.schema)).is_valid(coerced)
    nulls = {name: coerced.get(name) for name in FILE.schema["properties"]}
    assert validator_for(strict_schema(FILE.schema)).is_valid(nulls)
    assert FILE.coerce(nulls) == coerced


class Point(BaseModel):
    x: int


class A(Arguments):
    type: Literal["a"]
    at: Point


class B(Arguments):
    type: Literal["b"]
    at: dict[str, str]


class C(Arguments):
    kind: Literal["c"]
    at: list[Point] | None = None


class D(Arguments):
    kind: Literal["d"]
    at: str | None = None


class Untold(Arguments):
    path: str


class Wrapped(RootModel[Read | Write]):
    pass


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (A | B, "operations share the field `at`, but as unlike objects or lists"),
        (Read | Untold, "`Untold` needs a field `operation: Literal"),
        (C | D, "`C` needs a field `operation"),
        (Annotated[Read | Write, Field(discriminator="path")], "`Read` needs a field `path: Lit"),
        (Wrapped, "`Wrapped` wraps a type"),
        (int, "a pydantic model, or a union of such models"),
        (Read | int, "a pydantic model, or a union of such models"),
        (None, "a pydantic model, or a union of such models"),
    ],
)
def test_what_cannot_be_one_tool_is_refused_when_it_is_made(kind: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        arguments_of(kind)


def test_two_operations_cannot_have_one_name() -> None:
    class Again(Arguments):
        operation: Literal["read"]

    with pytest.raises(TypeError, match="the same `operation`"):
        operations_of(Read | Again)


def test_a_list_of_objects_and_a_text_share_a_name() -> None:
    both = operations_of(Annotated[C | D, Field(discriminator="kind")])
    assert both.tag == "kind"
    kinds = [part["type"] for part in both.schema["properties"]["at"]["anyOf"]]
    assert kinds == ["array", "string"]


class Node(Arguments):
    """Holds itself, and a path in it."""

    path: Annotated[str, Reads()]
    next: Node | None = None


class Plain(Arguments):
    """Holds itself, and nothing that is a resource."""

    path: Annotated[str, Reads()]
    filter: Filter | None = None


class Filter(Arguments):
    inner: list[Filter] | None = None


def test_a_model_that_holds_itself_has_no_resources() -> None:
    with pytest.raises(TypeError, match="`Node` contains itself"):
        list(arguments_of(Node).resources())
    assert list(arguments_of(Plain).resources()) == [Resource(verb="reads", steps=("path",))]
