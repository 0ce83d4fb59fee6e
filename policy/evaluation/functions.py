"""The functions of the language: they take values, return a value, and never raise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TypeAlias

from policy.evaluation.truth import ABSENT, Absent, Undecided, Value
from policy.values import (
    Sql,
    SqlStatement,
    Unreadable,
    compare_numbers,
    is_number,
    links_in,
    parse_date,
    parse_time,
    read_sql,
    url_parts,
    with_scheme,
)

Function: TypeAlias = Callable[..., Value]

# The punctuation of a sentence, quotes and brackets, which bound a word but are no part of it.
_BOUNDS = " \t\r\n\"'`“”‘’«»()[]{}<>,;:!?"


def _strict(body: Function) -> Function:
    """Let absent and undecidable arguments through as they are."""

    def call(*args: Value) -> Value:
        for arg in args:
            if isinstance(arg, Undecided):
                return arg
        for arg in args:
            if isinstance(arg, Absent):
                return arg
        return body(*args)

    return call


def _read(value: Value | Unreadable) -> Value:
    return Undecided(value.reason) if isinstance(value, Unreadable) else value


def _length(value: Value) -> Value:
    if isinstance(value, (str, tuple, Mapping)):
        return len(value)
    return Undecided("the length of what is no text, list or object")


def _least(*values: Value) -> Value:
    return _extreme(values, "<")


def _greatest(*values: Value) -> Value:
    return _extreme(values, ">")


def _extreme(values: tuple[Value, ...], op: str) -> Value:
    items = values[0] if len(values) == 1 and isinstance(values[0], tuple) else values
    best: Value = ABSENT
    for item in items:
        if not is_number(item):
            return Undecided("the least or greatest of what are no numbers")
        better = True if isinstance(best, Absent) else compare_numbers(op, item, best)
        if better is None:
            return Undecided("a number with more digits than a double holds")
        if better:
            best = item
    return best


def _values(value: Value) -> Value:
    if isinstance(value, Mapping):
        return tuple(value.values())
    return Undecided("the values of what is no object")


def _words(text: Value, least: Value) -> Value:
    if not isinstance(text, str) or not isinstance(least, int):
        return Undecided("the words of what is no text")
    for bound in _BOUNDS:
        text = text.replace(bound, " ")
    words = (word.strip(".") for word in text.split())
    return tuple(word for word in words if len(word) >= least)


def _first_present(*values: Value) -> Value:
    for value in values:
        if not isinstance(value, Absent):
            return value
    return ABSENT


def _time(value: Value) -> Value:
    if isinstance(value, datetime):
        return value
    if isinstance(value, str):
        return _read(parse_time(value))
    return Undecided("a time from what is no text")


def _date(value: Value) -> Value:
    """Give the day of a time as text, and of a written date its midnight as a time."""
    if isinstance(value, datetime):
        return value.date().isoformat()
    if isinstance(value, str):
        return _read(parse_date(value))
    return Undecided("a date from what is no text")


def _url(value: Value) -> Value:
    if isinstance(value, str):
        return _read(url_parts(value))
    return Undecided("a URL from what is no text")


def _with_scheme(url: Value, scheme: Value) -> Value:
    if isinstance(url, str) and isinstance(scheme, str):
        return _read(with_scheme(url, scheme))
    return Undecided("a URL from what is no text")


def _links(value: Value) -> Value:
    """Give the URLs in free text or in a list of texts; of an absent text, none."""
    if isinstance(value, Undecided):
        return value
    if isinstance(value, Absent):
        return ()
    texts = value if isinstance(value, tuple) else (value,)
    if not all(isinstance(text, str) for text in texts):
        return Undecided("the links of what is no text")
    return tuple(link for text in texts for link in links_in(text))


def _sql(text: Value, dialect: str | None = None) -> Value:
    if not isinstance(text, str):
        return Undecided("SQL from what is no text")
    found = read_sql(text, dialect)
    if isinstance(found, Unreadable):
        return Undecided(found.reason)
    statements = tuple({"kind": one.kind, **_tables(one)} for one in found.statements)
    return {"statements": statements, **_tables(found)}


def _tables(found: Sql | SqlStatement) -> dict[str, Value]:
    return {"tables": found.tables, "reads": found.reads, "writes": found.writes}


FUNCTIONS: dict[str, Function] = {
    "length": _strict(_length),
    "min": _strict(_least),
    "max": _strict(_greatest),
    "values": _strict(_values),
    "words": _strict(_words),
    "first_present": _first_present,
    "time": _strict(_time),
    "date": _strict(_date),
    "url": _strict(_url),
    "with_scheme": _strict(_with_scheme),
    "links": _links,
    "sql": _strict(_sql),
}
