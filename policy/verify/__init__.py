"""Verifies a policy without running tools: the tests in rule files, coverage, proposed rules."""

from policy.verify.coverage import unreached_rules
from policy.verify.examples import ExampleResult, run_examples
from policy.verify.proposal.exact_condition import ExactCall
from policy.verify.proposal.proposer import Edit, Judge, NoProposal, Proposal, Situation, propose

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
