"""`Proof`: what is known of one claim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from policy.checks import LayerKey, checked
from policy.verify.proof.counterexample import Counterexample

if TYPE_CHECKING:
    from policy.symbolic import Basis

# Conflicts of the solver for one tool; the same on every machine.
STEPS = 20_000

Status: TypeAlias = Literal["holds", "broken", "undecided"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What is known of one claim: it holds, is broken by a call, or neither could be found.

    `basis` are rules, defaults and mechanisms that together keep it, none of them superfluous for
    all tools. `undecided` are the tools for which nothing was found; `tools` is how many there are.
    """

    invariant: checked.CheckedInvariant
    layer: LayerKey
    status: Status
    tools: int
    basis: tuple[Basis, ...] = ()
    counterexample: Counterexample | None = None
    undecided: tuple[str, ...] = ()

    @property
    def about_nothing(self) -> bool:
        """Whether it holds because no call of its tools can meet its conditions."""
        return self.status == "holds" and self.tools > 0 and not self.basis
