"""Lints: what is no mistake and still not what a reader expects; one module for each."""

from policy.checks.lints import (
    allowed_interpreter,
    name_style,
    narrow_wildcard,
    not_granted,
    redundant_allow,
    unnamed_rule,
)
from policy.checks.lints.scene import Scene

_LINTS = (
    allowed_interpreter,
    name_style,
    narrow_wildcard,
    not_granted,
    redundant_allow,
    unnamed_rule,
)


def run(scene: Scene) -> None:
    """Ask every lint for what it finds."""
    for lint in _LINTS:
        lint.find(scene)


__all__ = ["Scene", "run"]
