"""`LayerClaim` and `ClaimQuestion`: a claim of a policy, and the same about one tool.

A question is the smallest thing that is proved by itself. Its digest covers all that its answer
depends on, so that an answer counts as long as the digest is the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from policy.catalog import ToolSpec
from policy.checks import LayerKey, checked
from policy.program import LayerPlan, Program, RewritePlan, RulePlan, meaning_digest
from policy.verify.proof.proof import Proof, ToolProof


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerClaim:
    """A claim, and the index of the layer that makes it."""

    program: Program
    invariant: checked.CheckedInvariant
    index: int

    @property
    def layer(self) -> LayerKey:
        """The layer that makes it."""
        return self.program.policy.layers[self.index].key

    def questions(self) -> tuple[ClaimQuestion, ...]:
        """Return the question about each tool of the catalogue that the claim names."""
        tools = self.invariant.tools
        specs = (spec for spec in self.program.catalog.specs if tools.matches(spec))
        return tuple(ClaimQuestion(claim=self, spec=spec) for spec in specs)

    def digest(self) -> str:
        """Return a digest of what is claimed, whatever the rules are."""
        said = self.invariant
        return meaning_digest(self.layer, said.kind, said.claim, said.tools, said.when, said.unless)

    def proof(self, found: Mapping[str, ToolProof]) -> Proof:
        """Return what is known of the claim, from what is known of it about tools, by name."""
        return Proof.of(self.invariant, self.layer, found, tools=len(self.questions()))


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimQuestion:
    """Whether some call of a tool breaks a claim."""

    claim: LayerClaim
    spec: ToolSpec


def claims_of(program: Program) -> Iterator[LayerClaim]:
    """Yield the claims of a policy, in the order of its layers."""
    for index, layer in enumerate(program.policy.layers):
        for invariant in layer.invariants:
            yield LayerClaim(program=program, invariant=invariant, index=index)


def question_digests(
    questions: Iterable[ClaimQuestion], *, surroundings: str, steps: int
) -> Iterator[tuple[str, ClaimQuestion]]:
    """Yield the questions, each with the digest of all that its answer depends on.

    `surroundings` is the digest of what affects rules besides rule files: settings and data.
    """
    tools: dict[str, str] = {}
    for question in questions:
        claim, spec = question.claim, question.spec
        if spec.name not in tools:
            tools[spec.name] = _tool_digest(claim.program, spec)
        said = claim.invariant
        yield (
            meaning_digest(
                *(surroundings, steps, tools[spec.name], claim.layer),
                *(said.claim, said.when, said.unless),
            ),
            question,
        )


def _tool_digest(program: Program, spec: ToolSpec) -> str:
    """Return a digest of a tool and of all that any layer says about its calls."""
    layers = (program.layer_plan(number, spec) for number in range(len(program.policy.layers)))
    return meaning_digest(spec, program.open_fields(spec), *map(_layer_parts, layers))


def _layer_parts(layer: LayerPlan) -> tuple[object, ...]:
    default, declared = layer.default, layer.declared
    return (
        layer.key,
        None if default is None else default.verdict,
        layer.named_default,
        layer.delegated_to,
        (declared.resources, declared.complete, declared.unseen),
        *map(_rule_parts, (*layer.allows, *layer.restricting)),
        *map(_rewrite_parts, layer.rewrites),
    )


def _rule_parts(plan: RulePlan) -> tuple[object, ...]:
    rule = plan.rule
    return (plan.verdict, plan.grants, plan.covering, plan.more, rule.when, rule.unless)


def _rewrite_parts(plan: RewritePlan) -> tuple[object, ...]:
    rule = plan.rule
    changes = ((each.kind, each.steps, each.value) for each in rule.changes)
    return (rule.when, rule.unless, *changes)
