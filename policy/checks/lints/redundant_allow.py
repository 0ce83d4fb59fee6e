"""Lint: an `allow` for tools that another rule of the layer allows without any condition."""

from __future__ import annotations

from collections import Counter

from policy.checks.checked import CheckedPolicy, CheckedRule
from policy.checks.lints.scene import Scene
from policy.checks.world import World
from policy.verdict import Verdict


def find(scene: Scene) -> None:
    """Say so of every `allow` that changes nothing."""
    for policy in scene.policies:
        _find(policy, scene.world)


def _find(policy: CheckedPolicy, world: World) -> None:
    allows = [r for r in policy.rules if r.verdict is Verdict.ALLOW and not r.shadow]
    plain = [rule for rule in allows if _is_plain(rule)]
    if not plain:
        return
    granted = Counter(spec.name for rule in plain for spec in world.tools.fitting(rule.tools))
    for rule in reversed(allows):
        # A wildcard may fit tools that are not known yet; an approval is more than an allowance.
        if rule.with_approval or rule.tools.exact_names() is None:
            continue
        names = [spec.name for spec in world.tools.fitting(rule.tools)]
        own = 1 if _is_plain(rule) else 0
        if names and all(granted[name] > own for name in names):
            world.report.say(
                "redundant-allow",
                "another rule allows the same tools without a condition",
                span=rule.span,
                help="remove one of the two",
            )
            granted.subtract(names if own else ())


def _is_plain(rule: CheckedRule) -> bool:
    return rule.when is None and rule.unless is None and not rule.with_approval
