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
    only_tightens,
)
from policy.verify.examples import ExampleResult, run_examples
from policy.verify.proof import (
    STEPS,
    ClaimQuestion,
    Counterexample,
    DeadRule,
    LayerClaim,
    Proof,
    ToolProof,
    answer_of,
    answer_record,
    answer_to,
    claims_of,
    dead_rules,
    problem_of,
    prove,
    question_digests,
    why_undecided,
)
from policy.verify.proposal.exact_condition import ExactCall
from policy.verify.proposal.proposer import Edit, Judge, NoProposal, Proposal, Situation, propose

__all__ = [
    "EXAMPLE",
    "STEPS",
    "Change",
    "ClaimQuestion",
    "Counterexample",
    "DeadRule",
    "Difference",
    "Direction",
    "Edit",
    "ExactCall",
    "ExampleResult",
    "Judge",
    "LayerClaim",
    "NoProposal",
    "Proof",
    "Proposal",
    "Situation",
    "ToolDifference",
    "ToolProof",
    "Witness",
    "answer_of",
    "answer_record",
    "answer_to",
    "claims_of",
    "compare",
    "dead_rules",
    "only_tightens",
    "problem_of",
    "propose",
    "prove",
    "question_digests",
    "restricts_unseen_code",
    "run_examples",
    "unreached_rules",
    "why_undecided",
]
