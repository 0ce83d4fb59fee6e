"""`TOOLS except TOOLS`: resolves the selector and the known tools that it matches.

A name of a `tools` set or a parameter stands for its tools; any other is a pattern, which is looked
up in the catalogue.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from policy.catalog import (
    ALIASES,
    NAMES_ELSEWHERE,
    Catalog,
    ToolPattern,
    ToolSelector,
    ToolSpec,
    repair_name,
)
from policy.checks.names.interpolation import dotted_name, interpolate, value_of_param
from policy.checks.names.scopes import (
    MAX_DEPTH,
    MAX_PATTERNS,
    Definition,
    Extent,
    Scope,
    extent_over,
    is_too_large,
    report_too_deep,
)
from policy.checks.report import Report
from policy.diagnostics import Label, Severity, nearest
from policy.model import Span
from policy.syntax import tree
from policy.values import escape_glob

# The names that Claude Code gives to the tools of MCP servers.
_NAMED_BY_HOOKS = re.compile(r"mcp__(.+?)__(.+)")
# What newcomers write for every tool.
_EVERYTHING = frozenset({"all", "any", "anything", "everything", "every", "tools", "all_tools"})

# The identities of the parts on either side of `except`, and whether the position grants.
_Parts: TypeAlias = tuple[tuple[int, ...], tuple[int, ...], bool]

_EMPTY = ToolSelector(included=(), grants=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unknown:
    """Why a pattern matches no known tool, and how severe that is.

    `elsewhere`: it is the name that another agent gives to a known tool. A rule that restricts it
    protects nothing, which is an error.
    """

    severity: Severity
    message: str
    help: str
    near: bool = False
    elsewhere: bool = False


@dataclass(slots=True, kw_only=True, eq=False)
class SelectorReader:
    """Reads selectors, and caches look-ups in the catalogue."""

    catalog: Catalog
    report: Report
    _sets: dict[tuple[Definition, bool], ToolSelector] = field(default_factory=dict)
    _known: dict[ToolPattern, _Unknown | None] = field(default_factory=dict)
    # Rules of the same tools share one selector, and the patterns in it.
    _patterns: dict[tuple[str | None, str], ToolPattern] = field(default_factory=dict)
    # Selectors of a single name, by its scope and whether the position grants.
    _plain: dict[tuple[int, str, bool], tuple[Scope, ToolSelector]] = field(default_factory=dict)
    # By identity: selectors keep their parts alive, and equal parts are one object.
    _selectors: dict[_Parts, ToolSelector] = field(default_factory=dict)
    # The tool sets visible in a scope, by its identity: scopes are complete by now.
    _set_names: dict[int, tuple[Scope, list[str]]] = field(default_factory=dict)
    # By identity: the selectors are kept alive above.
    _extents: dict[int, Extent] = field(default_factory=dict)

    def selector(
        self, tools: tree.Tools, scope: Scope, *, grants: bool, lenient: bool = False
    ) -> ToolSelector:
        """Return the selector of `tools`, for a position that `grants` or restricts.

        `lenient` makes an unknown tool a warning: a pack may name tools that its user does not
        have.
        """
        alone = _only_name(tools)
        place = None if alone is None else (id(scope), alone, grants)
        kept = None if place is None else self._plain.get(place)
        if kept is not None:
            return kept[1]
        found = self._selector(tools, scope, grants=grants, lenient=lenient)
        if place is not None and self._is_plain(found):
            # With the scope, so that no other object can reuse its identity.
            self._plain[place] = (scope, found)
        return found

    def _is_plain(self, selector: ToolSelector) -> bool:
        """Return whether a selector is one pattern without problems."""
        part = selector.included[0] if selector.included else None
        return isinstance(part, ToolPattern) and self._known.get(part, _EMPTY) is None

    def _selector(
        self, tools: tree.Tools, scope: Scope, *, grants: bool, lenient: bool
    ) -> ToolSelector:
        included = self._parts(tools.included, scope, grants=grants, lenient=lenient, chain=())
        excluded = self._parts(tools.excluded, scope, grants=not grants, lenient=lenient, chain=())
        key = (tuple(map(id, included)), tuple(map(id, excluded)), grants)
        kept = self._selectors.get(key)
        if kept is None:
            kept = ToolSelector(included=included, excluded=excluded, grants=grants)
            self._selectors[key] = kept
        return kept

    def matching(self, selector: ToolSelector) -> tuple[ToolSpec, ...]:
        """Return the known tools that the selector matches, in the order of the catalogue."""
        return self.catalog.matching(selector)

    def table_selector(self, keys: tree.Tools, *, grants: bool) -> ToolSelector:
        """Return the selector of keys of the configuration: patterns, aliases, categories."""
        return ToolSelector(
            included=self._keys(keys.included, grants=grants),
            excluded=self._keys(keys.excluded, grants=not grants),
            grants=grants,
        )

    def _keys(self, keys: Iterable[tree.ToolRef], *, grants: bool) -> tuple[ToolPattern, ...]:
        return tuple(pattern for key in keys for pattern in self._key(key, grants=grants))

    def _key(self, key: tree.ToolRef, *, grants: bool) -> tuple[ToolPattern, ...]:
        """Return the patterns of one key: a tool, else an alias, else a category."""
        pattern = ToolPattern(origin=key.origin, text=key.pattern)
        name = pattern.exact_name if key.origin is None else None
        if name is not None and self.catalog.get(name) is None:
            alias = ALIASES.get(name)
            if alias is not None and self.catalog.get(alias) is not None:
                return (ToolPattern(text=alias),)
            members = self._category(name, grants=grants)
            if members:
                return tuple(ToolPattern(text=escape_glob(member)) for member in members)
        self._check(pattern, key.span, None, lenient=True)
        return () if pattern.problem else (pattern,)

    def _category(self, name: str, *, grants: bool) -> tuple[str, ...]:
        """Return the tools of a category; `file_ops` is another name of `file`.

        A server declares the category of its tools itself, so that alone grants nothing.
        """
        known = self.catalog.categories
        members = known.get(name) or known.get(name.removesuffix("_ops")) or ()
        if not grants:
            return members
        specs = (self.catalog.get(member) for member in members)
        return tuple(s.name for s in specs if s and (s.origin.kind == "host" or s.pinned))

    def named(
        self, found: Definition, *, lenient: bool = False, chain: tuple[Definition, ...] = ()
    ) -> ToolSelector | None:
        """Return the tools that a definition defines, None if it defines none."""
        node = found.node
        if not isinstance(node, tree.ToolSet) and not (
            isinstance(node, tree.Param) and node.kind == "tools"
        ):
            return None
        if found in chain:
            self._report_cycle(chain, found)
            return _EMPTY
        if len(chain) > MAX_DEPTH:
            report_too_deep(found, self.report)
            return _EMPTY
        key = (found, lenient)
        kept = self._sets.get(key)
        if kept is None:
            kept = self._read_named(found, lenient=lenient, chain=(*chain, found))
            if is_too_large(self._extent(kept), most=MAX_PATTERNS):
                report_too_deep(found, self.report)
                kept = ToolSelector(included=(), grants=False)
            self._extents[id(kept)] = self._extent(kept)
            self._sets[key] = kept
        return kept

    def _extent(self, selector: ToolSelector) -> Extent:
        """Return the extent of a selector; those of named sets are cached."""
        known = self._extents.get(id(selector))
        if known is not None:
            return known
        parts = (*selector.included, *selector.excluded)
        return extent_over(
            self._extent(part) if isinstance(part, ToolSelector) else (0, 1) for part in parts
        )

    def _read_named(
        self, found: Definition, *, lenient: bool, chain: tuple[Definition, ...]
    ) -> ToolSelector:
        node = found.node
        if isinstance(node, tree.ToolSet):
            included = self._parts(node.tools.included, found.scope, lenient=lenient, chain=chain)
            excluded = self._parts(node.tools.excluded, found.scope, lenient=lenient, chain=chain)
            return ToolSelector(included=included, excluded=excluded, grants=False)
        assert isinstance(node, tree.Param)
        bound = value_of_param(node, found.scope)
        if bound is None:
            return _EMPTY
        # Who uses a pack knows the tools that there are.
        given = self._given(bound.value, bound.scope, lenient=bound.scope.of_pack, chain=chain)
        return _of(given, grants=False)

    def _given(
        self, value: tree.Expr, scope: Scope, *, lenient: bool, chain: tuple[Definition, ...]
    ) -> tuple[ToolPattern | ToolSelector, ...]:
        """Read the value of a parameter of type `tools`: names of sets and quoted patterns."""
        if isinstance(value, tree.ListLiteral):
            items = [self._given(v, scope, lenient=lenient, chain=chain) for v in value.items]
            return tuple(part for parts in items for part in parts)
        if isinstance(value, tree.Text):
            text = interpolate(value.value, scope, self.report, span=value.span)
            ref = tree.ToolRef(origin=None, pattern=text, span=value.span)
            return self._parts((ref,), scope, lenient=lenient, chain=chain)
        name = dotted_name(value)
        if name is not None:
            ref = tree.ToolRef(origin=None, pattern=name, span=value.span)
            return self._parts((ref,), scope, lenient=lenient, chain=chain)
        self.report.add(
            "wrong-kind",
            "tools are needed here",
            span=value.span,
            help="name a `tools` set, or a list of quoted tool patterns",
        )
        return ()

    def _parts(
        self,
        refs: tuple[tree.ToolRef, ...],
        scope: Scope,
        *,
        grants: bool = False,
        lenient: bool,
        chain: tuple[Definition, ...],
    ) -> tuple[ToolPattern | ToolSelector, ...]:
        parts = (
            self._part(ref, scope, grants=grants, lenient=lenient, chain=chain) for ref in refs
        )
        return tuple(part for part in parts if part is not None)

    def _part(
        self,
        ref: tree.ToolRef,
        scope: Scope,
        *,
        grants: bool,
        lenient: bool,
        chain: tuple[Definition, ...],
    ) -> ToolPattern | ToolSelector | None:
        found = scope.find(ref.pattern) if ref.origin is None else None
        if found is not None:
            named = self.named(found, lenient=lenient, chain=chain)
            if named is None:
                self.report.add(
                    "wrong-kind",
                    f"`{ref.pattern}` is not a set of tools",
                    span=ref.span,
                    labels=(Label(span=found.span, text="defined here"),),
                    help="name tools, or a set defined with `tools`",
                )
            return named
        if ref.origin is None and scope.is_broken(ref.pattern):
            self.report.excuse()
            return None
        pattern = self._patterns.get((ref.origin, ref.pattern))
        if pattern is None:
            pattern = ToolPattern(origin=ref.origin, text=ref.pattern)
            self._patterns[(ref.origin, ref.pattern)] = pattern
        known = self._check(pattern, ref.span, scope, grants=grants, lenient=lenient)
        return pattern if known else None

    def _check(
        self,
        pattern: ToolPattern,
        span: Span,
        scope: Scope | None,
        *,
        grants: bool = False,
        lenient: bool,
    ) -> bool:
        """Return whether this is a valid pattern; report if it matches no known tool."""
        if self._known.get(pattern, _EMPTY) is None:
            return True
        if not self._is_spelled(pattern, span):
            return False
        if pattern not in self._known:
            self._known[pattern] = self._look_up(pattern)
        unknown = self._known[pattern]
        if unknown is None:
            return True
        if scope is not None and pattern.origin is None and scope.find_label(pattern.text):
            self.report.add(
                "unknown-tool",
                f"`{pattern.text}` is a label, and tools are needed here",
                span=span,
                help=f"write `after {pattern.text}`, or name the tools themselves",
            )
            return True
        self.report.add(
            "unknown-tool",
            unknown.message,
            span=span,
            label="not in the catalogue",
            help=self._help(pattern, unknown, scope),
            severity=self._severity(pattern, unknown, scope, grants=grants, lenient=lenient),
        )
        return True

    def is_pattern(self, ref: tree.ToolRef) -> bool:
        """Return whether this can be a tool, known or not; report if not."""
        return self._is_spelled(ToolPattern(origin=ref.origin, text=ref.pattern), ref.span)

    def _is_spelled(self, pattern: ToolPattern, span: Span) -> bool:
        if pattern.problem is None:
            return True
        self.report.add(
            "bad-tool-pattern",
            pattern.problem,
            span=span,
            help="write the name of a tool; those of a server are `mcp SERVER/TOOL` or "
            "`mcp SERVER/*`",
        )
        return False

    def _severity(
        self,
        pattern: ToolPattern,
        unknown: _Unknown,
        scope: Scope | None,
        *,
        grants: bool,
        lenient: bool,
    ) -> Severity:
        if self._near_set(pattern, scope):
            return Severity.ERROR
        if lenient:
            return Severity.WARNING
        return Severity.ERROR if unknown.elsewhere and not grants else unknown.severity

    def _help(self, pattern: ToolPattern, unknown: _Unknown, scope: Scope | None) -> str:
        near = self._near_set(pattern, scope)
        return f"did you mean `{near}`?" if near and not unknown.near else unknown.help

    def _near_set(self, pattern: ToolPattern, scope: Scope | None) -> str | None:
        """Return the set that a name may mean; names of sets are in lower case."""
        if scope is None or pattern.origin is not None or pattern.text != pattern.text.lower():
            return None
        kept = self._set_names.get(id(scope))
        if kept is None:
            kept = self._set_names[id(scope)] = (scope, _tool_sets(scope))
        return nearest(pattern.text, kept[1])

    def _look_up(self, pattern: ToolPattern) -> _Unknown | None:
        """Return why no known tool matches; None if one does."""
        name = pattern.exact_name
        if name is not None:
            spec = self.catalog.get(name)
            if spec is not None and pattern.matcher(grants=False)(spec):
                return None
        else:
            matches = pattern.matcher(grants=False)
            if pattern.text in ("*", "*/*") or any(
                map(matches, self.catalog.beginning(pattern.beginning))
            ):
                return None
        return self._unknown(pattern, exact="name" if name is not None else "pattern")

    def _unknown(self, pattern: ToolPattern, *, exact: Literal["name", "pattern"]) -> _Unknown:
        shown = f"{pattern.origin} {pattern.text}" if pattern.origin else pattern.text
        message = (
            f"no tool is called `{shown}`"
            if exact == "name"
            else f"no known tool matches `{shown}`"
        )
        if pattern.origin is None and (hook := _NAMED_BY_HOOKS.fullmatch(pattern.text)):
            return _Unknown(
                severity=Severity.WARNING,
                message=message,
                help=f"tools of a server are written `mcp {hook[1]}/{hook[2]}`",
            )
        kind, server = _server_named_by(pattern)
        known = self.catalog.plugins if kind == "ext" else self.catalog.servers
        if server is not None and server not in known:
            accept = f": `placet pin accept --server {server}` adds its tools"
            return _Unknown(
                severity=Severity.WARNING,
                message=message,
                help="the catalogue has no tool of this server; the rule applies once it has"
                + (accept if kind == "mcp" else ""),
            )
        if pattern.origin is None and pattern.text.lower() in _EVERYTHING:
            return _Unknown(
                severity=Severity.ERROR,
                message=message,
                help="write `*` for every tool",
                near=True,
            )
        here = None if pattern.origin else NAMES_ELSEWHERE.get(pattern.text)
        if here is not None and self.catalog.get(here) is not None:
            # A call under a name that is repaired never matches a rule about that name.
            certain = self.catalog.complete or repair_name(pattern.text, self.catalog) is not None
            return _Unknown(
                severity=Severity.ERROR if certain else Severity.WARNING,
                message=message,
                help=f"here that is `{here}`; if the host application has a tool of this "
                "exact name, add it to the catalogue",
                elsewhere=True,
            )
        near = nearest(pattern.text, self._spellings(pattern, reviewed=True))
        severity = Severity.ERROR if self.catalog.complete or near else Severity.WARNING
        if not near:
            # What a server declares that nobody has reviewed makes no valid rule an error.
            near = nearest(pattern.text, self._spellings(pattern, reviewed=False))
        if near:
            prefix = f"{pattern.origin} " if pattern.origin else ""
            return _Unknown(
                severity=severity,
                message=message,
                help=f"did you mean `{prefix}{near}`?",
                near=True,
            )
        return _Unknown(
            severity=severity,
            message=message,
            help=f"correct the name, or accept the server's tools as they are now: "
            f"`placet pin accept --server {server}`"
            if kind == "mcp" and server is not None
            else "correct the name, or list the tool with `--catalog` or `[catalogue]`; "
            "`placet catalog export` writes such a list",
        )

    def _spellings(self, pattern: ToolPattern, *, reviewed: bool) -> Iterable[str]:
        """Return the names of tools that people know, or of those that only a server declares."""
        known = (
            spec
            for spec in self.catalog.specs
            if (spec.pinned or spec.origin.kind != "mcp") is reviewed
        )
        if pattern.origin is None:
            return [spec.name for spec in known]
        return [
            f"{spec.origin.server}/{spec.origin.tool}"
            for spec in known
            if spec.origin.kind == pattern.origin
        ]

    def _report_cycle(self, chain: tuple[Definition, ...], found: Definition) -> None:
        names = [d.node.name for d in (*chain[chain.index(found) :], found)]
        self.report.add(
            "name-cycle",
            f"a set that holds itself: {' → '.join(f'`{name}`' for name in names)}",
            span=found.span,
            help="remove one of the names from its set",
        )


def _only_name(tools: tree.Tools) -> str | None:
    """Return the only pattern of a rule's tools if it is for flat names."""
    if len(tools.included) != 1 or tools.excluded or tools.included[0].origin is not None:
        return None
    return tools.included[0].pattern


def _tool_sets(scope: Scope) -> list[str]:
    names = []
    for name in scope.visible():
        found = scope.find(name)
        if found is not None and isinstance(found.node, tree.ToolSet):
            names.append(name)
    return names


def _of(parts: tuple[ToolPattern | ToolSelector, ...], *, grants: bool) -> ToolSelector:
    return ToolSelector(included=parts, grants=grants)


def _server_named_by(pattern: ToolPattern) -> tuple[str, str | None]:
    """Return the kind and name of the server or extension that a pattern names, None if none."""
    if pattern.origin is not None:
        return pattern.origin, pattern.text.partition("/")[0]
    head, separator, rest = pattern.text.partition("__")
    if head == "ext" and separator:
        return "ext", rest.partition("__")[0]
    return "mcp", head if separator else None
