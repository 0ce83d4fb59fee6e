"""A plain JSON Schema in; what tells that an input surely fits it, without the schema library, out.

Importing that library takes as long as Python does to start, and most tools say no more than which
fields there are and of which kind. A schema is plain if it uses no other words than those here, and
uses them rightly. For a plain one the answer is yes or don't know: the library has the last word on
whatever does not surely fit, and says what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

__all__ = ["plain_check"]

Fits: TypeAlias = Callable[[Any], bool]

# Numbers of this size are the same to whoever reads them as integers or as doubles.
_LARGEST = 2**53
# A word that says nothing about a value, and what it is to be followed by.
_REMARKS: dict[str, type] = {"title": str, "description": str, "examples": list, "default": object}
_DIALECTS = frozenset(
    {"https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#"}
)
_WORDS = {
    "object": frozenset({"properties", "required", "additionalProperties"}),
    "array": frozenset({"items", "minItems", "maxItems"}),
    "string": frozenset({"enum", "minLength", "maxLength"}),
    "integer": frozenset({"minimum", "maximum"}),
    "number": frozenset({"minimum", "maximum"}),
    "boolean": frozenset(),
    "null": frozenset(),
}  # fmt: skip
_DEEPEST = 16


class _NotPlainError(Exception):
    """Ends the reading of a schema that holds anything else than what is known here."""


def plain_check(schema: Mapping[str, Any]) -> Fits | None:
    """Return what tells that an input surely fits; None for a schema that is not plain."""
    said = dict(schema)
    if "$schema" in said and not _is_one_of(said.pop("$schema"), _DIALECTS):
        return None
    try:
        return _read(said, 0)
    except _NotPlainError:
        return None


def _read(schema: Any, depth: int) -> Fits:
    _need(type(schema) is dict and depth < _DEEPEST)
    words = {word: said for word, said in schema.items() if word not in _REMARKS}
    _need(all(isinstance(schema[word], _REMARKS[word]) for word in schema.keys() - words.keys()))
    if not words:
        return _is_scalar
    kinds = words.pop("type", None)
    if type(kinds) is list:
        _need(kinds and all(type(kind) is str for kind in kinds) and len({*kinds}) == len(kinds))
        _need(not words)
        return _any_of([_of_kind(kind, {}, depth) for kind in kinds])
    _need(type(kinds) is str)
    return _of_kind(kinds, words, depth)


def _of_kind(kind: str, words: dict[str, Any], depth: int) -> Fits:
    _need(kind in _WORDS and _WORDS[kind].issuperset(words))
    match kind:
        case "object":
            return _object(words, depth)
        case "array":
            return _array(words, depth)
        case "string":
            return _string(words)
        case "integer":
            return _number(words, (int,))
        case "number":
            return _number(words, (int, float))
        case "boolean":
            return lambda value: type(value) is bool
        case _:
            return lambda value: value is None


def _object(words: dict[str, Any], depth: int) -> Fits:
    said, needed = words.get("properties", {}), words.get("required", [])
    rest = words.get("additionalProperties", True)
    _need(type(said) is dict and type(needed) is list and all(type(one) is str for one in needed))
    _need(len({*needed}) == len(needed))
    fields = {name: _read(below, depth + 1) for name, below in said.items()}
    required = frozenset(needed)
    other = _read({} if rest is True else rest, depth + 1) if rest is not False else _is_nothing

    def fits(value: Any) -> bool:
        if type(value) is not dict or not required <= value.keys():
            return False
        return all(fields.get(name, other)(item) for name, item in value.items())

    return fits


def _array(words: dict[str, Any], depth: int) -> Fits:
    element = _read(words.get("items", {}), depth + 1)
    least, most = _size(words, "minItems", 0), _size(words, "maxItems", _LARGEST)
    return lambda value: (
        type(value) is list and least <= len(value) <= most and all(map(element, value))
    )


def _string(words: dict[str, Any]) -> Fits:
    least, most = _size(words, "minLength", 0), _size(words, "maxLength", _LARGEST)
    listed = words.get("enum")
    if listed is None:
        _need("enum" not in words)
        return lambda value: type(value) is str and least <= len(value) <= most
    _need(type(listed) is list and listed and all(type(one) is str for one in listed))
    choices = frozenset(listed)
    _need(len(choices) == len(listed))
    return lambda value: type(value) is str and value in choices and least <= len(value) <= most


def _number(words: dict[str, Any], kinds: tuple[type, ...]) -> Fits:
    least, most = words.get("minimum", -_LARGEST), words.get("maximum", _LARGEST)
    _need(all(type(one) is int and -_LARGEST <= one <= _LARGEST for one in (least, most)))
    return lambda value: type(value) in kinds and least <= value <= most


def _any_of(checks: list[Fits]) -> Fits:
    return lambda value: any(fits(value) for fits in checks)


def _size(words: dict[str, Any], name: str, otherwise: int) -> int:
    size = words.get(name, otherwise)
    _need(type(size) is int and 0 <= size <= _LARGEST)
    assert isinstance(size, int)
    return size


def _is_scalar(value: Any) -> bool:
    """Tell whether a value is of a kind that fits wherever anything does, and holds no others."""
    kind = type(value)
    if kind is int or kind is float:
        return bool(-_LARGEST <= value <= _LARGEST)
    return value is None or kind is str or kind is bool


def _is_nothing(_value: Any) -> bool:
    return False


def _is_one_of(value: object, known: frozenset[str]) -> bool:
    return isinstance(value, str) and value in known


def _need(is_so: object) -> None:
    if not is_so:
        raise _NotPlainError
