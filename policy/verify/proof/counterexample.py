"""`Counterexample`: a call that breaks a claim, decided by the engine and as small as was found."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Protocol, TypeVar

from policy.decision import Decision, answer
from policy.evaluation import (
    ABSENT,
    ConditionScope,
    Evaluation,
    Indeterminate,
    compile_test,
)
from policy.layers import applies_to
from policy.model import Caller, Verdict
from policy.program import Program
from policy.symbolic import RESOURCES, Claim, Situation, Subject

_USUAL = Caller()
_MOST_TRIED = 20  # values of one field or fact, for a smaller counterexample


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterexample:
    """A call that breaks a claim, and the decision on it.

    `unclear`: a condition of the claim is indeterminate for the call, which counts as met.
    """

    situation: Situation
    decision: Decision
    wanted: Verdict
    unclear: bool = False

    def as_test(self, title: str) -> str:
        """Return the call as a test for a rule file, with the verdict that the claim wants.

        A claim `never allow` is content with `ask` as well; the test says `deny`.
        """
        given = given_text(self.situation)
        lines = [f"test {json.dumps(title)}"]
        lines += [f"  given {given}"] if given else []
        return "\n".join([*lines, f"  {call_text(self.situation)} -> deny"])

    def given(self) -> Iterator[tuple[str, Any]]:
        """Yield the facts of the call that are not as usual in a test, by their names."""
        return given_of(self.situation)


class _Shown(Protocol):
    @property
    def situation(self) -> Situation: ...


_Found = TypeVar("_Found", bound=_Shown)


def call_text(situation: Situation) -> str:
    """Return a call as a test in a rule file spells it."""
    spec = situation.spec
    name = spec.name if spec.origin.kind == "host" else spec.names_in_rules[-1]
    return f"{name} {_data(situation.input)}"


def given_text(situation: Situation) -> str:
    """Return the facts of a call as a test in a rule file spells them, empty for none."""
    return ", ".join(f"{fact} = {_data(value)}" for fact, value in given_of(situation))


def given_of(situation: Situation) -> Iterator[tuple[str, Any]]:
    """Yield the facts of a call that are not as usual in a test, by their names."""
    caller, facts = situation.caller, situation.facts
    if caller.agent != _USUAL.agent:
        yield "agent.name", caller.agent
    if caller.parent is not None:
        yield "agent.parent", caller.parent.agent
    if caller.role != _USUAL.role:
        yield "session.role", caller.role
        if caller.role == "guest":
            yield "session.scope", {"allowed_tools": ["*"]}
    if caller.session != _USUAL.session:
        yield "session.id", caller.session
    if caller.user is not None:
        yield "user.id", caller.user
    if caller.groups:
        yield "user.groups", list(caller.groups)
    if facts.now is not None:
        yield "now", facts.now.isoformat().replace("+00:00", "Z")
    for name, value in facts.context.items():
        yield f"context.{name}", value


def smallest(
    found: _Found,
    decide: Callable[[Situation], _Found | None],
    values_of: Callable[[Subject], tuple[Any, ...]],
) -> _Found:
    """Return a call with as little in it as `decide` still finds what was found.

    What can be as usual is left out, and other values are the first that do.
    """
    for subject in tuple(found.situation.values):
        rest = {key: value for key, value in found.situation.values.items() if key != subject}
        simpler = [replace(found.situation, values=MappingProxyType(rest))]
        simpler += (
            found.situation.having({subject: value})
            for value in values_of(subject)[:_MOST_TRIED]
            if value is not ABSENT
        )
        found = next((shown for one in simpler if (shown := decide(one)) is not None), found)
    for name in tuple(found.situation.values.get(RESOURCES, ())):
        arguments = {**found.situation.values[RESOURCES], name: ABSENT}
        found = decide(found.situation.having({RESOURCES: arguments})) or found
    return found


def decided(
    program: Program, claim: Claim, situation: Situation, *, slots: int
) -> Counterexample | None:
    """Return a situation as a counterexample; None if the engine decides otherwise."""
    caller = situation.caller
    if not applies_to(claim.layer, agent=caller.agent, role=caller.role):
        return None
    try:
        given = json.loads(json.dumps(situation.input))
    except (TypeError, ValueError):
        return None  # no call can say this
    outcome = answer(program, situation.spec.name, given, caller, situation.facts)
    decision = outcome.decision
    if outcome.admitted is None or decision.verdict >= claim.least:
        return None
    call = Evaluation(
        situation.spec, decision.call.input, caller=caller, facts=situation.facts, slots=slots
    )
    met = _met(claim, call)
    if met is False:
        return None
    return Counterexample(
        situation=situation, decision=decision, wanted=claim.least, unclear=met is None
    )


def _met(claim: Claim, call: Evaluation) -> bool | None:
    """Return whether a call meets the conditions of a claim; None is indeterminate."""
    invariant, found = claim.invariant, True
    for test, wanted in ((invariant.when, True), (invariant.unless, False)):
        if test is None:
            continue
        place = ConditionScope(
            declared=claim.declared,
            absent_is_false=wanted,
            covering=False,
            test=compile_test,
        )
        truth = compile_test(test, place)(call)
        if truth is (not wanted):
            return False
        found = found and not isinstance(truth, Indeterminate)
    return True if found else None


def _data(value: Any) -> str:
    return json.dumps(value, default=_plain, ensure_ascii=False)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else dict(value)
