"""Conditions, as nodes of the language, that hold for exactly one call of one caller.

Every field is compared, including absent ones; where the tool's arguments are paths, so are the
files that they resolve to, so that a link created later makes it a different call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from typing import Any

from policy.catalog import Resource, ToolSpec
from policy.model import Caller, Facts, Source, ToolCall
from policy.syntax import tree as t
from policy.values import PathContext, Unreadable, escape_glob, read_path

LONGEST_VALUE = 2_000  # characters: people have to read the rule
MOST_FIELDS = 60
_MOST_DIGITS = 15  # that a double always keeps
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
NOWHERE = Source(name="", text="").span(0, 0)


class Inexpressible(Exception):
    """A value that no rule can compare exactly; the message names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactCall:
    """One call as it would run, with its caller, facts and tool."""

    call: ToolCall
    caller: Caller
    facts: Facts
    spec: ToolSpec


def exact_conditions(asked: ExactCall) -> tuple[t.Expr, ...]:
    """Return conditions that together hold for this call only; raise Inexpressible if none do."""
    found = [*_who(asked.caller), *_where(asked), *_fields(asked), *_files(asked)]
    if len(found) > MOST_FIELDS:
        raise Inexpressible(f"the input has more than {MOST_FIELDS} values")
    return tuple(found)


def of_tool(spec: ToolSpec) -> t.Expr:
    """Return the condition that a call is of this tool, in any of its versions."""
    return _equal(_fact("tool", "name"), text_node(spec.base))


def text_node(value: str) -> t.Text:
    """Return the literal of a string, without interpolation."""
    if len(value) > LONGEST_VALUE:
        raise Inexpressible(f"a string is longer than {LONGEST_VALUE} characters")
    if any("\ud800" <= char <= "\udfff" for char in value):
        raise Inexpressible("a string is not well-formed Unicode")
    return t.Text(value=value.replace("${", "$${"), span=NOWHERE)


def _who(caller: Caller) -> Iterator[t.Expr]:
    yield _equal(_fact("agent", "name"), text_node(caller.agent))
    yield _equal(_fact("session", "role"), text_node(caller.role))
    user = _fact("user", "id")
    yield _absent(user) if caller.user is None else _equal(user, text_node(caller.user))


def _where(asked: ExactCall) -> Iterator[t.Expr]:
    """Yield the condition on the workspace, unless the tool is known to access no files."""
    spec, workspace = asked.spec, asked.facts.workspace
    verbs = {resource.verb for resource in spec.resources}
    may_access_files = bool(verbs & {"reads", "writes", "runs"}) or spec.unseen or not spec.complete
    if may_access_files and workspace is not None:
        yield _equal(t.Name(name="workspace", span=NOWHERE), text_node(workspace))


def _fields(asked: ExactCall) -> Iterator[t.Expr]:
    input = asked.call.input
    for name in sorted({*input, *_properties(asked.spec.schema)}):
        place = _step(t.Name(name="input", span=NOWHERE), name)
        yield from _same(place, input[name]) if name in input else (_absent(place),)


def _same(place: t.Expr, value: Any) -> Iterator[t.Expr]:
    match value:
        case str():
            yield _equal(place, text_node(value))
        case bool():
            yield _equal(place, t.Boolean(value=value, span=NOWHERE))
        case int() | float() | Decimal():
            yield _equal(place, _number(value))
        case tuple():
            yield _equal(_length(place), _number(len(value)))
            for position, item in enumerate(value):
                index = t.Number(value=position, span=NOWHERE)
                yield from _same(t.Index(base=place, key=index, span=NOWHERE), item)
        case Mapping() if value:
            for name, item in value.items():
                yield from _same(_step(place, name), item)
        case _:
            raise Inexpressible("an empty object and null cannot be compared")


