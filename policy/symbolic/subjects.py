"""What a condition depends on: fields of the input, facts, the resources of the call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeAlias

from policy.checks import checked

# A field of the input by its name, `("input", "amount")`, or a fact, `("session", "role")`.
Subject: TypeAlias = tuple[str, ...]

RESOURCES: Subject = ("call",)
HISTORY: Subject = ("history",)
ALL_INPUT: Subject = ("input",)
# Facts that are the same caller's role.
_SAME: dict[Subject, Subject] = {("agent", "roles"): ("session", "role")}


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


def subjects_of(test: checked.Test) -> frozenset[Subject]:
    """Return everything that a test depends on besides the tool and the policy."""
    return frozenset(_subjects(test))


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


def meaning_of(test: checked.Test) -> checked.Test:
    """Return a test without its texts: tests that mean the same are equal."""
    found: checked.Test = _without_texts(test)
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
    if not is_dataclass(node) or isinstance(node, (type, checked.ValueSet, checked.Constant)):
        return node
    changed = {
        part.name: "" if part.name == "text" else _without_texts(getattr(node, part.name))
        for part in fields(node)
        if part.init and part.name not in ("tools",)
    }
    return replace(node, **changed)
