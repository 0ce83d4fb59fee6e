"""Proves the claims of a policy, its `prove` and `assume` statements, for every possible call."""

from policy.verify.proof.counterexample import Counterexample
from policy.verify.proof.dead_rules import DeadRule, dead_rules
from policy.verify.proof.problems import problem_of
from policy.verify.proof.proof import STEPS, Proof, Status
from policy.verify.proof.prover import prove, prove_claim

__all__ = [
    "STEPS",
    "Counterexample",
    "DeadRule",
    "Proof",
    "Status",
    "dead_rules",
    "problem_of",
    "prove",
    "prove_claim",
]
