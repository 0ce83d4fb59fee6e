"""Lints: what is not an error and still not what a reader expects; one module for each."""

from policy.checks.lints import (
    allowed_interpreter,
    name_style,
    narrow_wildcard,
    not_granted,
    redundant_allow,
    unnamed_rule,
    unused_name,
)
from policy.checks.lints.context import LintContext

# Those about a rule by itself, and the others.
_OF_ONE_RULE = (allowed_interpreter, narrow_wildcard)
_OF_ALL = (
    name_style,
    not_granted,
    redundant_allow,
    unnamed_rule,
    unused_name,
)


def run_on_rules(scene: LintContext) -> None:
    """Ask the lints about one rule by itself for what they find in the fresh ones."""
    for lint in _OF_ONE_RULE:
        lint.find(scene)


def run(scene: LintContext) -> None:
    """Ask every other lint for what it finds."""
    for lint in _OF_ALL:
        lint.find(scene)


__all__ = ["LintContext", "run", "run_on_rules"]
