"""What changed statements may let tools do that a policy does not know, which no call can show.

Never known are tools of servers that are down, or that a program adds later; no longer known are
those that an edit takes from the catalogue. Patterns tell such tools apart by their names: of each
class of names, one tool stands for all, of which nothing else is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from policy.catalog import (
    VERSION_MARK,
    ToolPattern,
    ToolSelector,
    ToolSpec,
    TooManyPatterns,
    builtin_catalog,
    patterns_in,
    tools_of_classes,
)
from policy.checks import LayerKey, checked
from policy.evaluation import permits_writes_of_inline_code
from policy.model import Verdict
from policy.program import Program
from policy.values import has_wildcard
from policy.verify.difference.changes import Change
from policy.verify.difference.definition_changes import spec_of
from policy.verify.difference.statements import ChangedLayer, Statement, decides_verdicts, matches
from policy.verify.proof.proof import STEPS

_MOST_NAMED = 5
# Classes with different rules that are compared: each takes milliseconds.
_MOST_CLASSES = 300
_HELP = "tools are listed in `[catalogue]`, or with `--catalog`"
# Statements that are looser when they are removed, whatever tools they are about.
_SEEN = (checked.CheckedRewrite, checked.CheckedRedaction)
_COMES_BACK = (
    "removed: the tool `{}`, which may come back without the resources, or the confirmation, "
    "that were declared"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Changed:
    """A statement of a layer that was added or removed."""

    layer: LayerKey
    verb: str
    statement: Statement

    @property
    def only_restricts(self) -> bool:
        """Whether no call may do more because of it."""
        one = self.statement
        if not isinstance(one, checked.CheckedRule):
            return isinstance(one, checked.CheckedRedaction) and self.verb == "added"
        if self.verb == "added":
            return one.verdict is not Verdict.ALLOW
        # The floor depends on whether inline code is allowed.
        is_plain = one.verdict is Verdict.ALLOW and not one.with_approval
        return is_plain and not permits_writes_of_inline_code(one.when, one.unless)

    @property
    def loosens_by_itself(self) -> bool:
        """Whether it is the likely reason where calls may do more."""
        one = self.statement
        match one:
            case checked.CheckedRule():
                return (one.verdict is Verdict.ALLOW) is (self.verb == "added") or (
                    one.with_approval and self.verb == "removed"
                )
            case checked.CheckedDefault():
                return (one.verdict is Verdict.DENY) is (self.verb == "removed")
            case _:
                return True


def concerns_unknown_tools(layers: Iterable[ChangedLayer], old: Program, new: Program) -> bool:
    """Return whether it has to be asked what a tool may do that a policy does not know."""
    return any(_removed_tools(old, new)) or _Asked.about(_changed(layers), old, new) is not None


def unknown_tool_changes(
    layers: Iterable[ChangedLayer], old: Program, new: Program, *, steps: int = STEPS
) -> Iterator[Change]:
    """Yield each changed statement under which unknown tools may do more, and tools that may.

    `steps` bounds the conflicts of the solver for each question.
    """
    changed = _changed(layers)
    named: dict[int, dict[str, None]] = {}
    for spec in _removed_tools(old, new):
        about = [one for one in changed if matches(one.statement, spec)]
        blamed = _blamed_for(spec, about, old, new, known=spec, steps=steps)
        for one in blamed:
            named.setdefault(changed.index(one), {})[spec.name] = None
        if not blamed and _may_come_back(spec, old, new, steps=steps):
            yield Change(kind="tool", direction="unclear", what=_COMES_BACK.format(spec.name))
    gone = frozenset(name for names in named.values() for name in names)
    try:
        for alike in _classes(changed, old, new):
            about = [one for one in changed if matches(one.statement, alike[0].spec)]
            for one in _blamed_for(alike[0].spec, about, old, new, known=None, steps=steps):
                names = named.setdefault(changed.index(one), {})
                names.update((each.named_in(one.statement), None) for each in alike)
    except TooManyPatterns:
        for number, one in enumerate(changed):
            if one.loosens_by_itself and not one.only_restricts:
                named.setdefault(number, {})["*"] = None
    for number, names in sorted(named.items()):
        one = changed[number]
        yield Change(
            kind="statement",
            direction="unclear",
            what=f"{one.verb} for {_named(tuple(names), gone)}: {_text(one.statement)}",
            layer=one.layer.title,
            place=f"{one.statement.span.file}:{one.statement.span.line}",
        )


def _changed(layers: Iterable[ChangedLayer]) -> list[_Changed]:
    return [
        _Changed(layer=layer.key, verb=verb, statement=one)
        for layer in layers
        for verb, statements in (("removed", layer.removed), ("added", layer.added))
        for one in statements
        if decides_verdicts(one) and not (verb == "removed" and isinstance(one, _SEEN))
    ]


def _blamed_for(
    spec: ToolSpec,
    about: list[_Changed],
    old: Program,
    new: Program,
    *,
    known: ToolSpec | None,
    steps: int,
) -> list[_Changed]:
    """Return those of the changed statements about a tool by which it may do more."""
    if all(one.only_restricts for one in about):
        return []
    # With it comes the solver, which a policy that is not compared does without.
    from policy.verify.difference.foreign_tools import ForeignTool

    layers = tuple(dict.fromkeys(one.layer for one in about))
    both = None if known is None else (known, replace(known, requires_confirmation=False))
    try:
        loosened = set(ForeignTool(old, new, spec, known=both, steps=steps).loosened(layers))
    except Exception:  # noqa: BLE001 — a mistake of ours leaves one tool open, no more
        loosened = set(layers)
    blamed: list[_Changed] = []
    for layer in loosened:
        possible = [one for one in about if one.layer == layer and not one.only_restricts]
        blamed += [one for one in possible if one.loosens_by_itself] or possible
    return blamed


# ------------------------------------------------------------------ no longer known


def _removed_tools(old: Program, new: Program) -> Iterator[ToolSpec]:
    """Yield the tools that the old policy knows alone."""
    yield from (spec for spec in old.catalog.specs if spec_of(new, spec.name) is None)


def _may_come_back(spec: ToolSpec, old: Program, new: Program, *, steps: int) -> bool:
    """Return whether a tool had more declared than its source may declare, and may be called."""
    if spec == builtin_catalog().get(spec.name):
        return False
    if not (spec.resources or spec.complete or spec.requires_confirmation):
        return False
    from policy.verify.difference.foreign_tools import ForeignTool

    try:
        return not ForeignTool(old, new, spec, steps=steps).is_always_denied()
    except Exception:  # noqa: BLE001 — a mistake of ours leaves one tool open, no more
        return True


# ------------------------------------------------------------------ never known


@dataclass(frozen=True, slots=True, kw_only=True)
class _Class:
    """A tool that stands for all of its class; `name` is the only one, as patterns write it."""

    spec: ToolSpec
    name: str | None

    def named_in(self, statement: Statement) -> str:
        """Return the class as a statement names it."""
        if self.name is not None or statement.tools is None:
            return self.name or "*"
        included = _included(statement.tools)
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
    def about(changed: list[_Changed], old: Program, new: Program) -> _Asked | None:
        """Return what is asked about changed statements, None for nothing."""
        loosening = tuple(one.statement for one in changed if not one.only_restricts)
        if old.catalog.complete and new.catalog.complete:
            return None
        names = _KnownNames.of(old, new, loosening)
        within = [
            part
            for one in loosening
            if one.tools is not None
            for part in _included(one.tools)
            if not names.has(part.exact_name)
        ]
        if any(one.tools is None for one in loosening):
            return _Asked(loosening=loosening, names=names, within=None)
        return _Asked(loosening=loosening, names=names, within=tuple(within)) if within else None


def _classes(changed: list[_Changed], old: Program, new: Program) -> Iterator[tuple[_Class, ...]]:
    """Yield the classes of unknown tools about which something changed that may loosen.

    Those that the same statements are about are together. Raises TooManyPatterns.
    """
    asked = _Asked.about(changed, old, new)
    if asked is None:
        return
    selectors = _Selectors(old, new)
    unknown = [one for one in selectors.patterns() if not asked.names.has(one.exact_name)]
    exact: dict[str, list[ToolPattern]] = {}
    for pattern in unknown:
        if pattern.exact_name is not None:
            exact.setdefault(pattern.exact_name, []).append(pattern)
    found: dict[tuple[int, ...], dict[str, _Class]] = {}
    for spec in tools_of_classes(unknown, within=asked.within):
        if asked.names.covers(spec) or not any(matches(one, spec) for one in asked.loosening):
            continue
        spelling = (pattern for name in spec.names for pattern in exact.get(name, ()))
        name = next((_spelled(one) for one in spelling if _reaches(one, spec)), None)
        alike = found.setdefault(selectors.matching(spec), {})
        alike.setdefault(name or f"{spec.origin.kind} {spec.name}", _Class(spec=spec, name=name))
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


def _included(tools: ToolSelector) -> Iterator[ToolPattern]:
    """Yield the patterns of a selector and of the named sets in it, without exceptions."""
    for part in tools.included:
        if isinstance(part, ToolSelector):
            yield from _included(part)
        else:
            yield part


def _reaches(pattern: ToolPattern, spec: ToolSpec) -> bool:
    return pattern.matcher(grants=False)(spec)


def _spelled(pattern: ToolPattern) -> str:
    return pattern.text if pattern.origin is None else f"{pattern.origin} {pattern.text}"


# ------------------------------------------------------------------ in words


def _text(one: Statement) -> str:
    match one:
        case checked.CheckedDelegation():
            return f"a delegation to {one.to.title}"
        case checked.CheckedDeclaration():
            return "what is declared of tools"
        case _:
            return one.text


def _named(names: tuple[str, ...], gone: frozenset[str]) -> str:
    """Return tools in words; `gone` are those that were in the catalogue."""
    shown = ", ".join(f"`{name}`" for name in names[:_MOST_NAMED])
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    if any(has_wildcard(name) for name in names):
        return f"{shown}{more}, as far as tools are not in the catalogue ({_HELP})"
    are = "is" if len(names) == 1 else "are"
    still = "no longer" if gone.issuperset(names) else "not"
    return f"{shown}{more}, which {are} {still} in the catalogue ({_HELP})"
