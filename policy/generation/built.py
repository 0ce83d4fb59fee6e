"""`Built`: the outcome of a build, before and after the claims of the policy are proved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from policy.diagnostics import Diagnostic, Severity, has_errors, in_order
from policy.generation.generation import Generation
from policy.generation.settings import ProofMode
from policy.generation.settings_changes import PROOF_MODES
from policy.model import Source
from policy.verify import ExampleResult, Proof, problem_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """The outcome of a build: a generation unless some diagnostic is an error.

    `examples` are the results of the tests in the files, and `proofs` those of its claims, empty if
    they were not looked for. `failing` is what would be in force if its tests passed and its claims
    held: it may be explained, and must decide nothing. `demanded` is what the policy that it would
    replace does about claims: the stricter setting counts, so that no edit evades its own proofs.
    """

    generation: Generation | None
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, Source]
    examples: tuple[ExampleResult, ...] = ()
    proofs: tuple[Proof, ...] = ()
    failing: Generation | None = None
    demanded: ProofMode = "off"

    @property
    def mode(self) -> ProofMode:
        """What is done about claims: as its settings say, or the policy that it would replace."""
        own = "off" if self.generation is None else self.generation.settings.reload.proofs
        return max(own, self.demanded, key=PROOF_MODES.index)

    @property
    def has_claims(self) -> bool:
        """Whether claims must be proved before it takes effect, as its settings want."""
        generation = self.generation
        return (
            generation is not None
            and self.mode != "off"
            and any(layer.invariants for layer in generation.program.policy.layers)
        )

    @property
    def has_unproved_claims(self) -> bool:
        """Whether claims were left out when the others were proved."""
        generation = self.generation
        if generation is None or not self.has_claims:
            return False
        layers = generation.program.policy.layers
        return len(self.proofs) < sum(len(layer.invariants) for layer in layers)

    @property
    def is_interrupted(self) -> bool:
        """Whether a claim is undecided because its proof was interrupted."""
        return any(proof.because for proof in self.proofs)

    def with_proofs(self, proofs: tuple[Proof, ...]) -> Built:
        """Return the build with the proofs of its claims: it fails unless every `prove` holds."""
        generation = self.generation
        if generation is None:
            return self
        found = tuple(_problems(proofs, self.mode))
        diagnostics = in_order((*self.diagnostics, *found))
        generation = replace(generation, warnings=diagnostics)
        if has_errors(found):
            return replace(
                self, generation=None, diagnostics=diagnostics, proofs=proofs, failing=generation
            )
        return replace(self, generation=generation, diagnostics=diagnostics, proofs=proofs)


def _problems(proofs: tuple[Proof, ...], mode: ProofMode) -> Iterator[Diagnostic]:
    """Yield what is wrong with the claims of a policy."""
    for proof in proofs:
        problem = problem_of(proof)
        if problem is not None:
            yield replace(problem, severity=Severity.WARNING) if mode == "warn" else problem
