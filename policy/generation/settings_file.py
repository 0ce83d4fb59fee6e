"""Reads `placet.toml`: its `Settings`, or what is wrong with it and where."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from policy.diagnostics import Diagnostic, diagnose, did_you_mean, visible
from policy.generation.settings import (
    Settings,
)
from policy.generation.toml_positions import Path, TomlPosition, positions_of
from policy.model import Source, Span


def read_settings(source: Source, *, root: str) -> tuple[Settings, tuple[Diagnostic, ...]]:
    """Return what the file says; with errors, all but its rules are the defaults.

    Paths of the service are taken relative to `root`, the absolute path of the policy folder.
    """
    parsed = parse_toml(source)
    if isinstance(parsed, Diagnostic):
        return Settings(), (parsed,)
    # Imported here: most policies have no such file, and the models take a while to be made.
    from policy.generation.settings_tables import SettingsTables, settings_of

    try:
        file = SettingsTables.model_validate(parsed)
    except ValidationError as error:
        found = positions_of(source)
        problems = tuple(_said(detail, found, source) for detail in error.errors())
        return Settings(tables=_rules(parsed)), problems
    return settings_of(file, _rules(parsed), root=root), ()


_PLACE = re.compile(r" \(at (?:line ([0-9]+), column ([0-9]+)|end of document)\)$")


def parse_toml(source: Source) -> dict[str, Any] | Diagnostic:
    """Return the tables of a TOML text, or the one error that keeps it from being read."""
    try:
        return tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        said = str(error)
    except RecursionError:
        said = "Nested too deeply"
    except ValueError as error:  # a date of no calendar, a number of too many digits
        said = str(error)
    place = _PLACE.search(said)
    message = said[: place.start()] if place else said
    if place is not None and place[1] is not None:
        offset = _offset(source, int(place[1]), int(place[2]))
    else:
        offset = len(source.text) if place else 0
    return diagnose(
        "bad-settings",
        f"this is not TOML: {visible(message[:1].lower() + message[1:], 200)}",
        span=source.span(offset, min(offset + 1, len(source.text))),
        help=_toml_help(source.line(source.span(offset, offset).line)),
    )


_UNQUOTED_VERDICT = re.compile(r"\s*[^#=\s]+\s*=\s*(allow|ask|deny)\b")
_WITH_COLON = re.compile(r"\s*[\w\".*/-]+\s*:")


def _toml_help(line: str) -> str:
    if verdict := _UNQUOTED_VERDICT.match(line):
        return f'write the verdict in quotes: `"{verdict[1]}"`'
    if _WITH_COLON.match(line):
        return "a key and its value are separated by `=`; rules belong in a `.policy` file"
    return "mend the line, or look at toml.io for how it is written"


def _offset(source: Source, line: int, column: int) -> int:
    start = 0
    for _ in range(line - 1):
        start = source.text.find("\n", start) + 1
    return min(start + column - 1, len(source.text))


def _said(detail: ErrorDetails, found: Mapping[Path, TomlPosition], source: Source) -> Diagnostic:
    path = tuple(step for step in detail["loc"] if isinstance(step, str))
    name = visible(path[-1] if path else "", 80)
    if detail["type"] == "extra_forbidden":
        from policy.generation.settings_tables import keys_at

        known = keys_at(path[:-1])
        return diagnose(
            "unknown-setting",
            f"`{visible('.'.join(path), 200)}` is no setting",
            span=_span(path, found, source, value=False),
            help=did_you_mean(path[-1], known)
            or _elsewhere(path)
            or f"known here: {', '.join(known)}",
        )
    message = detail["msg"].removeprefix("Value error, ")
    return diagnose(
        "bad-settings",
        f"`{name}`: {message[:1].lower() + message[1:]}" if path else message,
        span=_span(path, found, source, value=True),
        help="`placet check --explain bad-settings` shows how values are written",
    )


# What other programs call the lists of a filter.
_FILTERS = {"allow": "allowed", "deny": "blocked", "ask": "require_confirmation"}


def _elsewhere(path: Path) -> str:
    """Return the help for a key that belongs in a table below, "" for another one."""
    if len(path) != 2 or path[0] != "permissions":
        return ""
    if path[1] in _FILTERS:
        return f"a list of tools is `{_FILTERS[path[1]]} = […]` in `[permissions.filter]`"
    return "verdicts of tools are written in `[permissions.tools]`"


def _span(path: Path, found: Mapping[Path, TomlPosition], source: Source, *, value: bool) -> Span:
    while path and path not in found:
        path = path[:-1]
    if not path:
        return source.span(0, 0)
    return found[path].value if value else found[path].key


def _rules(parsed: dict[str, Any]) -> Mapping[str, Any]:
    """Return the tables that are rules; the syntax package reads them."""
    return MappingProxyType(
        {key: parsed[key] for key in ("permissions", "policies") if key in parsed}
    )
