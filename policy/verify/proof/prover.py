"""Proves claims: for each tool, either no call breaks one, or a call that does is shown.

A claim that holds rests on a formula that has every call among its readings and still cannot be
satisfied. A claim that is broken is shown by a call that the engine has decided. Where neither is
found, the claim is undecided.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from policy.catalog import Catalog, ToolSpec
from policy.checks import checked
from policy.program import Program
from policy.verify.proof.proof import STEPS, Proof

if TYPE_CHECKING:
    from policy.symbolic import Basis


class Provable(Protocol):
    """A generation, as far as claims are proved of it."""

    @property
    def program(self) -> Program:
        """Its rules, compiled."""
        ...


def prove(generation: Provable, *, steps: int = STEPS) -> Iterator[Proof]:
    """Yield the proof of every claim of a policy, in the order of its layers."""
    program = generation.program
    for index, layer in enumerate(program.policy.layers):
        for invariant in layer.invariants:
            yield prove_claim(program, invariant, index, steps=steps)


def prove_claim(
    program: Program, invariant: checked.CheckedInvariant, index: int, *, steps: int = STEPS
) -> Proof:
    """Return the proof of a claim of the layer `index`, about every known tool that it names.

    `steps` bounds the conflicts of the solver for each tool.
    """
    # With it comes the solver, which a policy without claims does without.
    from policy.verify.proof.question import Question

    layer = program.policy.layers[index].key
    specs = tuple(_matching(program.catalog, invariant))
    basis: dict[Basis, None] = {}
    undecided: list[str] = []
    for spec in specs:
        question = Question(program, spec, invariant, index, steps=steps)
        kept = question.what_keeps_it()
        if isinstance(kept, tuple):
            basis.update(dict.fromkeys(kept))
            continue
        found = question.counterexample(kept)
        if found is not None:
            return Proof(
                invariant=invariant,
                layer=layer,
                status="broken",
                tools=len(specs),
                counterexample=found,
            )
        undecided.append(spec.name)
    return Proof(
        invariant=invariant,
        layer=layer,
        status="undecided" if undecided else "holds",
        tools=len(specs),
        basis=() if undecided else tuple(basis),
        undecided=tuple(undecided),
    )


def _matching(catalog: Catalog, invariant: checked.CheckedInvariant) -> Iterator[ToolSpec]:
    return (spec for spec in catalog.specs if invariant.tools.matches(spec))
