"""`Proof`: what is known of one claim, and `ToolProof`: of one claim about one tool."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from policy.checks import LayerKey, checked
from policy.verify.proof.counterexample import Counterexample

if TYPE_CHECKING:
    from policy.solving import LeftOpen
    from policy.symbolic import Basis, OpenCondition

# Conflicts of the solver for one tool; the same on every machine.
STEPS = 20_000

# Called with how much is done, and of how much.
Progress: TypeAlias = Callable[[int, int], None]
Status: TypeAlias = Literal["holds", "broken", "undecided"]


def because_of(error: Exception) -> str:
    """Return why a question is undecided whose search ended with an exception."""
    return f"an internal error of Placet ({type(error).__name__}: {error})"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolProof:
    """What is known of one claim about one tool.

    `basis` are rules, defaults and mechanisms that together keep it, none of them superfluous.
    `about_nothing`: it holds because no call of the tool can meet its conditions. `because` is why
    it is undecided, empty where neither a proof nor a call was found; `left_open` what the solver
    of arithmetic did not look into then, `open_conditions` which conditions are not modelled.
    """

    status: Status
    basis: tuple[Basis, ...] = ()
    about_nothing: bool = False
    counterexample: Counterexample | None = None
    because: str = ""
    left_open: LeftOpen = ""
    open_conditions: tuple[OpenCondition, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What is known of one claim: it holds, is broken by a call, or neither could be found.

    `basis` are rules, defaults and mechanisms that together keep it, none of them superfluous for
    all tools. `about_nothing`: it holds because no call of its tools can meet its conditions.
    `undecided` are the tools for which nothing was found, and `because` is why, empty where the
    search found nothing; `left_open` is what the solver of arithmetic did not look into;
    `open_conditions` are the conditions that are not modelled. `tools` is how many tools there are.
    Of no tool, nothing was proved: a claim that names none that is known is undecided.
    """

    invariant: checked.CheckedInvariant
    layer: LayerKey
    status: Status
    tools: int
    basis: tuple[Basis, ...] = ()
    about_nothing: bool = False
    counterexample: Counterexample | None = None
    undecided: tuple[str, ...] = ()
    because: str = ""
    left_open: LeftOpen = ""
    open_conditions: tuple[OpenCondition, ...] = ()

    @staticmethod
    def of(
        invariant: checked.CheckedInvariant,
        layer: LayerKey,
        found: Mapping[str, ToolProof],
        *,
        tools: int,
    ) -> Proof:
        """Return the proof of a claim from what is known of it about tools, by their names.

        It is broken by the first call that was found, so what comes after may be left out.
        """
        known: dict[str, Any] = {"invariant": invariant, "layer": layer, "tools": tools}
        broken = next((one for one in found.values() if one.status == "broken"), None)
        if broken is not None:
            return Proof(**known, status="broken", counterexample=broken.counterexample)
        if not tools:
            return Proof(**known, status="undecided")
        undecided = {name: one for name, one in found.items() if one.status == "undecided"}
        if undecided:
            return Proof(
                **known,
                status="undecided",
                undecided=tuple(undecided),
                because=next((one.because for one in undecided.values() if one.because), ""),
                left_open=next((one.left_open for one in undecided.values() if one.left_open), ""),
                open_conditions=tuple(
                    dict.fromkeys(
                        open for one in undecided.values() for open in one.open_conditions
                    )
                ),
            )
        basis = (kept for one in found.values() for kept in one.basis)
        return Proof(
            **known,
            status="holds",
            basis=tuple(dict.fromkeys(basis)),
            about_nothing=bool(found) and all(one.about_nothing for one in found.values()),
        )
