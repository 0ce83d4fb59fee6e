"""Scopes: which names each layer and each use of a pack defines.

An agent's or a role's layer sees its own names and those of the global layer, never the other way
round. A pack sees its own names and parameters only; its user sees them as `ALIAS.name`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from policy.checks.conditions.value_types import FACT_ROOTS
from policy.checks.report import Report
from policy.diagnostics import Label
from policy.model import Span
from policy.syntax import tree

# The deepest chain of names that stand for names.
MAX_DEPTH = 40
# The most items and tool patterns of a set with all names expanded; a pattern costs more.
MAX_ITEMS = 200_000
MAX_PATTERNS = 5_000

# How deeply a set is nested, and how many items it has with all names expanded.
Extent: TypeAlias = tuple[int, int]

Named: TypeAlias = (
    tree.ToolSet | tree.NamedSet | tree.SetFromFile | tree.DataTable | tree.Let | tree.Param
)

# Keywords for kinds of hosts, which cannot be redefined.
HOST_WORDS = frozenset(
    {
        "private",
        "loopback",
        "link_local",
        "metadata",
        "unspecified",
        "shared",
        "multicast",
        "reserved",
        "redirected",
    }
)

# The keyword for what code that a command spells out accesses and runs.
INLINE_CODE = "inline_code"


@dataclass(frozen=True, slots=True, eq=False)
class Definition:
    """The definition of a name, and the scope in which its own names are resolved."""

    node: Named
    scope: Scope

    @property
    def span(self) -> Span:
        """Where the name is defined."""
        return self.node.span


@dataclass(frozen=True, slots=True, eq=False)
class LabelSource:
    """One `label` statement, and the scope in which its tools are resolved."""

    node: tree.LabelResults
    scope: Scope


@dataclass(frozen=True, slots=True, eq=False)
class BoundParameter:
    """The value of a parameter, resolved in the scope of the pack's user; or its default."""

    value: tree.Expr
    scope: Scope
    is_default: bool = False


@dataclass(slots=True, eq=False)
class Scope:
    """The names that a layer or a used pack defines; `above` is the global layer's scope.

    `broken` are the names that statements with errors would probably define. `of_pack` is whether
    it is that of a pack or of its tests, whose tools may not exist; `used_at` where the pack is
    used.
    """

    title: str
    above: Scope | None = None
    of_pack: bool = False
    used_at: Span | None = None
    names: dict[str, Definition] = field(default_factory=dict)
    packs: dict[str, Scope] = field(default_factory=dict)
    uses: dict[str, Span] = field(default_factory=dict)
    bound: dict[str, BoundParameter] = field(default_factory=dict)
    # A label may have several statements, which add to each other.
    labels: dict[str, list[LabelSource]] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)

    def find(self, name: str) -> Definition | None:
        """Return the definition of `name` or `ALIAS.name` here."""
        head, dot, rest = name.partition(".")
        if dot:
            pack = self.find_pack(head)
            return pack.find(rest) if pack is not None else None
        found = self.names.get(name)
        if found is None and self.above is not None:
            return self.above.find(name)
        return found

    def find_label(self, name: str) -> list[LabelSource]:
        """Return the statements of the label `name` or `ALIAS.name`; none if there is no such."""
        head, dot, rest = name.partition(".")
        if dot:
            pack = self.find_pack(head)
            return pack.find_label(rest) if pack is not None else []
        found = self.labels.get(name)
        if found is None and self.above is not None:
            return self.above.find_label(name)
        return found or []

    def find_pack(self, alias: str) -> Scope | None:
        """Return the scope of the pack that is used here under this alias."""
        found = self.packs.get(alias)
        if found is None and self.above is not None:
            return self.above.find_pack(alias)
        return found

    def is_broken(self, name: str) -> bool:
        """Return whether a statement with an error probably defines `name` or its pack."""
        head, _, rest = name.partition(".")
        if head in self.broken or name in self.broken:
            return True
        pack = self.packs.get(head)
        if pack is not None and rest and pack.is_broken(rest):
            return True
        return self.above is not None and self.above.is_broken(name)

    def visible(self) -> Iterator[str]:
        """Yield every visible name, those of packs with their alias."""
        yield from self.names
        for alias, pack in self.packs.items():
            yield from (f"{alias}.{name}" for name in pack.names)
        if self.above is not None:
            yield from self.above.visible()


def define(scope: Scope, node: Named, report: Report) -> None:
    """Define the name of `node` in `scope`, unless the name is taken."""
    name = node.name
    is_parameter = name == "workspace" and isinstance(node, tree.Param)
    if is_parameter or not _is_reserved(name, node.span, report):
        taken = _taken(scope, name)
        if taken is None:
            scope.names[name] = Definition(node, scope)
        else:
            _report_taken(name, node.span, taken, report)


def define_label(scope: Scope, node: tree.LabelResults, report: Report) -> None:
    """Add a `label` statement to its label, unless the name has another meaning."""
    name = node.label
    if _is_reserved(name, node.span, report):
        return
    own = scope.labels.get(name)
    taken = None if own is not None else _taken(scope, name)
    if taken is None:
        scope.labels.setdefault(name, []).append(LabelSource(node, scope))
    else:
        _report_taken(name, node.span, taken, report)


def _is_reserved(name: str, span: Span, report: Report) -> bool:
    """Return whether a name has a meaning in the language; report it."""
    if name in FACT_ROOTS:
        report.add(
            "fact-redefined",
            f"`{name}` is a fact and cannot be redefined",
            span=span,
            help="choose another name",
        )
        return True
    if name in HOST_WORDS or name == INLINE_CODE:
        what = "inline code" if name == INLINE_CODE else "hosts"
        report.add(
            "reserved-name",
            f"`{name}` is a keyword for {what} and cannot be redefined",
            span=span,
            help="choose another name",
        )
        return True
    return False


def _report_taken(name: str, span: Span, taken: Span, report: Report) -> None:
    report.add(
        "name-redefined",
        f"`{name}` is already defined",
        span=span,
        label="defined again here",
        labels=(Label(span=taken, text="first defined here"),),
        help="a name has one meaning wherever it is visible; choose another",
    )


def extent_over(parts: Iterable[Extent]) -> Extent:
    """Return the extent of a set with parts of these extents; an empty set counts too."""
    depth = size = 0
    for inner, items in parts:
        depth, size = max(depth, inner), size + items
    return depth + 1, size + 1


def is_too_large(extent: Extent, *, most: int) -> bool:
    """Return whether a set exceeds the limits."""
    return extent[0] > MAX_DEPTH or extent[1] > most


def report_too_deep(found: Definition, report: Report) -> None:
    """Report a name whose definition exceeds the limits with all names expanded."""
    report.add(
        "too-deep",
        f"`{found.node.name}` refers to too many other names",
        span=found.span,
        help=f"at most {MAX_DEPTH} deep, and {MAX_ITEMS:,} items or {MAX_PATTERNS:,} tools in all",
    )


def _taken(scope: Scope, name: str) -> Span | None:
    """Return where a name visible in `scope` is already defined, a pack's alias included."""
    found = scope.find(name)
    if found is not None:
        return found.span
    labels = scope.find_label(name)
    if labels:
        return labels[0].node.span
    holder: Scope | None = scope
    while holder is not None:
        if name in holder.uses:
            return holder.uses[name]
        holder = holder.above
    return None
