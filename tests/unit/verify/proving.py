"""Proves one claim of a small policy, or builds policies to compare, for tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from policy.catalog import Catalog, Origin, Resource, ToolSpec
from policy.decision import GenerationId
from policy.evaluation import ConditionScope, Evaluation, compile_test
from policy.model import Caller, Facts, ToolCall
from policy.program import Program
from policy.verify import Change, Proof, prove
from tests.laws.engine import Built, build_over
from tests.laws.policies import PolicyText

_ID = GenerationId(number=1, digest="sha256:0")


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What policies are compared by."""

    program: Program
    id: GenerationId = _ID

    def changes_since(self, _before: object) -> Iterator[Change]:
        """Yield nothing: these policies have neither settings nor pins."""
        return iter(())


def tool(name: str, fields: dict[str, Any], *resources: Resource) -> ToolSpec:
    """Return a tool whose fields are all required."""
    schema = {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }
    return ToolSpec(
        name=name, origin=Origin(tool=name), schema=schema, resources=resources, complete=True
    )


def proof(claim: str, *rules: str, specs: tuple[ToolSpec, ...]) -> Proof:
    """Return the proof of a claim in a policy that denies what none of the rules allows."""
    statements = ("policy for every agent", "default deny", *rules, claim)
    return layered_proof({"global.policy": statements}, specs=specs)


def layered_proof(files: Mapping[str, tuple[str, ...]], *, specs: tuple[ToolSpec, ...]) -> Proof:
    """Return the proof of the only claim of a policy, by the statements of its files."""
    (found,) = prove(built_of(files, specs=specs))
    return found


def built_of(files: Mapping[str, tuple[str, ...]], *, specs: tuple[ToolSpec, ...]) -> Built:
    """Return a policy of these files, over these tools alone."""
    text = PolicyText(files=tuple(files.items()))
    return build_over(text, Catalog(specs=specs, complete=True))


def met(
    built: Built,
    proof: Proof,
    spec: ToolSpec,
    input: Mapping[str, Any],
    *,
    caller: Caller,
    facts: Facts,
) -> bool:
    """Return whether a call may meet the conditions of a claim of the first layer."""
    claim, declared = proof.invariant, built.program.layer_plan(0, spec).declared
    slots = max(built.program.slots, claim.slots)
    input = ToolCall(tool=spec.name, input=input).input
    call = Evaluation(spec, input, caller=caller, facts=facts, slots=slots)
    for test, wanted in ((claim.when, True), (claim.unless, False)):
        place = ConditionScope(
            declared=declared, absent_is_false=wanted, covering=False, test=compile_test
        )
        if test is not None and compile_test(test, place)(call) is (not wanted):
            return False
    return True
