"""Lint: an `allow` whose wildcard matches no tool, because it grants only the host's own."""

from __future__ import annotations

from policy.checks.lints.context import LintContext
from policy.model import Verdict


def find(context: LintContext) -> None:
    """Report every `allow` that matches no tool but would match some if it were a `deny`."""
    check = context.check
    for rule in check.fresh:
        if rule.verdict is not Verdict.ALLOW or check.tools.matching(rule.tools):
            continue
        wide = rule.tools.matcher(grants=False)
        missed = next((spec for spec in check.catalog.specs if wide(spec)), None)
        if missed is not None:
            check.report.add(
                "narrow-wildcard",
                f"this `allow` matches no tool, not even `{missed.name}`",
                span=rule.span,
                help="in a rule that grants, a wildcard matches only tools without a server, "
                f"and those of a server that it names: `{missed.origin.kind} "
                f"{missed.origin.server}/…`",
            )
