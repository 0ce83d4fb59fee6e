"""Trees -> checked policies: names resolved, kinds and places checked, every mistake said."""

from __future__ import annotations

from policy.checks import checked
from policy.checks.checked import CheckedPolicy, ExampleSuite, LayerKey
from policy.checks.checker import check
from policy.checks.kinds import CONTEXT_KINDS, FACTS, FUNCTIONS
from policy.checks.remembered import Remembered
from policy.checks.sources import DEFAULT_BINDERS, Checked, PolicySources, Table

__all__ = [
    "CONTEXT_KINDS",
    "DEFAULT_BINDERS",
    "FACTS",
    "FUNCTIONS",
    "Checked",
    "CheckedPolicy",
    "ExampleSuite",
    "LayerKey",
    "PolicySources",
    "Remembered",
    "Table",
    "check",
    "checked",
]
