"""`AnyTool`: reads conditions for every call of every tool of which no more than a name is known.

Its fields may have any value, its arguments may be any resources, and no fact of it is known. So a
formula that cannot be satisfied has no call, whatever tool has the name one day.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass, replace
from typing import Any

from policy.catalog import VERBS, Resource, SchemaView, ToolSpec
from policy.checks import LayerKey, checked
from policy.evaluation import DeclaredResources
from policy.program import RulePlan
from policy.solving import Clauses
from policy.symbolic.all_calls import AllCalls
from policy.symbolic.reading import Scope
from policy.symbolic.related_tests import RelatedTests
from policy.symbolic.resource_facts import require_related, resource_meaning
from policy.symbolic.subjects import meaning_of
from policy.symbolic.truths import Truths, unknown


def any_tool(spec: ToolSpec) -> ToolSpec:
    """Return the definition of a tool of this name and origin that may do anything."""
    return replace(
        spec,
        schema={"type": "object"},
        resources=tuple(Resource(verb=verb, steps=(verb,)) for verb in VERBS),
        unseen=True,
        open_fields=True,
        # Else it would be asked about all calls, until somebody has reviewed it.
        pinned=True,
    )


class AnyTool:
    """A reading of the conditions about a tool that `any_tool` returned."""

    def __init__(
        self,
        clauses: Clauses,
        spec: ToolSpec,
        *,
        tests: Iterable[checked.Test],
        layers: Iterable[LayerKey],
        slots: int,
    ) -> None:
        self.clauses = clauses
        tests = tuple(tests)
        view = SchemaView(spec.schema)
        self._calls = AllCalls(clauses, spec, view, tests=tests, layers=layers, slots=slots)
        self._related = RelatedTests()
        self._resources: dict[int, Truths] = {}
        self._facts: dict[tuple[checked.Test, bool], Truths] = {}
        # Which roles may call a tool depends on what it does.
        self._admitted = clauses.variable()

    def leaf(self, test: checked.Test, scope: Scope) -> Truths:
        """Return the truth of a test that is no combination of others."""
        if isinstance(test, checked.ResourceTest):
            return self._of_resources(test, scope)
        if _reads_the_tool(test):
            key = (meaning_of(test), scope.absent_is_false)
            found = self._facts.get(key)
            if found is None:
                found = self._facts[key] = unknown(self.clauses)
            return found
        return self._calls.leaf(test, scope)

    def covered(self, plan: RulePlan, declared: DeclaredResources) -> int:
        """Return the literal that the effects of a call may all be covered by an `allow`."""
        return self.clauses.true

    def applies(self, layer: LayerKey) -> int:
        """Return the literal that a layer applies to the caller."""
        return self._calls.applies(layer)

    def admitted(self) -> int:
        """Return the literal that the caller's role does not deny the call."""
        return self._admitted

    def _of_resources(self, test: checked.ResourceTest, scope: Scope) -> Truths:
        if test.operand is None and test.permits:
            return Truths(self.clauses.true, self.clauses.false)  # a permission without a limit
        number = self._related.number(resource_meaning(test, scope), scope.declared)
        found = self._resources.get(number)
        if found is None:
            found = unknown(self.clauses)
            require_related(self.clauses, self._related, self._resources, number, found)
            self._resources[number] = found
        return found


def _reads_the_tool(node: Any) -> bool:
    """Return whether a test reads a fact of the tool itself, such as its category."""
    match node:
        case checked.Fact(path=("tool", *_)):
            return True
        case tuple():
            return any(map(_reads_the_tool, node))
        case _ if type(node).__module__ == checked.__name__ and is_dataclass(node):
            return any(_reads_the_tool(getattr(node, part.name)) for part in fields(node))
        case _:
            return False
