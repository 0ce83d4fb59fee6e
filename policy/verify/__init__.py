"""Verifies a policy without running tools: the tests in rule files, coverage, proposed rules."""

from policy.verify.code_on_the_command_line import EXAMPLE, restricts_unseen_code
from policy.verify.coverage import unreached_rules
from policy.verify.examples import ExampleResult, run_examples
from policy.verify.proposal.exact_condition import ExactCall
from policy.verify.proposal.proposer import Edit, Judge, NoProposal, Proposal, Situation, propose

__all__ = [
    "EXAMPLE",
    "Edit",
    "ExactCall",
    "ExampleResult",
    "Judge",
    "NoProposal",
    "Proposal",
    "Situation",
    "propose",
    "restricts_unseen_code",
    "run_examples",
    "unreached_rules",
]
