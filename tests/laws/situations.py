"""Draws what a law decides: a valid policy, a call under it, a caller and the facts.

`Tally` keeps the laws honest: each says in which share of its cases its premise held, and fails
where the cases stopped meeting it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import assume, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from policy.decision import Decision, decide
from policy.model import Caller, Facts, ToolCall, Verdict
from tests.examples import FULL
from tests.laws.calls import SPELLED, WORLDS, callers, calls, pick
from tests.laws.engine import Built, Unsound, build, mended
from tests.laws.policies import GLOBAL, PolicyText, policies


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """One policy and one call that it is asked about."""

    built: Built
    call: ToolCall
    caller: Caller
    facts: Facts

    @property
    def policy(self) -> PolicyText:
        return self.built.policy

    def decision(self) -> Decision:
        """Return what the engine says."""
        return decide(self.built.program, self.call, self.caller, self.facts)

    def under(self, policy: PolicyText) -> Situation:
        """Return the same call under another policy; a law about it needs it to be sound."""
        try:
            return replace(self, built=build(policy))
        except Unsound:
            assume(False)
            raise

    def with_input(self, **fields: Any) -> Situation:
        """Return the situation with these fields set; `...` leaves one out."""
        values = {**self.call.input, **fields}
        kept = {name: value for name, value in values.items() if value is not ...}
        return replace(self, call=ToolCall(tool=self.call.tool, input=kept))

    def by(self, caller: Caller) -> Situation:
        """Return the situation with another caller."""
        return replace(self, caller=caller)


@st.composite
def situations(
    draw: DrawFn,
    *,
    rewriting: bool = True,
    tools: tuple[str, ...] | None = None,
    depth: int = 1,
    keeping: Any = None,
) -> Situation:
    """Draw a situation; `keeping` leaves out statements, and the checker what it refuses."""
    call = draw(calls(tools) if tools else calls())
    drawn = draw(policies(call, rewriting=rewriting))
    if keeping is not None:
        drawn = drawn.only(keeping)
    policy = mended(drawn)
    assume(policy is not None)
    assert policy is not None
    return Situation(
        built=build(policy),
        call=call,
        caller=draw(callers(depth=depth)),
        facts=pick(draw, WORLDS),
    )


class Tally:
    """How often each thing was seen in the cases of one law."""

    def __init__(self) -> None:
        self.cases = 0
        self.seen: Counter[str] = Counter()

    def case(self, *things: str) -> None:
        """Count one case, and what was seen in it."""
        self.cases += 1
        self.seen.update(set(things))

    def shows(self, thing: str, *, share: float = 0.1) -> None:
        """Fail unless the thing was seen in this share of the cases.

        A part of the examples is too few to measure shares by; `make laws` takes all.
        """
        if settings().max_examples < FULL:
            return
        found = self.seen[thing]
        assert self.cases, "no case was generated"
        assert found >= share * self.cases, (
            f"only {found} of {self.cases} cases show `{thing}`: {dict(self.seen)}"
        )


def spelled(tool: str) -> str:
    """Return the tool as an author writes it."""
    return SPELLED.get(tool, tool)


def rank(decision: Decision) -> int:
    """Return the verdict's place in the chain."""
    return decision.verdict.rank


def by_name(reasons: Any) -> frozenset[tuple[str, Verdict]]:
    """Return the opinions of rules that have a name; generated names have a hyphen."""
    return frozenset((rule, verdict) for rule, verdict in reasons if "-" in rule)


def opinions(decision: Decision) -> frozenset[tuple[str, Verdict]]:
    """Return every reason's rule and verdict."""
    return frozenset((reason.rule, reason.verdict) for reason in decision.reasons)


def other_files(policy: PolicyText) -> list[str]:
    """Return the files of the layers that are not the global one."""
    return [name for name, _ in policy.files if name != GLOBAL]


def delegates(policy: PolicyText) -> bool:
    """Tell whether some statement delegates."""
    return any(s.startswith("delegate") for _, statements in policy.files for s in statements)


def without_words(*words: str) -> Callable[[str, str], bool]:
    """Keep the statements in which none of the words stands."""
    return lambda file, statement: not any(word in statement for word in words)
