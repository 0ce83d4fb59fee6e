"""Translate the table `filter` of `placet.toml` (lists of tools) to equivalent rules.

`allowed` allows the tools it names and, where it is set, denies all others; `blocked` denies;
`require_confirmation` allows with approval, and asks wherever another rule allows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from policy.model import Source, Span, Verdict
from policy.syntax import tree as t
from policy.syntax.table_rules import asking, table_rule, tool_ref

LISTS = ("allowed", "blocked", "require_confirmation")

_NAME = "table:filter"

# Reports a problem: the path of the list, its span, the message and the help.
ReportAt: TypeAlias = Callable[[tuple[str, ...], Span | None, str, str], None]

_BLANK = re.compile(r"(?:[ \t\r\n,]|#[^\n]*)*")
_OPENING = re.compile(r"[^=\n]*=[ \t]*\[")
_TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"|' + r"'[^'\n]*'")


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterReader:
    """Reads one filter table; `place` returns the span of a path, `report` takes its problems."""

    source: Source
    place: Callable[[tuple[str, ...]], Span]
    report: ReportAt

    def rules(self, table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[t.Rule]:
        """Yield the rules of the table at `path`, in the order of their effects and keys."""
        for key in table:
            if key not in LISTS:
                known = ", ".join(f"`{name}`" for name in LISTS)
                self.report(
                    (*path, key), None, f"`{key}` is not a key of a filter", f"known: {known}"
                )
        for tool in self._entries(table, path, "blocked"):
            yield table_rule(_named("blocked", tool), Verdict.DENY, (tool,))
        if "allowed" in table:
            yield from self._allowed(table, path)
        for tool in self._entries(table, path, "require_confirmation"):
            yield from asking(_named("require_confirmation", tool), tool)

    def _allowed(self, table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[t.Rule]:
        entries = self._entries(table, path, "allowed")
        everything = tool_ref("*", self.place((*path, "allowed")))
        yield table_rule(f"{_NAME}.allowed", Verdict.DENY, (everything,), excluded=entries)
        for tool in entries:
            yield table_rule(_named("allowed", tool), Verdict.ALLOW, (tool,))

    def _entries(
        self, table: Mapping[str, Any], path: tuple[str, ...], key: str
    ) -> tuple[t.ToolRef, ...]:
        """Return the patterns of a list, sorted; an entry that is not a list counts as empty."""
        given, here = table.get(key, []), (*path, key)
        if not isinstance(given, list):
            self.report(here, None, f"`{key}` is not a list", 'write a list of tools: ["memory_*"]')
            return ()
        spans = self._spans(here, len(given))
        entries: list[tuple[str, Span]] = []
        for item, span in zip(given, spans, strict=True):
            if isinstance(item, str):
                entries.append((item, span))
            else:
                help = 'write names in quotes: ["memory_*"]'
                self.report(here, span, f"`{key}` has an item that is not a string", help)
        return tuple(tool_ref(text, at) for text, at in sorted(entries, key=lambda e: e[0]))

    def _spans(self, path: tuple[str, ...], count: int) -> tuple[Span, ...]:
        """Return the span of each string of a list, or of the list if uncertain."""
        whole = self.place(path)
        opening = _OPENING.match(self.source.text, whole.start)
        found: list[Span] = []
        at = whole.start if opening is None else opening.end()
        while opening is not None and len(found) < count:
            at = _after(_BLANK, self.source.text, at)
            item = _TEXT.match(self.source.text, at)
            if item is None:
                break
            found.append(self.source.span(item.start(), item.end()))
            at = item.end()
        return tuple(found) if len(found) == count else (whole,) * count


def _named(key: str, tool: t.ToolRef) -> str:
    origin = f"{tool.origin} " if tool.origin else ""
    return f"{_NAME}.{key}.{origin}{tool.pattern}"


def _after(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    assert found is not None  # the pattern matches the empty string
    return found.end()
