"""What a condition depends on: fields of the input, facts, the resources of the call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, TypeAlias, TypeVar

from policy.checks import checked

# A field of the input by its name, `("input", "amount")`, or a fact, `("session", "role")`.
Subject: TypeAlias = tuple[str, ...]

_Node = TypeVar("_Node", checked.Test, checked.Value)

RESOURCES: Subject = ("call",)
HISTORY: Subject = ("history",)
ALL_INPUT: Subject = ("input",)
NAME: Subject = ("agent", "name")
PARENT: Subject = ("agent", "parent")
DEPTH: Subject = ("agent", "depth")
ROLE: Subject = ("session", "role")
# Facts that are the same caller's role.
_SAME: dict[Subject, Subject] = {("agent", "roles"): ROLE}

# Constants that are equal to none of another type.
_EQUAL_ALONE = (str, Decimal, datetime, timedelta)

# The parts of conditions that depend on nothing but their own parts. Any other part may depend on
# what came before the call.
_WITHOUT_MEMORY = (
    checked.AllOf,
    checked.AnyOf,
    checked.Arithmetic,
    checked.Comparison,
    checked.Constant,
    checked.ElementAt,
    checked.FieldOf,
    checked.FunctionCall,
    checked.LikeTest,
    checked.ListOf,
    checked.Membership,
    checked.Negative,
    checked.NotOf,
    checked.ObjectOf,
    checked.Presence,
    checked.Quantified,
    checked.RegexTest,
    checked.Selected,
    checked.TextRelation,
    checked.TypeTest,
    checked.ValueSet,
    checked.ValueTest,
    checked.Variable,
    checked.WindowTest,
)


def subjects_of(node: checked.Test | checked.Value) -> frozenset[Subject]:
    """Return everything that a test or value depends on besides the tool and the policy."""
    return frozenset(_subjects(node))


def plain_subject(value: checked.Value) -> Subject | None:
    """Return the field or fact that a value is, None for anything else."""
    match value:
        case checked.FieldOf(base=checked.Fact(path=("input",)), name=name):
            return ("input", name)
        case checked.Fact(path=("input" | "call" | "tool", *_)):
            return None
        case checked.Fact(path=path):
            return _SAME.get(path, path)
        case _:
            return None


def meaning_of(node: _Node) -> _Node:
    """Return a test or value without its texts: those that mean the same are equal."""
    found: _Node = _without_texts(node)
    return found


def _subjects(node: Any) -> Iterator[Subject]:
    match node:
        case checked.ResourceTest():
            yield RESOURCES
        case checked.FieldOf(base=checked.Fact(path=("input",)), name=name):
            yield ("input", name)
        case checked.Fact(path=("tool", *_)):
            return
        case checked.Fact(path=("call", *_)):
            yield RESOURCES
        case checked.Fact(path=path):
            yield _SAME.get(path, path)
        case tuple():
            for item in node:
                yield from _subjects(item)
        case _ if isinstance(node, _WITHOUT_MEMORY):
            for part in fields(node):
                yield from _subjects(getattr(node, part.name))
        case _ if is_dataclass(node):
            yield HISTORY
        case _:
            return


def _without_texts(node: Any) -> Any:
    if isinstance(node, tuple):
        return tuple(_without_texts(item) for item in node)
    if isinstance(node, checked.Constant) and not isinstance(node.value, _EQUAL_ALONE):
        # Python takes `True` for equal to 1, which are different here, also within a list.
        return checked.Constant(value=(type(node.value).__name__, repr(node.value)))
    # What conditions refer to, such as patterns of tool names, has a text that is its meaning.
    if type(node).__module__ != checked.__name__:
        return node
    if not is_dataclass(node) or isinstance(node, (type, checked.ValueSet, checked.Constant)):
        return node
    changed = {
        part.name: "" if part.name == "text" else _without_texts(getattr(node, part.name))
        for part in fields(node)
        if part.init
    }
    return replace(node, **changed)