def _files(asked: ExactCall) -> Iterator[t.Expr]:
    """Yield conditions on the files the arguments lead to; commands are compared by their text."""
    verbs: tuple[t.Verb, ...] = ("reads", "writes")
    for verb in verbs:
        paths = [
            _path(resource, value, asked)
            for resource in asked.spec.resources
            if resource.verb == verb and resource.counts_in(asked.call.input)
            for value in _at(asked.call.input, resource.steps)
        ]
        if not paths:
            continue
        if all(_is_inside(path, asked.facts.workspace) for path in paths):
            # An item follows links as the path does; the workspace's path stays the same.
            yield _only(verb, t.Name(name="workspace", span=NOWHERE))
        items = tuple(text_node(path) for path in dict.fromkeys(paths))
        yield _only(verb, t.ListLiteral(items=items, span=NOWHERE))


def _only(verb: t.Verb, operand: t.Expr) -> t.Expr:
    return t.ResourceTest(verb=verb, form="only", operand=operand, span=NOWHERE)


def _is_inside(path: str, workspace: str | None) -> bool:
    return workspace is not None and path.startswith(f"{escape_glob(workspace)}/")


def _path(resource: Resource, value: Any, asked: ExactCall) -> str:
    if not isinstance(value, str):
        raise Inexpressible("a path is not a string")
    facts = asked.facts
    tree = resource.tree or bool(asked.call.input.get(resource.tree_field or ""))
    context = PathContext(
        cwd=facts.cwd,
        home=facts.home,
        workspace=facts.workspace,
        resolve=facts.resolvers.path,
        folds=facts.resolvers.folds,
        other_names=facts.resolvers.other_names,
    )
    path = read_path(value, context)
    if isinstance(path, Unreadable):
        raise Inexpressible(f"a path cannot be read: {path.reason}")
    if path.resolved is not None and path.resolved != path.lexical:
        raise Inexpressible("a path passes through a link, whose target may change")
    is_folder = facts.resolvers.is_folder
    if resource.may_be_tree and is_folder is not None:
        tree = is_folder(path.resolved or path.lexical)
    return escape_glob(path.lexical) + ("/**" if tree else "")


def _at(value: Any, steps: tuple[str, ...]) -> Iterator[Any]:
    if not steps:
        yield value
    elif steps[0] == "*" and isinstance(value, tuple):
        for item in value:
            yield from _at(item, steps[1:])
    elif isinstance(value, Mapping) and steps[0] in value:
        yield from _at(value[steps[0]], steps[1:])


def _properties(schema: Mapping[str, Any]) -> tuple[str, ...]:
    found = schema.get("properties")
    return tuple(found) if isinstance(found, Mapping) else ()


def _number(value: int | float | Decimal) -> t.Expr:
    if isinstance(value, float) and not isfinite(value):
        raise Inexpressible("a number is not finite")
    exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    plain = format(abs(exact), "f")
    if sum(char.isdigit() for char in plain) > _MOST_DIGITS:
        raise Inexpressible("a number has more digits than can be compared")
    written: int | Decimal = Decimal(plain) if "." in plain else int(plain)
    number = t.Number(value=written, span=NOWHERE)
    return t.Negate(operand=number, span=NOWHERE) if exact < 0 else number


def _fact(*names: str) -> t.Expr:
    first, *rest = names
    place: t.Expr = t.Name(name=first, span=NOWHERE)
    for name in rest:
        place = _step(place, name)
    return place


def _step(place: t.Expr, name: str) -> t.Expr:
    if _NAME.match(name):
        return t.Field(base=place, name=name, span=NOWHERE)
    return t.Index(base=place, key=t.Text(value=name, span=NOWHERE), span=NOWHERE)


def _equal(left: t.Expr, right: t.Expr) -> t.Expr:
    return t.Compare(op="==", left=left, right=right, span=NOWHERE)


def _absent(place: t.Expr) -> t.Expr:
    return t.Is(left=place, what="absent", span=NOWHERE)


def _length(place: t.Expr) -> t.Expr:
    return t.Function(name="length", args=(place,), span=NOWHERE)
