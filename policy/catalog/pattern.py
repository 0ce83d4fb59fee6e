"""Patterns of tool names in rules, and which tools they match.

A pattern is interpreted differently where it grants (`allow`, `default allow`, `delegate`,
`results(…)`) and where it restricts. Where it restricts, it is wide. Where it grants, a wildcard
matches only the host application's own tools and those of a server or extension whose identifier is
written out, so that connecting a server never adds its tools to an older rule.

A tool with a version answers to two names, `translate@2` and `translate`: a pattern that matches
the second one covers all versions, one that matches only the first covers that version alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from policy.catalog.tool import Origin, ToolSpec
from policy.values import compile_name_glob, has_wildcard, literal_text

ToolTest: TypeAlias = Callable[[ToolSpec], bool]
# The literal prefix of a pattern.
_PLAIN = re.compile(r"[^*?\\]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPattern:
    """`text`, or `mcp SERVER/TOOL` and `ext PLUGIN/TOOL` where `origin` says so."""

    origin: Literal["mcp", "ext"] | None = None
    text: str

    @property
    def problem(self) -> str | None:
        """Why this is not a valid pattern, as one sentence; None if it is."""
        if not self.text:
            return "an empty name matches no tool"
        if self.origin is None:
            return None
        server, slash, tool = self.text.partition("/")
        if slash and server and tool:
            return None
        what = "SERVER/TOOL" if self.origin == "mcp" else "PLUGIN/TOOL"
        return f"`{self.origin} {self.text}` must be written `{self.origin} {what}`"

    @property
    def beginning(self) -> str:
        """The prefix of the full names of all tools that it can match."""
        plain = _PLAIN.match(self._flat())
        return plain[0] if plain else ""

    def _flat(self) -> str:
        """Return the pattern as one of flat names."""
        if self.origin is None:
            return self.text
        server, _, tool = self.text.partition("/")
        return f"{server}__{tool}" if self.origin == "mcp" else f"ext__{server}__{tool}"

    @property
    def exact_name(self) -> str | None:
        """The only name it can match, which versions of a tool share; None if it has a wildcard."""
        text = _literal(self.text)
        if text is None or self.origin is None:
            return text
        server, _, tool = text.partition("/")
        return Origin(kind=self.origin, server=server, tool=tool).flat_name()

    def matcher(self, *, grants: bool) -> ToolTest:
        """Return the test of tools, narrow where the pattern `grants`.

        Raises ValueError for what `problem` objects to.
        """
        if self.problem is not None:
            raise ValueError(self.problem)
        if self.origin is not None:
            return _by_origin(self.origin, self.text)
        if self.text == "*":
            return lambda spec: True
        name = _literal(self.text)
        if name is not None:
            return lambda spec: name in spec.names
        return _narrow(self.text) if grants else _wide(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSelector:
    """`TOOLS except TOOLS`; either side may hold selectors, for named sets.

    An exception to a grant restricts, and the other way round, so each side is interpreted in its
    own way. `grants` of a nested selector is ignored: its position decides.
    """

    included: tuple[ToolPattern | ToolSelector, ...]
    excluded: tuple[ToolPattern | ToolSelector, ...] = ()
    grants: bool
    # Computed on first use: most rules are never tested against a tool.
    _matches: ToolTest | None = field(default=None, init=False, repr=False, compare=False)
    _exact: frozenset[str] | None = field(init=False, repr=False, compare=False)
    # Cached: selectors are the keys of many tables.
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for part in (*self.included, *self.excluded):
            if isinstance(part, ToolPattern) and part.problem is not None:
                raise ValueError(part.problem)
        object.__setattr__(self, "_exact", self._find_exact_names())
        object.__setattr__(self, "_hash", hash((self.included, self.excluded, self.grants)))

    def __hash__(self) -> int:
        return self._hash

    def matches(self, spec: ToolSpec) -> bool:
        """Return whether the selector matches a tool."""
        matches = self._matches
        if matches is None:
            matches = self.matcher(grants=self.grants)
            object.__setattr__(self, "_matches", matches)
        return matches(spec)

    def matcher(self, *, grants: bool) -> ToolTest:
        """Return the test of tools for a position that `grants` or restricts."""
        included = _any_of(tuple(part.matcher(grants=grants) for part in self.included))
        if not self.excluded:
            return included
        excluded = _any_of(tuple(part.matcher(grants=not grants) for part in self.excluded))
        return lambda spec: included(spec) and not excluded(spec)

    def exact_names(self) -> frozenset[str] | None:
        """Return a superset of the names that it can match; None for any."""
        return self._exact

    def beginnings(self) -> Iterator[str]:
        """Yield prefixes; the full name of every tool that it can match begins with one of them."""
        for part in self.included:
            if isinstance(part, ToolSelector):
                yield from part.beginnings()
            else:
                yield part.beginning

    def _find_exact_names(self) -> frozenset[str] | None:
        found: set[str] = set()
        for part in self.included:
            if isinstance(part, ToolSelector):
                inner = part.exact_names()
                if inner is None:
                    return None
                found |= inner
                continue
            name = part.exact_name
            if name is None:
                return None
            found.add(name)
        return frozenset(found)


def select_name(text: str, *, grants: bool) -> ToolSelector:
    """Return the selector of one pattern of flat names."""
    return ToolSelector(included=(ToolPattern(text=text),), grants=grants)


def _literal(text: str) -> str | None:
    """Return the one name that a pattern matches; most names have no special characters."""
    return text if _PLAIN.fullmatch(text) else literal_text(text)


def _any_of(tests: tuple[ToolTest, ...]) -> ToolTest:
    if len(tests) == 1:
        return tests[0]
    return lambda spec: any(test(spec) for test in tests)


def _wide(text: str) -> ToolTest:
    match = compile_name_glob(text)
    return lambda spec: any(map(match, spec.names))


def _by_origin(kind: str, text: str) -> ToolTest:
    server, _, tool = text.partition("/")
    match_server, match_tool = compile_name_glob(server), compile_name_glob(tool)
    return lambda spec: (
        spec.origin.kind == kind
        and match_server(spec.origin.server)
        and any(map(match_tool, spec.names_at_origin))
    )


def _narrow(text: str) -> ToolTest:
    match = compile_name_glob(text)
    return lambda spec: (
        (spec.origin.kind == "host" or _spells(text, spec.origin)) and any(map(match, spec.names))
    )


def _spells(text: str, origin: Origin) -> bool:
    server = origin.server
    # No catalogue contains such a server; a spec created by hand must not imitate one either.
    if not server or "__" in server or has_wildcard(server):
        return False
    if origin.kind == "mcp":
        return server != "ext" and text.startswith(f"{server}__")
    return text.startswith(f"ext__{server}__")
