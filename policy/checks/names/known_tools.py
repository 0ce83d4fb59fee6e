"""The known tools that a selector matches, with what a layer's `tool` statements add to them.

A condition on an effect that a tool never has, or on a value that its schema never accepts, can
never hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from policy.catalog import Resource, Schema, SchemaView, Step, ToolSelector, ToolSpec
from policy.checks.checked import CheckedDeclaration, Constant, Fact, FieldOf, Value
from policy.checks.context import CheckContext
from policy.syntax import tree

Steps = tuple[str, ...]

_EFFECTS: Mapping[str, tree.Verb] = {
    "reads": "reads",
    "writes": "writes",
    "hosts": "connects",
    "commands": "runs",
    "recipients": "sends",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownTool:
    """A tool's definition, with the additions of the `tool` statements in force in a layer."""

    spec: ToolSpec
    resources: tuple[Resource, ...]
    complete: bool
    view: SchemaView = field(repr=False, compare=False)

    def may(self, verb: tree.Verb) -> bool:
        """Return whether a call of the tool can have such an effect, visible or not."""
        if not self.complete or self.spec.unseen:
            return True
        return any(resource.verb in (verb, "runs") for resource in self.resources)

    def surely(self, verb: tree.Verb) -> bool:
        """Return whether every call has such an effect, by a required string argument."""
        return any(
            resource.verb == verb
            and resource.only_for is None
            and not resource.uri
            and "*" not in resource.steps
            and self._is_text(resource.steps)
            for resource in self.resources
        )

    def is_always_there(self, steps: Steps) -> bool:
        """Return whether every call that the schema accepts has the field."""
        return self.view.is_always_there(steps)

    def default(self, steps: Steps) -> Any:
        """Return the default of a missing field, None if it has none."""
        node = self.node(steps)
        return None if node is None else node.get("default")

    def node(self, steps: tuple[Step, ...]) -> Schema | None:
        """Return the schema of a field, None if it has none."""
        return self.view.node(steps)

    def fact(self, fact: Fact) -> Value | None:
        """Return the value of a fact in every call of the tool, None where calls can differ.

        A fact that the tool does not have is the constant null.
        """
        match fact.path:
            case ("tool", "name"):
                return Constant(value=self.spec.base)
            case ("tool", "origin"):
                return Constant(value=self.spec.origin.kind)
            case ("tool", "server"):
                return Constant(value=self.spec.origin.server or None)
            case ("tool", "category") if self.spec.category is not None:
                return Constant(value=self.spec.category)
            case ("tool", "read_only") if self.spec.read_only is not None:
                return Constant(value=self.spec.read_only)
            case ("tool", "destructive") if self.spec.destructive is not None:
                return Constant(value=self.spec.destructive)
            case ("tool", "idempotent") if self.spec.idempotent is not None:
                return Constant(value=self.spec.idempotent)
            case ("call", name) if name in _EFFECTS and not self.may(_EFFECTS[name]):
                return Constant(value=())
            case _:
                return None

    def _is_text(self, steps: Steps) -> bool:
        types = self.view.lookup(steps).types
        return types == {"string"} and self.is_always_there(steps)


# The known tools that a selector matches; the same again as all it matches, or None where it may
# match others too.
Subject: TypeAlias = tuple[tuple[KnownTool, ...], tuple[KnownTool, ...] | None]


@dataclass(slots=True, kw_only=True, eq=False)
class ToolKnowledge:
    """What one layer knows of the tools, cached."""

    declared: tuple[CheckedDeclaration, ...]
    check: CheckContext
    _kept: dict[str, KnownTool] = field(default_factory=dict)
    _subjects: dict[ToolSelector, Subject] = field(default_factory=dict)
    # The declarations of each tool by its name, computed on first use.
    _of_tool: dict[str, list[CheckedDeclaration]] | None = None

    def matching(self, selector: ToolSelector) -> tuple[KnownTool, ...]:
        """Return the known tools that a selector matches."""
        return self.subject(selector)[0]

    def all_of(self, selector: ToolSelector) -> tuple[KnownTool, ...] | None:
        """Return the tools that a selector matches, None where it may match others too."""
        return self.subject(selector)[1]

    def resources(self, selector: ToolSelector) -> tuple[Resource, ...]:
        """Return the resources of the tools that a selector matches, known or only declared."""
        names = set(selector.exact_names() or ())
        return (
            *(resource for tool in self.matching(selector) for resource in tool.resources),
            *(
                resource
                for one in self.declared
                if not names.isdisjoint(one.tools.exact_names() or ())
                for resource in one.resources
            ),
        )

    def subject(self, selector: ToolSelector) -> Subject:
        """Return what is known of the tools that a selector matches."""
        found = self._subjects.get(selector)
        if found is None:
            matching = tuple([self._known(spec) for spec in self.check.tools.matching(selector)])
            are_all = self._are_all(selector)
            found = self._subjects[selector] = (matching, matching if are_all else None)
        return found

    def _are_all(self, selector: ToolSelector) -> bool:
        """Return whether a selector matches known tools only."""
        catalog = self.check.catalog
        names = selector.exact_names()
        return catalog.complete or (
            names is not None and all(catalog.is_settled(name) for name in names)
        )

    def _known(self, spec: ToolSpec) -> KnownTool:
        found = self._kept.get(spec.name)
        if found is None:
            view = self.check.catalog.views.of(spec.schema)
            found = self._kept[spec.name] = _known(spec, self._declarations(spec), view)
        return found

    def _declarations(self, spec: ToolSpec) -> list[CheckedDeclaration]:
        """Return the declarations that match a tool of the catalogue, in their order."""
        if self._of_tool is None:
            self._of_tool = {}
            for declaration in self.declared:
                for matching in self.check.tools.matching(declaration.tools):
                    self._of_tool.setdefault(matching.name, []).append(declaration)
        return self._of_tool.get(spec.name, [])


def field_steps(value: Value) -> Steps | None:
    """Return the steps from the input to a field, None for any other value."""
    steps: list[str] = []
    while isinstance(value, FieldOf):
        steps.append(value.name)
        value = value.base
    if not steps or not isinstance(value, Fact) or value.path != ("input",):
        return None
    return tuple(reversed(steps))


def _known(spec: ToolSpec, matching: list[CheckedDeclaration], view: SchemaView) -> KnownTool:
    added = (resource for declaration in matching for resource in declaration.resources)
    return KnownTool(
        spec=spec,
        resources=tuple(dict.fromkeys((*spec.resources, *added))),
        complete=spec.complete or any(declaration.complete for declaration in matching),
        view=view,
    )
