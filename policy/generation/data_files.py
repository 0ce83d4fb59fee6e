"""Reads the JSON data files that rules name."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from datetime import date, datetime, time
from types import MappingProxyType
from typing import Any

from policy.diagnostics import Diagnostic, diagnose, visible
from policy.generation.decoding import decode
from policy.generation.folder import Snapshot
from policy.generation.walk import DATA_SUFFIXES
from policy.model import freeze
from policy.syntax import tree
from policy.values import Unreadable, check_value, read_json


def data_files(
    snapshot: Snapshot, trees: Iterable[tree.PolicyFile]
) -> tuple[Mapping[str, Any], tuple[Diagnostic, ...]]:
    """Return the data files by name; those that no rule names are None, and not parsed."""
    data: dict[str, Any] = {name: None for name in snapshot.files if name.endswith(DATA_SUFFIXES)}
    problems: list[Diagnostic] = []
    named = {
        statement.file
        for file in trees
        for statement in file.statements
        if isinstance(statement, tree.SetFromFile | tree.DataTable)
    }
    for name in sorted(named):
        if name in snapshot.unread:
            problems.append(snapshot.unread[name])
            data[name] = None
        elif name in data:
            data[name] = _read(name, snapshot.files[name].content, problems)
    return MappingProxyType(data), tuple(problems)


def _read(name: str, content: bytes, problems: list[Diagnostic]) -> Any:
    if name.endswith(".json"):
        read: Any = read_json(content)
    else:
        source, wrong = decode(name, content, drop_mark=True)
        problems += wrong
        read = None if source is None else _toml(source.text)
    if not isinstance(read, Unreadable):
        return read
    problems.append(
        diagnose(
            "bad-data",
            f"`{visible(name, 200)}` cannot be read: {read.reason}",
            file=visible(name, 200),
            help="data files are TOML or JSON",
        )
    )
    return None


def _toml(text: str) -> Any:
    try:
        value = _as_json(tomllib.loads(text))
    except RecursionError:
        return Unreadable(reason="nested too deeply")
    except ValueError as error:
        return Unreadable(reason=visible(str(error), 200))
    return check_value(value) or freeze(value)


def _as_json(value: Any) -> Any:
    """Return a TOML value with dates and times as the strings that a rule compares."""
    match value:
        case dict():
            return {key: _as_json(item) for key, item in value.items()}
        case list():
            return [_as_json(item) for item in value]
        case datetime() | date() | time():
            return value.isoformat()
        case _:
            return value
