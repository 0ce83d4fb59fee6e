"""Questions about a policy, answered without running a tool."""

from __future__ import annotations

from policy.verify.coverage import unreached_rules
from policy.verify.examples import ExampleResult, run_examples
from policy.verify.proposal import (
    Edit,
    ExactCall,
    Judge,
    NoProposal,
    Proposal,
    Situation,
    propose,
)

__all__ = [
    "Edit",
    "ExactCall",
    "ExampleResult",
    "Judge",
    "NoProposal",
    "Proposal",
    "Situation",
    "propose",
    "run_examples",
    "unreached_rules",
]
