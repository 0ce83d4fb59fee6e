"""Whether an edit certainly only tightens, as its statements alone show: no call is decided."""

from __future__ import annotations

from policy.checks import checked
from policy.model import Verdict
from policy.program import Program
from policy.verify.difference.statements import Statement, changed_layers


def only_tightens(old: Program, new: Program) -> bool:
    """Return whether no call gets a looser verdict, as only rules and limits that restrict differ.

    False where that is not obvious. It is about rules: settings and data must be the same.
    """
    if not _have_the_same_tools(old, new):
        return False
    if [layer.key for layer in old.policy.layers] != [layer.key for layer in new.policy.layers]:
        return False
    layers = changed_layers(old, new)
    removed = (one for layer in layers for one in layer.removed)
    added = (one for layer in layers for one in layer.added)
    return all(map(_affects_no_call, removed)) and all(map(_only_restricts, added))


def _have_the_same_tools(old: Program, new: Program) -> bool:
    before, after = old.catalog, new.catalog
    return (
        before.complete == after.complete
        and before.specs == after.specs
        and all(a.coerce is b.coerce for a, b in zip(before.specs, after.specs, strict=True))
    )


def _affects_no_call(statement: Statement) -> bool:
    return isinstance(statement, checked.CheckedInvariant)


def _only_restricts(statement: Statement) -> bool:
    """Return whether more of such a statement never loosens a verdict: an `ask` never grants."""
    match statement:
        case checked.CheckedRule():
            return statement.verdict is not Verdict.ALLOW
        case checked.CheckedLimit() | checked.CheckedInvariant():
            return True
        case _:
            return False
