"""Proves the claims of a policy, its `prove` and `assume` statements, for every possible call."""

from policy.verify.proof.answer_record import answer_of, answer_record
from policy.verify.proof.claims import ClaimQuestion, LayerClaim, claims_of, question_digests
from policy.verify.proof.counterexample import Counterexample
from policy.verify.proof.dead_rules import DeadRule, dead_rules
from policy.verify.proof.problems import (
    deciding_rule,
    deciding_words,
    open_lines,
    problem_of,
    why_undecided,
)
from policy.verify.proof.proof import STEPS, Proof, Status, ToolProof
from policy.verify.proof.prover import answer_to, prove

__all__ = [
    "STEPS",
    "ClaimQuestion",
    "Counterexample",
    "DeadRule",
    "LayerClaim",
    "Proof",
    "Status",
    "ToolProof",
    "answer_of",
    "answer_record",
    "answer_to",
    "claims_of",
    "dead_rules",
    "deciding_rule",
    "deciding_words",
    "open_lines",
    "problem_of",
    "prove",
    "question_digests",
    "why_undecided",
]
