"""Translate the permission tables of `placet.toml` to the nodes of equivalent rule files.

`[permissions.tools]`, `[permissions.filter]` and `[policies.tool_permissions]` apply to every
agent, each `[permissions.agents.NAME.tools]` and `….filter` to the agent of that name. A key
becomes a rule and keeps its text: whether it names a tool, a glob, an alias or a category is
resolved by the checks, which have the catalogue.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from policy.diagnostics import Diagnostic, diagnose, in_order
from policy.model import Source, Span, Verdict
from policy.syntax import tree as t
from policy.syntax.filter_table import FilterReader
from policy.syntax.table_rules import asking, table_rule, tool_ref

Path: TypeAlias = tuple[str, ...]
TableLayer: TypeAlias = tuple[t.Binding, tuple[t.Rule | t.Default, ...]]

_VERDICTS = {"allow": Verdict.ALLOW, "ask": Verdict.ASK, "deny": Verdict.DENY}
_KEY = r"""(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[A-Za-z0-9_-]+)"""
_DOTTED = rf"{_KEY}(?:[ \t]*\.[ \t]*{_KEY})*"
_HEADER = re.compile(rf"[ \t]*\[\[?[ \t]*({_DOTTED})[ \t]*\]")
_ENTRY = re.compile(rf"[ \t]*({_DOTTED})[ \t]*=")
_PART = re.compile(_KEY)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRules:
    """The rules of the tables, layer by layer; a rule is named `table:KEY`."""

    layers: tuple[TableLayer, ...]
    diagnostics: tuple[Diagnostic, ...]


def tables_to_layers(table: Mapping[str, Any], *, source: Source) -> TableRules:
    """Return the rules of the permission tables in `table`, which is all of `placet.toml`, parsed.

    `source` is the file's text, for spans.
    """
    reader = _TableReader(source=source, places=_places(source), diagnostics=[])
    everyone = reader.everyone(table)
    layers = [everyone] if everyone[1] else []
    layers += [layer for layer in reader.agents(table) if layer[1]]
    return TableRules(layers=tuple(layers), diagnostics=in_order(reader.diagnostics))


@dataclass(slots=True, kw_only=True)
class _TableReader:
    source: Source
    places: Mapping[Path, tuple[int, int]]
    diagnostics: list[Diagnostic]

    def everyone(self, table: Mapping[str, Any]) -> TableLayer:
        """Read the tables that apply to every agent."""
        tools = self.table_at(table, ("permissions", "tools"))
        rules = [*self.entries(tools, ("permissions", "tools"))]
        older: Path = ("policies", "tool_permissions")
        permissions = self.table_at(table, older)
        if "default" in permissions:
            rules += self.entries({"default": permissions["default"]}, older)
        overrides = self.table_at(table, (*older, "overrides"))
        rules += self.rules(overrides, (*older, "overrides"))
        rules += self.filter(table, ("permissions", "filter"))
        for key in permissions:
            if key not in ("default", "overrides"):
                self.report(
                    (*older, key),
                    f"`{key}` is not a key of this table",
                    help="the keys are `default` and the table `overrides`",
                )
        return t.EveryAgent(span=self.span(("permissions", "tools"))), tuple(rules)

    def agents(self, table: Mapping[str, Any]) -> Iterator[TableLayer]:
        """Read the tables of single agents."""
        above: Path = ("permissions", "agents")
        for name in self.table_at(table, above):
            path = (*above, name, "tools")
            binding = t.Agents(
                patterns=(name,), plural="*" in name or "?" in name, span=self.span(path)
            )
            # Another layer's `default allow` could only mean that it leaves other tools alone.
            rules = [
                rule
                for rule in self.entries(self.table_at(table, path), path)
                if not (isinstance(rule, t.Default) and rule.verdict is Verdict.ALLOW)
            ]
            rules += self.filter(table, (*above, name, "filter"))
            yield binding, tuple(rules)

    def filter(self, table: Mapping[str, Any], path: Path) -> Iterator[t.Rule]:
        """Read a table of lists of tools."""
        reader = FilterReader(source=self.source, place=self.span, report=self.report_at)
        return reader.rules(self.table_at(table, path), path)

    def entries(self, table: Mapping[str, Any], path: Path) -> Iterator[t.Rule | t.Default]:
        """Read a table whose key `default` is the default of its layer."""
        rest = dict(table)
        if "default" in rest:
            verdict = self.verdict((*path, "default"), rest.pop("default"))
            if verdict is not None:
                span = self.span((*path, "default"))
                yield t.Default(verdict=verdict, tools=None, span=span)
        yield from self.rules(rest, path)

    def rules(self, table: Mapping[str, Any], path: Path) -> Iterator[t.Rule]:
        """Read a table in which every key is a rule, in the order of the keys."""
        for key, value in sorted(table.items()):
            verdict = self.verdict((*path, key), value)
            if verdict is not None:
                yield from _rules(key, verdict, span=self.span((*path, key)))

    def verdict(self, path: Path, value: object) -> Verdict | None:
        """Return the verdict an entry names, or report that it is not a verdict."""
        verdict = _VERDICTS.get(value) if isinstance(value, str) else None
        if verdict is None:
            meant = value.strip().lower() if isinstance(value, str) else ""
            self.report(
                path,
                f"`{path[-1]}` has the value {_kind(value)}, which is not a verdict",
                help=f'did you mean "{meant}"?'
                if meant in _VERDICTS
                else 'write "allow", "ask" or "deny"',
            )
        return verdict

    def table_at(self, table: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
        """Return the table at a path, empty where there is none."""
        found: Any = table
        for number, key in enumerate(path):
            if key not in found:
                return {}
            found = found[key]
            if not isinstance(found, Mapping):
                self.report(
                    path[: number + 1],
                    f"`{'.'.join(path[: number + 1])}` is {_kind(found)}, but must be a table",
                    help=f"write `[{'.'.join(path)}]` and each entry on a line below it",
                )
                return {}
        return found  # type: ignore[no-any-return]

    def report(self, path: Path, message: str, *, help: str) -> None:
        """Report a mistake at an entry."""
        self.report_at(path, None, message, help)

    def report_at(self, path: Path, span: Span | None, message: str, help: str) -> None:
        """Report a mistake at a span, or else at an entry."""
        if not any(known.message == message for known in self.diagnostics):
            place = span or self.span(path)
            self.diagnostics.append(diagnose("table-value", message, span=place, help=help))

    def span(self, path: Path) -> Span:
        """Return the span of the entry, or of the nearest table around it."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.places:
                return self.source.span(*self.places[path[:length]])
        return self.source.span(0, 0)


