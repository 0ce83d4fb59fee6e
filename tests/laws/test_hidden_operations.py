"""Nothing that a caller may list tells of an operation that is hidden from it.

Tools with several operations are drawn in every form that they may have, with policies that hide
some of them. Names and descriptions are words that stand nowhere else, so that a leak is found by
searching for them.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any, Literal, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp import Client
from pydantic import Field, create_model

from policy import Caller, ToolError
from policy.catalog import Arguments, schema_strictify
from policy.proxy import ListChanges, tool_server
from policy.service import GovernedService
from policy.tools import Provider, ToolDefinition, Traits, builtin_handlers
from tests.examples import examples
from tests.fakes import CountingHandler
from tests.laws.situations import Tally
from tests.service.registry.stage import Governed

OPS = Caller(user="ada", groups=("ops",))
OTHER = Caller(user="bob")
META = tuple(h for h in builtin_handlers() if h.spec.category == "meta")

NAMES = ("zorb", "quib_all", "flan", "mirtVask")
FIELDS = ("glorp", "snib", "trell_max", "wumpTo", "yark")
SHARED = "place"
FORMS = ("models", "strict models", "own union", "references", "one schema", "handler")


@dataclass(frozen=True)
class Operation:
    """One operation: its name, the fields that it has, and which of these may be left out."""

    name: str
    fields: tuple[str, ...]
    optional: frozenset[str]

    @property
    def doc(self) -> str:
        return f"Doc{self.name}."

    def about(self, field: str) -> str:
        return f"About{self.name}{field}."


@dataclass(frozen=True)
class Case:
    form: str
    operations: tuple[Operation, ...]
    hidden: frozenset[str]
    # How the policy hides them.
    policy: Literal["deny", "allow others", "unless ops"]
    # Whether the author names operations in the tool's own texts.
    named: bool

    @property
    def rules(self) -> str:
        names = ", ".join(f'"{name}"' for name in sorted(self.hidden))
        others = ", ".join(f'"{o.name}"' for o in self.operations if o.name not in self.hidden)
        match self.policy:
            case _ if not self.hidden:
                rules = "allow desk\n"
            case "deny":
                rules = f"allow desk\ndeny desk when input.operation in [{names}]\n"
            case "allow others":
                rules = f"allow desk when input.operation in [{others}]\n"
            case "unless ops":
                rules = (
                    f"allow desk\ndeny desk when input.operation in [{names}] "
                    'unless "ops" in user.groups\n'
                )
        return f"allow list_tools, get_tool_schema\n{rules}"

    @property
    def description(self) -> str:
        names = ", ".join(o.name for o in self.operations)
        return f"Works at a desk. It knows {names}. Ask twice." if self.named else "Works."

    @property
    def usage_rule(self) -> str:
        said = " ".join(f"Never {o.name} at night." for o in self.operations)
        return f"Be kind. {said}" if self.named else "Be kind."

    @property
    def secret(self) -> frozenset[str]:
        """The words that nobody may read who does not see the hidden operations."""
        kept = [o for o in self.operations if o.name not in self.hidden]
        shown = {field for o in kept for field in o.fields}
        words: set[str] = set()
        for operation in self.operations:
            if operation.name in self.hidden:
                words |= {operation.name}
                if self.form != "one schema":
                    words |= {operation.doc[:-1], *(set(operation.fields) - shown - {SHARED})}
                    words |= {operation.about(field)[:-1] for field in operation.fields}
        return frozenset(words)


@st.composite
def operations(draw: st.DrawFn) -> tuple[Operation, ...]:
    names = draw(st.lists(st.sampled_from(NAMES), min_size=2, max_size=4, unique=True))
    found = []
    for name in names:
        fields = draw(st.lists(st.sampled_from(FIELDS), max_size=3, unique=True))
        if draw(st.booleans()):
            fields.append(SHARED)
        optional = draw(st.frozensets(st.sampled_from(fields))) if fields else frozenset()
        found.append(Operation(name, tuple(fields), optional))
    return tuple(found)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    drawn = draw(operations())
    names = [operation.name for operation in drawn]
    hidden = draw(st.frozensets(st.sampled_from(names), max_size=len(names) - 1))
    return Case(
        form=draw(st.sampled_from(FORMS)),
        operations=drawn,
        hidden=hidden,
        policy=draw(st.sampled_from(["deny", "allow others", "unless ops"])),
        named=draw(st.booleans()),
    )


def models(case: Case) -> Any:
    """Return a tool whose operations are pydantic models."""

    def field(operation: Operation, name: str) -> tuple[Any, Any]:
        default = "none" if name in operation.optional else ...
        return (str, Field(default, description=operation.about(name)))

    def model(number: int, operation: Operation) -> Any:
        fields: dict[str, Any] = {name: field(operation, name) for name in operation.fields}
        fields["operation"] = (Literal[operation.name], ...)
        return create_model(f"Model{number}", __base__=Arguments, __doc__=operation.doc, **fields)

    made = [model(number, operation) for number, operation in enumerate(case.operations)]

    class Desk:
        NAME = "desk"
        DESCRIPTION = case.description
        USAGE_RULE = case.usage_rule
        STRICT_SCHEMA = case.form == "strict models"
        EXAMPLES = tuple(example(operation) for operation in case.operations)
        Args: Any = reduce(or_, made)

        def call(self, args: Any) -> str:
            return "done"

    return Desk()


def example(operation: Operation) -> dict[str, str]:
    needed = [name for name in operation.fields if name not in operation.optional]
    return {"operation": operation.name, **dict.fromkeys(needed, "x")}


def branch(operation: Operation) -> dict[str, Any]:
    return {
        "type": "object",
        "description": operation.doc,
        "properties": {
            "operation": {"const": operation.name},
            **{
                name: {"type": "string", "description": operation.about(name)}
                for name in operation.fields
            },
        },
        "required": ["operation", *(n for n in operation.fields if n not in operation.optional)],
        "additionalProperties": False,
    }


def schema(case: Case) -> dict[str, Any]:
    """Return a schema of one's own for the operations."""
    branches = {operation.name: branch(operation) for operation in case.operations}
    if case.form == "references":
        places = {name: f"#/$defs/{name}" for name in branches}
        return {
            "type": "object",
            "oneOf": [{"$ref": place} for place in places.values()],
            "discriminator": {"propertyName": "operation", "mapping": places},
            "$defs": branches,
        }
    if case.form != "one schema":
        return {"type": "object", "oneOf": list(branches.values())}
    names = [operation.name for operation in case.operations]
    every = dict.fromkeys(field for o in case.operations for field in o.fields)
    said = {
        field: f"Only for {', '.join(o.name for o in case.operations if field in o.fields)}."
        for field in every
    }
    return {
        "type": "object",
        "properties": {
            "operation": {"type": "string", "enum": names, "description": f"One of {names}."},
            **{field: {"type": "string", "description": said[field]} for field in every},
        },
        "required": ["operation"],
        "additionalProperties": False,
    }


