"""A value read from JSON and what its fields must be in; their values, or the first misfit, out.

Readers take a value and its place, and return what it stands for or raise `Misfit`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeAlias

Place: TypeAlias = tuple[str, ...]
Reader: TypeAlias = Callable[[Any, Place], Any]

# Stands for the default of a field that must be there.
REQUIRED: Any = object()


class Misfit(Exception):
    """A value that cannot stand at its place; `said` reads after the name of the place."""

    def __init__(self, place: Place, said: str) -> None:
        super().__init__(said)
        self.place = place
        self.said = said


class Unnamed(Misfit):
    """A field that no reader is told of."""


def read_text(value: Any, place: Place) -> str:
    """Return a text."""
    if not isinstance(value, str):
        raise Misfit(place, "is no text")
    return value


def read_any(value: Any, place: Place) -> Any:
    """Return whatever there is."""
    return value


def read_object(value: Any, place: Place) -> dict[str, Any]:
    """Return an object with whatever fields it has."""
    if not isinstance(value, dict):
        raise Misfit(place, "is no object")
    return value


def one_of(words: Collection[str]) -> Reader:
    """Return the reader of one of these texts."""
    listed = ", ".join(f"`{word}`" for word in words)

    def read(value: Any, place: Place) -> str:
        if not isinstance(value, str) or value not in words:
            raise Misfit(place, f"is none of {listed}")
        return value

    return read


def list_of(item: Reader) -> Reader:
    """Return the reader of a list, all of whose elements are such."""

    def read(value: Any, place: Place) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise Misfit(place, "is no list")
        return tuple(item(one, (*place, str(number))) for number, one in enumerate(value))

    return read


def names_to(item: Reader) -> Reader:
    """Return the reader of an object with any names, all of whose values are such."""

    def read(value: Any, place: Place) -> dict[str, Any]:
        given = read_object(value, place)
        return {name: item(one, (*place, name)) for name, one in given.items()}

    return read


def or_null(item: Reader) -> Reader:
    """Return the reader of such a value, or of null."""
    return lambda value, place: None if value is None else item(value, place)


def fields_of(value: Any, place: Place, fields: Mapping[str, tuple[Reader, Any]]) -> dict[str, Any]:
    """Return the value of each field, the default where it is not given; no others may be there."""
    given = read_object(value, place)
    read: dict[str, Any] = {}
    for name, (reader, default) in fields.items():
        if name in given:
            read[name] = reader(given[name], (*place, name))
        elif default is REQUIRED:
            raise Misfit((*place, name), "is missing")
        else:
            read[name] = default
    for name in given:
        if name not in fields:
            raise Unnamed((*place, name), "is no field of a call")
    return read
