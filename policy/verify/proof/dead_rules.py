"""Finds rules that never matter: no call of any known tool gets another verdict without them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from policy.checks import LayerKey, checked
from policy.program import Program
from policy.verify.proof.proof import Progress

if TYPE_CHECKING:
    from policy.symbolic import Basis


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadRule:
    """A rule that never matters. `because_of` are what decides its calls in any case.

    Without any, no call of a known tool matches the rule.
    """

    rule: checked.CheckedRule
    layer: LayerKey
    because_of: tuple[Basis, ...]


def dead_rules(
    program: Program, *, steps: int, progress: Progress | None = None
) -> Iterator[DeadRule]:
    """Yield the rules of which it is certain that they never matter, in the order of their layers.

    A rule matters if a call may get a looser verdict without it; an `allow` also if a call may get
    a stricter one. Rules of packs are left out: they are written for many policies.
    """
    rules = [
        (index, layer.key, rule)
        for index, layer in enumerate(program.policy.layers)
        for rule in layer.rules
        if not (rule.shadow or rule.of_pack or rule.broken)
    ]
    for number, (index, key, rule) in enumerate(rules):
        if progress is not None:
            progress(number, len(rules))
        found = _dead(program, rule, index, steps=steps)
        if found is not None:
            yield DeadRule(rule=rule, layer=key, because_of=found)


def _dead(
    program: Program, rule: checked.CheckedRule, index: int, *, steps: int
) -> tuple[Basis, ...] | None:
    """Return why a rule never matters, for all tools together; None if it may matter."""
    # With it comes the solver, which nothing else that loads a policy needs.
    from policy.verify.proof.without_rule import what_decides_instead

    because: dict[Basis, None] = {}
    specs = [spec for spec in program.catalog.specs if rule.tools.matches(spec)]
    for spec in specs:
        found = what_decides_instead(program, rule, index, spec, steps=steps)
        if found is None:
            return None
        because.update(dict.fromkeys(found))
    return tuple(because) if specs else None
