"""Verifies a policy without running tools: tests in rule files, coverage, proofs, proposals."""

from policy.verify.code_on_the_command_line import EXAMPLE, restricts_unseen_code
from policy.verify.coverage import unreached_rules
from policy.verify.difference import (
    Change,
    Difference,
    Direction,
    ToolDifference,
    Witness,
    compare,
)
from policy.verify.examples import ExampleResult, run_examples
from policy.verify.proof import (
    STEPS,
    Counterexample,
    DeadRule,
    Proof,
    dead_rules,
    problem_of,
    prove,
)
from policy.verify.proposal.exact_condition import ExactCall
from policy.verify.proposal.proposer import Edit, Judge, NoProposal, Proposal, Situation, propose

__all__ = [
    "EXAMPLE",
    "STEPS",
    "Change",
    "Counterexample",
    "DeadRule",
    "Difference",
    "Direction",
    "Edit",
    "ExactCall",
    "ExampleResult",
    "Judge",
    "NoProposal",
    "Proof",
    "Proposal",
    "Situation",
    "ToolDifference",
    "Witness",
    "compare",
    "dead_rules",
    "problem_of",
    "propose",
    "prove",
    "restricts_unseen_code",
    "run_examples",
    "unreached_rules",
]
