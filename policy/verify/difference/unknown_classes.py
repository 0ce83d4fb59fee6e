"""The tools that no policy knows, in the classes that the patterns of two policies tell apart.

One tool stands for all of its class: nothing but names tells such tools apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from policy.catalog import (
    VERSION_MARK,
    ToolPattern,
    ToolSpec,
    TooManyPatterns,
    patterns_in,
    patterns_of,
    tools_of_classes,
)
from policy.checks import checked
from policy.program import Program
from policy.verify.difference.statements import Statement, matches

# Classes with different rules that are compared: each takes milliseconds.
_MOST_CLASSES = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownClass:
    """A tool that stands for all of its class; `name` is the only one, as patterns write it."""

    spec: ToolSpec
    name: str | None

    def named_in(self, statement: Statement) -> str:
        """Return the class as a statement names it."""
        if self.name is not None or statement.tools is None:
            return self.name or "*"
        included = patterns_of(statement.tools)
        return next((_spelled(one) for one in included if _reaches(one, self.spec)), "*")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """Which unknown tools it has to be asked about: those that something may loosen.

    `within` are the patterns of such statements, None if one is about all tools.
    """

    loosening: tuple[Statement, ...]
    names: _KnownNames
    within: tuple[ToolPattern, ...] | None

    @staticmethod
    def about(loosening: tuple[Statement, ...], old: Program, new: Program) -> _Asked | None:
        """Return what is asked about statements that may loosen something, None for nothing."""
        if old.catalog.complete and new.catalog.complete:
            return None
        names = _KnownNames.of(old, new, loosening)
        within = [
            part
            for one in loosening
            if one.tools is not None
            for part in patterns_of(one.tools)
            if not names.has(part.exact_name)
        ]
        if any(one.tools is None for one in loosening):
            return _Asked(loosening=loosening, names=names, within=None)
        return _Asked(loosening=loosening, names=names, within=tuple(within)) if within else None


def concern_unknown_tools(loosening: tuple[Statement, ...], old: Program, new: Program) -> bool:
    """Return whether changed statements may let a tool do more that neither policy knows."""
    return _Asked.about(loosening, old, new) is not None


def unknown_classes(
    loosening: tuple[Statement, ...], old: Program, new: Program
) -> Iterator[tuple[UnknownClass, ...]]:
    """Yield the classes of unknown tools that statements are about which may loosen something.

    Those that the same statements are about are together. Raises TooManyPatterns.
    """
    asked = _Asked.about(loosening, old, new)
    if asked is None:
        return
    selectors = _Selectors(old, new)
    unknown = [one for one in selectors.patterns() if not asked.names.has(one.exact_name)]
    exact: dict[str, list[ToolPattern]] = {}
    for pattern in unknown:
        if pattern.exact_name is not None:
            exact.setdefault(pattern.exact_name, []).append(pattern)
    found: dict[tuple[int, ...], dict[str, UnknownClass]] = {}
    for spec in tools_of_classes(unknown, within=asked.within):
        if asked.names.covers(spec) or not any(matches(one, spec) for one in asked.loosening):
            continue
        spelling = (pattern for name in spec.names for pattern in exact.get(name, ()))
        name = next((_spelled(one) for one in spelling if _reaches(one, spec)), None)
        alike = found.setdefault(selectors.matching(spec), {})
        alike.setdefault(
            name or f"{spec.origin.kind} {spec.name}", UnknownClass(spec=spec, name=name)
        )
        if len(found) > _MOST_CLASSES:
            raise TooManyPatterns
    yield from (tuple(alike.values()) for alike in found.values())


class _Selectors:
    """All selectors of two policies on which a verdict depends."""

    def __init__(self, old: Program, new: Program) -> None:
        found = {
            statement.tools: None
            for program in (old, new)
            for layer in program.policy.layers
            for statement in _statements(layer)
            if statement.tools is not None
        }
        self._all = tuple(found)
        self._exact: dict[str, list[int]] = {}
        self._wild: list[int] = []
        for number, selector in enumerate(self._all):
            names = selector.exact_names()
            if names is None:
                self._wild.append(number)
            for name in names or ():
                self._exact.setdefault(name, []).append(number)

    def patterns(self) -> Iterator[ToolPattern]:
        """Yield each pattern once."""
        found = (pattern for selector in self._all for pattern in patterns_in(selector))
        yield from dict.fromkeys(found)

    def matching(self, spec: ToolSpec) -> tuple[int, ...]:
        """Return the numbers of the selectors that match a tool."""
        exact = {number for name in spec.names for number in self._exact.get(name, ())}
        return tuple(
            number for number in sorted((*self._wild, *exact)) if self._all[number].matches(spec)
        )


def _statements(layer: checked.CheckedPolicy) -> Iterator[Statement]:
    yield from layer.rules
    yield from layer.rewrites
    yield from layer.redactions
    yield from layer.defaults
    yield from layer.delegations
    yield from layer.declarations


@dataclass(frozen=True, slots=True, kw_only=True)
class _KnownNames:
    """The names that tools of either policy have; `versioned` are those that versions share.

    `asks_versions` is whether what changed names a version.
    """

    names: frozenset[str]
    versioned: frozenset[str]
    asks_versions: bool

    @staticmethod
    def of(old: Program, new: Program, changed: Iterable[Statement]) -> _KnownNames:
        """Return the names that two policies know."""
        specs = (*old.catalog.specs, *new.catalog.specs)
        return _KnownNames(
            names=frozenset(spec.name for spec in specs),
            versioned=frozenset(spec.base for spec in specs if spec.version is not None),
            asks_versions=any(
                VERSION_MARK in pattern.text
                for one in changed
                if one.tools is not None
                for pattern in patterns_in(one.tools)
            ),
        )

    def has(self, name: str | None) -> bool:
        """Return whether a tool answers to a name."""
        return name is not None and (name in self.names or name in self.versioned)

    def covers(self, spec: ToolSpec) -> bool:
        """Return whether a tool is known, or another version of one that is."""
        if spec.name in self.names or spec.base in self.names:
            return True
        return spec.base in self.versioned and not (self.asks_versions and spec.version)


def _reaches(pattern: ToolPattern, spec: ToolSpec) -> bool:
    return pattern.matcher(grants=False)(spec)


def _spelled(pattern: ToolPattern) -> str:
    return pattern.text if pattern.origin is None else f"{pattern.origin} {pattern.text}"
