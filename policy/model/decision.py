"""`Decision`: the verdict on a call, the call that would run, and every reason in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from msgspec import Struct

from policy.model.budgets import Charge
from policy.model.call import ToolCall
from policy.model.confinement import Confinement
from policy.model.reason import Reason
from policy.model.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationId:
    """Which policy decided: a number that grows with each load, and a digest of the files."""

    number: int
    digest: str


@final
class Decision(Struct, frozen=True, kw_only=True):
    """The answer to one call.

    `call` is what would run, rewrites applied; `asked` is the call as admitted. `reasons` lists
    every matching rule, those that carry the verdict first. `shadowed` lists the reasons of shadow
    rules, which never change a verdict. `charges` are what limits count once the call runs.
    `redactions` are the `redact results` that match the call, shadow ones included; those with
    conditions on the result may turn out not to apply. `confinement` is what code that the call
    starts may touch; None for a denial, a tool that runs no code, and where no sandbox confines it.
    """

    verdict: Verdict
    call: ToolCall
    asked: ToolCall
    reasons: tuple[Reason, ...]
    generation: GenerationId | None = None
    shadowed: tuple[Reason, ...] = ()
    repairs: tuple[str, ...] = ()
    charges: tuple[Charge, ...] = ()
    redactions: tuple[Reason, ...] = ()
    confinement: Confinement | None = None

    @property
    def rewritten(self) -> bool:
        """Whether a rewrite changed the input."""
        return self.call.input != self.asked.input

    @property
    def deciding(self) -> tuple[Reason, ...]:
        """The reasons that carry the final verdict."""
        return tuple(r for r in self.reasons if r.verdict is self.verdict)

    @property
    def wait(self) -> float | None:
        """The seconds until no limit denies the call; None where more than time is in its way."""
        waits = [None if r.limit is None else r.limit.wait for r in self.deciding]
        known = [wait for wait in waits if wait is not None]
        return max(known) if known and len(known) == len(waits) else None


def decided(
    verdict: Verdict,
    call: ToolCall,
    reasons: tuple[Reason, ...],
    *,
    generation: GenerationId | None,
) -> Decision:
    """Return the decision on a call to which no rules were applied."""
    return Decision(verdict=verdict, call=call, asked=call, reasons=reasons, generation=generation)
