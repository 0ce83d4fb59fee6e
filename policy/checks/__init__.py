"""Trees -> checked policies: names resolved, types checked, every mistake reported."""

from policy.checks import checked
from policy.checks.assembly import Unit
from policy.checks.checked import CheckedPolicy, CheckedRule, ExampleSuite, LayerKey
from policy.checks.checker import check
from policy.checks.conditions.value_types import CONTEXT_KINDS, FACTS, FUNCTIONS
from policy.checks.rules.reader import rule_id
from policy.checks.satisfiability.bounds import bounds_at
from policy.checks.sources import DEFAULT_BINDERS, Checked, PolicySources, Table

__all__ = [
    "CONTEXT_KINDS",
    "DEFAULT_BINDERS",
    "FACTS",
    "FUNCTIONS",
    "Checked",
    "CheckedPolicy",
    "CheckedRule",
    "ExampleSuite",
    "LayerKey",
    "PolicySources",
    "Table",
    "Unit",
    "bounds_at",
    "check",
    "checked",
    "rule_id",
]
