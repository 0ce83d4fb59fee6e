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

# Lints about single rules, and the others.
_OF_ONE_RULE = (allowed_interpreter, narrow_wildcard)
_OF_ALL = (
    name_style,
    not_granted,
    redundant_allow,
    unnamed_rule,
    unused_name,
)


def run_on_rules(scene: LintContext) -> None:
    """Run the lints about single rules on the rules checked in this run."""
    for lint in _OF_ONE_RULE:
        lint.find(scene)


def run(scene: LintContext) -> None:
    """Run every other lint."""
    for lint in _OF_ALL:
        lint.find(scene)


__all__ = ["LintContext", "run", "run_on_rules"]