def _rules(key: str, verdict: Verdict, *, span: Span) -> Iterator[t.Rule]:
    """Yield the rules of one entry."""
    if verdict is Verdict.ASK:
        yield from asking(f"table:{key}", tool_ref(key, span))
    else:
        yield table_rule(f"table:{key}", verdict, (tool_ref(key, span),))


def _kind(value: object) -> str:
    match value:
        case str():
            shown = value if len(value) <= 40 else f"{value[:40]}…"
            return f"`{shown}`"
        case bool():
            return f"`{str(value).lower()}`"
        case int() | float():
            return f"`{value}`"
        case Mapping():
            return "a table"
        case list() | tuple():
            return "a list"
        case _:
            return "something else"


def _places(source: Source) -> dict[Path, tuple[int, int]]:
    """Return the span of each key, found line by line, because the TOML parser keeps none."""
    places: dict[Path, tuple[int, int]] = {}
    above: Path = ()
    offset = 0
    for line in source.text.split("\n"):
        if header := _HEADER.match(line):
            above = _parts(header.group(1))
            places.setdefault(above, (offset + header.start(1), offset + header.end(1)))
        elif entry := _ENTRY.match(line):
            path = (*above, *_parts(entry.group(1)))
            places.setdefault(path, (offset + entry.start(1), offset + len(line.rstrip())))
        offset += len(line) + 1
    return places


def _parts(dotted: str) -> Path:
    return tuple(
        part[1:-1] if part[0] in "\"'" else part
        for part in (found.group() for found in _PART.finditer(dotted))
    )
