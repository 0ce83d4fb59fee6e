"""What changed statements may let tools do that a policy does not know, which no call can show.

Never known are tools of servers that are down, or that a program adds later; no longer known are
those that an edit takes from the catalogue.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from policy.catalog import (
    ToolSpec,
    TooManyPatterns,
    builtin_catalog,
)
from policy.checks import LayerKey, checked
from policy.evaluation import permits_writes_of_inline_code
from policy.model import Verdict
from policy.program import Program
from policy.values import has_wildcard
from policy.verify.difference.changes import Change
from policy.verify.difference.definition_changes import spec_of
from policy.verify.difference.statements import ChangedLayer, Statement, decides_verdicts, matches
from policy.verify.difference.unknown_classes import concern_unknown_tools, unknown_classes
from policy.verify.proof.proof import STEPS

_MOST_NAMED = 5
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
    return any(_removed_tools(old, new)) or concern_unknown_tools(
        _loosening(_changed(layers)), old, new
    )


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
        for alike in unknown_classes(_loosening(changed), old, new):
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


def _loosening(changed: Iterable[_Changed]) -> tuple[Statement, ...]:
    return tuple(one.statement for one in changed if not one.only_restricts)


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
