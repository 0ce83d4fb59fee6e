"""Regular expressions as trees, which patterns of every kind are translated to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from policy.solving.automata.characters import ALL, Characters, these

Place: TypeAlias = Literal["start", "end", "word", "no word"]


@dataclass(frozen=True, slots=True)
class OneOf:
    """One character of a set."""

    chars: Characters


@dataclass(frozen=True, slots=True)
class Edge:
    """The empty string at a place: where the text begins or ends, or between words, or not."""

    place: Place


@dataclass(frozen=True, slots=True)
class Row:
    """One part after the other; without parts, the empty string."""

    parts: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Either:
    """One of the parts; without parts, no string at all."""

    parts: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Times:
    """A part, several times; `most` is None for any number."""

    part: Expression
    least: int = 0
    most: int | None = None


Expression: TypeAlias = OneOf | Edge | Row | Either | Times

ANY_TEXT: Expression = Times(OneOf(ALL))


def literal(text: str) -> Expression:
    """Return the expression of one string."""
    return Row(tuple(OneOf(these(char)) for char in text))


def in_either_case(text: str) -> Expression:
    """Return the expression of a string without capital letters, and of it with some."""
    return Row(tuple(OneOf(these(char + char.upper())) for char in text))
