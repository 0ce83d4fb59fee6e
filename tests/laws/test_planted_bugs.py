"""Provers that are broken on purpose, each found by trying every call of a small universe."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pkgutil import resolve_name
from typing import Any

import pytest

from policy.catalog import Catalog, Origin, ToolSpec
from policy.decision import answer
from policy.evaluation import ConditionScope, Evaluation, compile_test
from policy.model import Caller, Facts, GuestScope, Verdict
from policy.solving import Clauses
from policy.symbolic import Reading, Truths, require_violation
from policy.verify import prove
from tests.laws.engine import Built, Unsound, build_over
from tests.laws.policies import GLOBAL, PolicyText

_MODES, _COUNTS = ("in", "out", "by"), (0, 1, 2, 3)
_DOOR = ToolSpec(
    name="door",
    origin=Origin(kind="host", tool="door"),
    schema={
        "type": "object",
        "properties": {
            "mode": {"enum": list(_MODES)},
            "count": {"type": "integer", "minimum": _COUNTS[0], "maximum": _COUNTS[-1]},
        },
        "required": ["mode"],
        "additionalProperties": False,
    },
    complete=True,
)
_CATALOG = Catalog(specs=(_DOOR,), complete=True)
_CONTEXT = {"hour": "string"}
_TESTS = (
    *(f'input.mode == "{mode}"' for mode in _MODES),
    *(f"input.count {op} {count}" for op in ("==", "<", ">=") for count in (1, 2)),
    "input.count is present",
    "not (input.count > 1)",
    'agent.name == "ann"',
    'session.role == "guest"',
    'context.hour == "late"',
    'context.hour != "early"',
)
_CHANGES = (
    "set input.count = at most 1",
    "set input.count = at least 2",
    "set input.count = 2",
    "set input.count = 1 if absent",
    "remove input.count",
    'set input.mode = "in"',
    'set input.mode = "out" set input.count = at most 2',
)
_LEAST = {"never allow": Verdict.ASK, "always deny": Verdict.DENY}


def _rule(random: random.Random, *verdicts: str) -> str:
    text = f"{random.choice(verdicts)} door"
    if random.random() < 0.8:
        text += f" when {random.choice(_TESTS)} {random.choice(('and', 'or'))} "
        text += random.choice(_TESTS)
    return text if random.random() < 0.6 else f"{text} unless {random.choice(_TESTS)}"


def _policy(random: random.Random) -> PolicyText:
    """Return rules with a claim about a door, sometimes with delegation, rewrite and layers."""
    default = random.choice(("deny", "deny", "ask", "allow"))
    kinds = ("allow", "ask", "deny") if default == "deny" else ("ask", "deny")
    body = [_rule(random, *kinds) for _ in range(random.randint(1, 3))]
    other = ['policy for agent "ann"', _rule(random, "ask", "deny")]
    if default == "deny" and random.random() < 0.4:
        body.append('delegate door to agent "ann"')
        other.append(_rule(random, "allow"))
    if random.random() < 0.4:
        when = f" when {random.choice(_TESTS)}" if random.random() < 0.5 else ""
        body.append(f"rewrite door{when} {random.choice(_CHANGES)}")
    claim = f"prove {random.choice(tuple(_LEAST))} door when {random.choice(_TESTS)}"
    files = [
        (GLOBAL, ("policy for every agent", f"default {default}", *body, claim)),
        ("agents/ann.policy", tuple(other)),
    ]
    return PolicyText(files=tuple(files if random.random() < 0.6 else files[:1]))


# What the rewrite leaves of a call does not meet the claim.
_REWRITTEN = PolicyText(
    files=(
        (
            GLOBAL,
            (
                "policy for every agent",
                "default deny",
                "allow door",
                "rewrite door set input.count = at most 1",
                "prove never allow door when input.count >= 2",
            ),
        ),
    )
)

# Only of an agent whose name is disguised is it unknown whether the claim is about it.
_DISGUISED = PolicyText(
    files=(
        (
            GLOBAL,
            (
                "policy for every agent",
                "default allow",
                'prove never allow door when agent.name == "ann"',
            ),
        ),
        ("agents/ann.policy", ('policy for agent "ann"', "deny door")),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """A policy, and whether some call of the universe breaks its claim."""

    built: Built
    is_broken: bool


@cache
def _cases() -> tuple[_Case, ...]:
    found: list[_Case] = []
    seed = random.Random(5)
    first = [_DISGUISED, _REWRITTEN]
    while len(found) < 80:
        policy = first.pop() if first else _policy(seed)
        try:
            built = build_over(policy, _CATALOG, context=_CONTEXT)
        except Unsound:
            continue
        found.append(_Case(built=built, is_broken=any(_breaks(built, *each) for each in _calls())))
    return tuple(found)


def _calls() -> Iterator[tuple[dict[str, Any], Caller, Facts]]:
    hours = (..., None, "late", "early", "other")
    names = ("ann", "ann\u200b", "zoe")
    every = itertools.product(_MODES, (None, *_COUNTS), names, ("owner", "guest"), hours)
    for mode, count, name, role, hour in every:
        input = {"mode": mode} if count is None else {"mode": mode, "count": count}
        caller = Caller(agent=name, role=role, scope=GuestScope(allowed_tools=("*",)))
        context = {} if hour is ... else {"hour": hour}
        yield input, caller, Facts(history=(), context=context)


def _breaks(built: Built, input: dict[str, Any], caller: Caller, facts: Facts) -> bool:
    """Return whether a call breaks the claim: as it runs, and by its verdict."""
    (invariant,) = built.program.policy.layers[0].invariants
    assert invariant.when is not None
    decision = answer(built.program, "door", input, caller, facts).decision
    if decision.verdict >= _LEAST[invariant.claim]:
        return False
    place = ConditionScope(
        declared=built.program.layer_plan(0, _DOOR).declared,
        absent_is_false=True,
        covering=False,
        test=compile_test,
    )
    test = compile_test(invariant.when, place)
    call = decision.call
    return test(Evaluation(_DOOR, call.input, caller=caller, facts=facts, slots=20)) is not False


def _mistakes() -> Iterator[str]:
    """Yield where a claim is said to hold that is broken, or the other way round."""
    for case in _cases():
        (proof,) = prove(case.built)
        if proof.status != ("broken" if case.is_broken else "holds"):
            yield f"{proof.status}\\n{case.built}"


def test_of_a_small_universe_claims_are_decided_as_by_trying_every_call() -> None:
    assert next(_mistakes(), None) is None
    assert 20 < sum(case.is_broken for case in _cases()) < 60


# ------------------------------------------------------------------ the bugs


def _with_layers(change: Callable[[tuple[Any, ...]], tuple[Any, ...]]) -> Any:
    """Return a formula that is built from other layers than the policy has."""

    def changed(claim: Any, spec: Any, layers: Any, reading: Any, **more: Any) -> Any:
        return require_violation(claim, spec, change(tuple(layers)), reading, **more)

    return changed


def _absence_flipped(real: Any) -> Any:
    def compiled(test: Any, scope: Any) -> Any:
        return real(test, replace(scope, absent_is_false=not scope.absent_is_false))

    return compiled


def _indeterminate_dropped(real: Any) -> Any:
    def table(clauses: Clauses, test: Any, among: Any, row: Any) -> Truths:
        holds = real(clauses, test, among, row).holds
        return Truths(holds, -holds)

    return table


def _exception_forgotten(real: Any) -> Any:
    def demands(when: Any, unless: Any, declared: Any, reading: Reading, **more: Any) -> Truths:
        found: Truths = real(when, None, declared, reading, **more)
        return found

    return demands


def _delegated_to_all(real: Any) -> Any:
    def applies(self: Any, layer: Any) -> int:
        found: int = self.clauses.true
        return found

    return applies


def _layer_forgotten(real: Any) -> Any:
    return _with_layers(lambda layers: layers[:1])


def _default_forgotten(real: Any) -> Any:
    return _with_layers(lambda layers: tuple(replace(one, default=None) for one in layers))


def _delegation_forgotten(real: Any) -> Any:
    return _with_layers(lambda layers: (replace(layers[0], delegated_to=()), *layers[1:]))


def _rewrites_forgotten(real: Any) -> Any:
    return _with_layers(lambda layers: tuple(replace(one, rewrites=()) for one in layers))


def _rewrite_said_to_match(real: Any) -> Any:
    def left_alone(*arguments: Any) -> Any:
        return [clause[1:] for clause in real(*arguments)]

    return left_alone


@pytest.mark.parametrize(
    ("part", "bug"),
    [
        ("symbolic.all_calls.compiled", _absence_flipped),
        ("symbolic.all_calls.table", _indeterminate_dropped),
        ("symbolic.violation.demands", _exception_forgotten),
        ("symbolic.all_calls.AllCalls.applies", _delegated_to_all),
        ("verify.proof.search.require_violation", _layer_forgotten),
        ("verify.proof.search.require_violation", _default_forgotten),
        ("verify.proof.search.require_violation", _delegation_forgotten),
        ("symbolic.violation.left_alone", _rewrite_said_to_match),
        ("verify.proof.search.require_violation", _rewrites_forgotten),
    ],
    ids=lambda part: part.__name__.strip("_") if callable(part) else "",
)
def test_a_prover_with_a_bug_is_found(
    monkeypatch: pytest.MonkeyPatch, part: str, bug: Callable[[Any], Any]
) -> None:
    _cases()
    monkeypatch.setattr(f"policy.{part}", bug(resolve_name(f"policy.{part}")))
    assert next(_mistakes(), None) is not None
