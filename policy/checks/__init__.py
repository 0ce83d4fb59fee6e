"""Trees -> checked policies: names resolved, kinds and places checked, every mistake said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policy.checks import checked
from policy.exports import exported

if TYPE_CHECKING:
    from policy.checks.checked import CheckedPolicy, ExampleSuite, LayerKey
    from policy.checks.checker import check
    from policy.checks.codec import NotStorable
    from policy.checks.kinds import CONTEXT_KINDS, FACTS, FUNCTIONS
    from policy.checks.remembered import Remembered
    from policy.checks.sources import DEFAULT_BINDERS, Checked, PolicySources, Table
    from policy.checks.storing import read_rules, write_rules
else:
    __getattr__ = exported(
        __name__,
        {
            "checked": "CheckedPolicy ExampleSuite LayerKey",
            "checker": "check",
            "codec": "NotStorable",
            "kinds": "CONTEXT_KINDS FACTS FUNCTIONS",
            "remembered": "Remembered",
            "sources": "DEFAULT_BINDERS Checked PolicySources Table",
            "storing": "read_rules write_rules",
        },
    )

__all__ = [
    "CONTEXT_KINDS",
    "DEFAULT_BINDERS",
    "FACTS",
    "FUNCTIONS",
    "Checked",
    "CheckedPolicy",
    "ExampleSuite",
    "LayerKey",
    "NotStorable",
    "PolicySources",
    "Remembered",
    "Table",
    "check",
    "checked",
    "read_rules",
    "write_rules",
]
