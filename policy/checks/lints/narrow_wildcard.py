"""Lint: an `allow` whose wildcard matches no tool, because it grants only the host's own."""

from __future__ import annotations

from policy.checks.lints.context import LintContext
from policy.model import Verdict


def find(scene: LintContext) -> None:
    """Say so of every `allow` that would fit some tool if it were a `deny`."""
    world = scene.world
    for rule in world.fresh:
        if rule.verdict is not Verdict.ALLOW or world.tools.fitting(rule.tools):
            continue
        wide = rule.tools.matcher(gives=False)
        missed = next((spec for spec in world.catalog.specs if wide(spec)), None)
        if missed is not None:
            world.report.say(
                "narrow-wildcard",
                f"this `allow` reaches no tool, not even `{missed.name}`",
                span=rule.span,
                help="where a rule gives, a wildcard reaches the host's own tools, and those "
                f"of a server that it spells out: `{missed.origin.kind} "
                f"{missed.origin.server}/…`",
            )