class Desk:
    """A tool with a schema of its own."""

    name = "desk"

    def __init__(self, case: Case) -> None:
        self.description = case.description
        self.schema = schema(case)
        self.traits = Traits(usage_rule=case.usage_rule)

    def execute(self, input: Any, ctx: Any) -> str:
        return "done"


async def _done(input: dict[str, Any], ctx: Any) -> str:
    return "done"


class Handler(CountingHandler):
    """A handler of the host application's own, with definitions as it wrote them."""

    def __init__(self, case: Case) -> None:
        spec = {"schema": schema(case), "open_fields": False, "description": case.description}
        super().__init__("desk", _done, **spec)
        self._case = case

    @property
    def definition(self) -> ToolDefinition:
        return ToolDefinition(
            name="desk",
            description=self._case.description,
            parameters=self._spec.schema,
            usage_rule=self._case.usage_rule,
        )


def desk(case: Case) -> Any:
    if case.form.endswith("models"):
        return models(case)
    return Handler(case) if case.form == "handler" else Desk(case)


async def listed(service: GovernedService) -> str:
    """Return everything that a caller may list, as one text."""
    shown: list[object] = [service.list(), service.describe("desk"), service.versions("desk")]
    shown += [service.get_tool_schemas(provider) for provider in get_args(Provider)]
    told = [
        (await service.execute("list_tools", {})).value,
        (await service.execute("get_tool_schema", {"tool_name": "desk"})).value,
    ]
    async with Client(tool_server(lambda client: service, ListChanges())) as client:
        shown.append((await client.list_tools()).model_dump_json())
    texts = [*map(repr, shown), *map(repr, told), service.list_yaml(), service.usage_rules()]
    return "\n".join(texts)


def check_shown(case: Case, definition: ToolDefinition, hidden: frozenset[str]) -> None:
    """Check that what is not hidden is told as before."""
    kept = [operation for operation in case.operations if operation.name not in hidden]
    properties: Mapping[str, Any] = schema_strictify(definition.parameters)["properties"]
    assert list(properties["operation"]["enum"]) == [operation.name for operation in kept]
    text = repr(definition)
    for operation in kept:
        assert set(operation.fields) <= set(properties)
        if case.form != "one schema":
            assert operation.doc in text
            assert all(operation.about(field) in text for field in operation.fields)
    assert definition.description and (case.named or "Works." in definition.description)
    assert definition.usage_rule is not None and "Be kind." in definition.usage_rule


def bad_inputs(case: Case) -> list[dict[str, Any]]:
    """Return inputs that no operation takes, or that lack what one needs."""
    every = dict.fromkeys(field for operation in case.operations for field in operation.fields)
    misspelt = [
        {"operation": o.name, f"{field[:-1]}": "x"} for o in case.operations for field in every
    ]
    return [{}, {"operation": "nope"}, {"operation": 1}, *misspelt]


async def check_refusals(case: Case, service: GovernedService) -> None:
    """Check that no refusal tells more than the input does."""
    for input in bad_inputs(case):
        with pytest.raises(ToolError) as refused:
            await service.execute("desk", input)
        said = refused.value.message
        assert not [word for word in case.secret if word in said and word not in str(input)], said


async def check(case: Case, folder: Path) -> None:
    g = Governed(folder, case.rules, desk(case), *META)
    text = await listed(g.service.bound_to(OTHER))
    leaked = sorted(word for word in case.secret if word in text)
    assert not leaked, (leaked, text)
    await check_refusals(case, g.service.bound_to(OTHER))
    for caller in (OTHER, OPS):
        hidden = frozenset() if case.policy == "unless ops" and caller is OPS else case.hidden
        service = g.service.bound_to(caller)
        definition = service.describe("desk")
        assert definition is not None
        check_shown(case, definition, hidden)
        for operation in case.operations:
            outcome = await g.call("desk", caller, **example(operation))
            assert isinstance(outcome, str)
            assert outcome.startswith("permission-denied") is (operation.name in hidden)


def test_nothing_that_is_listed_tells_of_a_hidden_operation() -> None:
    tally = Tally()

    @settings(max_examples=examples(150), deadline=None)
    @given(cases())
    def law(case: Case) -> None:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(check(case, Path(folder)))
        tally.case("some hidden" if case.hidden else "none hidden", case.form)

    law()
    tally.shows("some hidden", share=0.3)
    for form in FORMS:
        tally.shows(form, share=0.03)
