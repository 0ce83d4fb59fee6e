"""Changed statements that may let tools do more which neither policy knows: nothing compares those.

A tool is known if it is in the catalogue. What a wildcard matches is compared for the tools that
are known, if there are any: a rule that reads fields which none of them has is an error.
"""

from __future__ import annotations

from collections.abc import Iterator

from policy.catalog import Catalog, ToolPattern, ToolSelector
from policy.checks import checked
from policy.model import Verdict
from policy.program import Program, meaning_digest
from policy.verify.difference.changes import Change
from policy.verify.difference.statements import ChangedLayer, Statement

_MOST_NAMED = 5
_HELP = "tools are listed in `[catalogue]`, or with `--catalog`"


def unknown_tool_changes(layer: ChangedLayer, old: Program, new: Program) -> Iterator[Change]:
    """Yield each changed statement of a layer under which unknown tools may do more."""
    catalogs = (old.catalog, new.catalog)
    if all(catalog.complete for catalog in catalogs):
        return
    sides = ((layer.removed, "removed"), (layer.added, "added"))
    for statements, verb in sides:
        others = layer.added if verb == "removed" else layer.removed
        for one in statements:
            names = tuple(dict.fromkeys(_loosened(one, verb, others, catalogs)))
            if names:
                yield Change(
                    kind="statement",
                    direction="unclear",
                    what=f"{verb} for {_named(names)}: {_text(one)}",
                    layer=layer.key.title,
                    place=f"{one.span.file}:{one.span.line}",
                )


def _loosened(
    one: Statement, verb: str, others: tuple[Statement, ...], catalogs: tuple[Catalog, ...]
) -> Iterator[str]:
    """Yield the patterns of tools that a statement lets do more, and that match no known tool."""
    if isinstance(one, checked.CheckedDeclaration):
        yield from _unknown(one.tools, catalogs, excluded=False)
    elif one.tools is not None and (_grants(one) or _restricts(one)):
        is_looser = _grants(one) is (verb == "added")
        if is_looser and not any(_is_as_strict(one, other, verb) for other in others):
            yield from _unknown(one.tools, catalogs, excluded=False)
        # In place of another one, an exception of a restriction loosens.
        elif not is_looser and any(_is_alike(one, other) for other in others):
            yield from _unknown(one.tools, catalogs, excluded=True)


def _is_as_strict(one: Statement, other: Statement, verb: str) -> bool:
    """Return whether only how strict a rule is differs in another one, and that is stricter."""
    if not (isinstance(one, checked.CheckedRule) and isinstance(other, checked.CheckedRule)):
        return False
    old, new = (one, other) if verb == "removed" else (other, one)
    return _strictness(old) < _strictness(new) and all(
        meaning_digest(getattr(old, part)) == meaning_digest(getattr(new, part))
        for part in ("tools", "when", "unless")
    )


def _strictness(rule: checked.CheckedRule) -> Verdict:
    return Verdict.ASK if rule.with_approval else rule.verdict


def _is_alike(one: Statement, other: Statement) -> bool:
    return _grants(other) if _grants(one) else _restricts(other)


def _grants(one: Statement) -> bool:
    match one:
        case checked.CheckedRule():
            return one.verdict is Verdict.ALLOW or one.with_approval
        case checked.CheckedDefault():
            return one.verdict is not Verdict.DENY
        case checked.CheckedDelegation():
            return True
        case _:
            return False


def _restricts(one: Statement) -> bool:
    return isinstance(one, checked.CheckedRule | checked.CheckedDefault) and not _grants(one)


def _unknown(
    tools: ToolSelector, catalogs: tuple[Catalog, ...], *, excluded: bool
) -> Iterator[str]:
    for pattern in _patterns(tools, excluded=excluded):
        test = pattern.matcher(grants=False)
        if not any(test(spec) for catalog in catalogs for spec in catalog.specs):
            yield pattern.text if pattern.origin is None else f"{pattern.origin} {pattern.text}"


def _patterns(tools: ToolSelector, *, excluded: bool) -> Iterator[ToolPattern]:
    """Yield the patterns that a selector includes, or those that it excludes."""
    for parts, leaves_out in ((tools.included, False), (tools.excluded, True)):
        for part in parts:
            if isinstance(part, ToolSelector):
                yield from _patterns(part, excluded=excluded is not leaves_out)
            elif leaves_out is excluded:
                yield part


def _text(one: Statement) -> str:
    match one:
        case checked.CheckedDelegation():
            return f"a delegation to {one.to.title}"
        case checked.CheckedDeclaration():
            return "what is declared of tools"
        case _:
            return one.text


def _named(names: tuple[str, ...]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:_MOST_NAMED])
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    are = "is" if len(names) == 1 else "are"
    return f"{shown}{more}, which {are} not in the catalogue ({_HELP})"
