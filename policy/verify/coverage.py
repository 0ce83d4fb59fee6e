"""Test coverage of a policy: the rules that matched in no test case."""

from __future__ import annotations

from collections.abc import Container, Iterable

from policy.catalog import ToolSelector
from policy.program import Program
from policy.verify.examples import ExampleResult


def unreached_rules(
    program: Program, results: Iterable[ExampleResult], *, without: Container[str] = ()
) -> tuple[tuple[str, str], ...]:
    """Return the rules, rewrites, redactions and limits, with their positions, of no case.

    A limit is covered if it had no room in some case.

    Rules of the sources `without` are left out: their authors test them elsewhere.
    A rewrite that took effect is not a reason of a decision; it counts as covered if some case
    ended in a rewritten call.
    """
    reached: set[str] = set()
    rewritten_tools: set[str] = set()
    for result in results:
        if result.decision is None:
            continue
        decision = result.decision
        matched = (*decision.reasons, *decision.shadowed, *decision.redactions)
        reached |= {reason.rule for reason in matched}
        if decision.rewritten:
            rewritten_tools.add(decision.call.tool)
    unreached: list[tuple[str, str]] = []
    for layer in program.policy.layers:
        unreached += [
            (r.id, str(r.span))
            for r in layer.rules
            if r.id not in reached and r.span.file not in without
        ]
        unreached += [
            (r.id, str(r.span))
            for r in layer.redactions
            if r.id not in reached and r.span.file not in without
        ]
        unreached += [
            (r.id, str(r.span))
            for r in layer.limits
            if r.id not in reached and r.span.file not in without
        ]
        unreached += [
            (r.id, str(r.span))
            for r in layer.rewrites
            if r.id not in reached
            and r.span.file not in without
            and not _may_have_run(program, r.tools, rewritten_tools)
        ]
    return tuple(unreached)


def _may_have_run(program: Program, tools: ToolSelector, names: set[str]) -> bool:
    return any(spec is not None and tools.matches(spec) for spec in map(program.catalog.get, names))
