"""The kinds of condition there are, and those that occur in a condition.

A kind is a node of the syntax tree, such as `Quantifier`, or one of the words that a node can
have, such as `Quantifier.kind any`. They are taken from the types in `policy.syntax.tree`, so that
a new node or word is a new kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from policy.syntax import tree

NODES: tuple[type, ...] = get_args(tree.Expr)


def all_kinds() -> frozenset[str]:
    """Return every kind of condition that the syntax tree can hold."""
    words = (
        f"{node.__name__}.{name} {word}"
        for node in NODES
        for name, found in _words_of(node).items()
        for word in found
    )
    return frozenset({*(node.__name__ for node in NODES), *words})


def kinds_in(value: Any) -> frozenset[str]:
    """Return the kinds of condition that occur in a tree, or in a tuple of trees."""
    return frozenset(_kinds(value))


def _kinds(value: Any) -> Iterator[str]:
    if isinstance(value, tuple):
        for item in value:
            yield from _kinds(item)
    elif is_dataclass(value) and not isinstance(value, type):
        if isinstance(value, NODES):
            yield type(value).__name__
            for name in _words_of(type(value)):
                yield f"{type(value).__name__}.{name} {getattr(value, name)}"
        for field in fields(value):
            yield from _kinds(getattr(value, field.name))


@cache
def _words_of(node: type) -> dict[str, tuple[str, ...]]:
    """Return the fields of a node that hold one of a few words, each with these words."""
    hints = get_type_hints(node)
    found = {field.name: tuple(_literals(hints[field.name])) for field in fields(node)}
    return {name: words for name, words in found.items() if words}


def _literals(hint: Any) -> Iterator[str]:
    if get_origin(hint) is Literal:
        yield from get_args(hint)
    elif get_origin(hint) in (Union, UnionType):
        for part in get_args(hint):
            yield from _literals(part)
