"""The functions of the language: they take values, return a value, and never raise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TypeAlias

from policy.evaluation.truth import ABSENT, Absent, Indeterminate, Value
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
    words_of,
)

Function: TypeAlias = Callable[..., Value]


def _strict(body: Function) -> Function:
    """Return absent and indeterminate arguments unchanged."""

    def call(*args: Value) -> Value:
        for arg in args:
            if isinstance(arg, Indeterminate):
                return arg
        for arg in args:
            if isinstance(arg, Absent):
                return arg
        return body(*args)

    return call


def _read(value: Value | Unreadable) -> Value:
    return Indeterminate(value.reason) if isinstance(value, Unreadable) else value


def _length(value: Value) -> Value:
    if isinstance(value, (str, tuple, Mapping)):
        return len(value)
    return Indeterminate("`length` of a value that is not a string, list or object")


def _least(*values: Value) -> Value:
    return _extreme(values, "<")


def _greatest(*values: Value) -> Value:
    return _extreme(values, ">")


def _extreme(values: tuple[Value, ...], op: str) -> Value:
    items = values[0] if len(values) == 1 and isinstance(values[0], tuple) else values
    best: Value = ABSENT
    for item in items:
        if not is_number(item):
            return Indeterminate("`min` or `max` of values that are not numbers")
        better = True if isinstance(best, Absent) else compare_numbers(op, item, best)
        if better is None:
            return Indeterminate("a number with more digits than a double can represent")
        if better:
            best = item
    return best


def _values(value: Value) -> Value:
    if isinstance(value, Mapping):
        return tuple(value.values())
    return Indeterminate("`values` of a value that is not an object")


# Characters whose words, or links, are found in some forty milliseconds of ordinary text.
_LONGEST_OF_WORDS = 500_000
_LONGEST_OF_LINKS = 250_000


def _words(text: Value, least: Value) -> Value:
    if not isinstance(text, str) or not isinstance(least, int):
        return Indeterminate("`words` of a value that is not a string")
    if len(text) > _LONGEST_OF_WORDS:
        return Indeterminate(f"`words` of more than {_LONGEST_OF_WORDS:,} characters")
    return tuple(word for word in words_of(text) if len(word) >= least)


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
    return Indeterminate("`time` of a value that is not a string")


def _date(value: Value) -> Value:
    """Return the day of a time as a string, or the midnight of a literal date as a time."""
    if isinstance(value, datetime):
        return value.date().isoformat()
    if isinstance(value, str):
        return _read(parse_date(value))
    return Indeterminate("`date` of a value that is not a string or a time")


def _url(value: Value) -> Value:
    if isinstance(value, str):
        return _read(url_parts(value))
    return Indeterminate("a URL that is not a string")


def _with_scheme(url: Value, scheme: Value) -> Value:
    if isinstance(url, str) and isinstance(scheme, str):
        return _read(with_scheme(url, scheme))
    return Indeterminate("a URL that is not a string")


def _links(value: Value) -> Value:
    """Return the URLs in a string or a list of strings; none for an absent string."""
    if isinstance(value, Indeterminate):
        return value
    if isinstance(value, Absent):
        return ()
    texts = value if isinstance(value, tuple) else (value,)
    if not all(isinstance(text, str) for text in texts):
        return Indeterminate("`links` of a value that is not a string")
    if sum(map(len, texts)) > _LONGEST_OF_LINKS:
        return Indeterminate(f"`links` of more than {_LONGEST_OF_LINKS:,} characters")
    return tuple(link for text in texts for link in links_in(text))


def _sql(text: Value, dialect: str | None = None) -> Value:
    if not isinstance(text, str):
        return Indeterminate("`sql` of a value that is not a string")
    found = read_sql(text, dialect)
    if isinstance(found, Unreadable):
        return Indeterminate(found.reason)
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
