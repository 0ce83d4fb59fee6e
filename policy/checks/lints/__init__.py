"""Lints: valid code that is probably not what its author meant; one module for each."""

from policy.checks.lints import (
    addresses_as_strings,
    allowed_interpreter,
    ask_outside_allows,
    chosen_by_agent,
    copies_alone,
    name_style,
    narrow_wildcard,
    not_granted,
    redundant_allow,
    script_by_one_program,
    shallow_pattern,
    unlimited_allow,
    unnamed_rule,
    unused_name,
)
from policy.checks.lints.context import LintContext

# These judge a rule by itself, so they run only on rules that no earlier build has checked.
ON_NEW_RULES = (
    addresses_as_strings,
    allowed_interpreter,
    chosen_by_agent,
    narrow_wildcard,
    script_by_one_program,
    shallow_pattern,
)
# These run at every build on everything; rules may be `KnownRule`s, which have no clauses.
ON_EVERY_BUILD = (
    ask_outside_allows,
    copies_alone,
    name_style,
    not_granted,
    redundant_allow,
    unlimited_allow,
    unnamed_rule,
    unused_name,
)


def run_on_rules(context: LintContext) -> None:
    """Run the lints that judge a rule by itself on the rules checked in this run."""
    for lint in ON_NEW_RULES:
        lint.find(context)


def run(context: LintContext) -> None:
    """Run every other lint."""
    for lint in ON_EVERY_BUILD:
        lint.find(context)


__all__ = ["ON_EVERY_BUILD", "ON_NEW_RULES", "LintContext", "run", "run_on_rules"]
