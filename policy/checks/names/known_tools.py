"""The known tools that a selector matches, with what a layer's `tool` statements add to them.

What a tool can never do, and what its schema never lets through, makes conditions about it that
no call can meet.
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
    """A tool's definition, with what the `tool` statements in force in a layer add to it."""

    spec: ToolSpec
    resources: tuple[Resource, ...]
    complete: bool
    view: SchemaView = field(repr=False, compare=False)

    def may(self, verb: tree.Verb) -> bool:
        """Tell whether a call of the tool can have such an effect, seen or unseen."""
        if not self.complete or self.spec.unseen:
            return True
        return any(resource.verb in (verb, "runs") for resource in self.resources)

    def surely(self, verb: tree.Verb) -> bool:
        """Tell whether every call of the tool has such an effect, by a required text argument."""
        return any(
            resource.verb == verb
            and resource.only_for is None
            and "*" not in resource.steps
            and self._is_text(resource.steps)
            for resource in self.resources
        )

    def is_always_there(self, steps: Steps) -> bool:
        """Tell whether every call that the schema lets through has the field."""
        info = self.view.lookup(steps)
        if not info.known or info.kinds & {"any", "null"}:
            return False
        return info.required or (len(steps) == 1 and self.default(steps) is not None)

    def default(self, steps: Steps) -> Any:
        """Return what is filled in where the field is missing, None if nothing is."""
        place = self.place(steps)
        return None if place is None else place.get("default")

    def place(self, steps: tuple[Step, ...]) -> Schema | None:
        """Return what the schema says of a field, None if nothing does."""
        return self.view.place(steps)

    def fact(self, fact: Fact) -> Value | None:
        """Return what a fact is in every call of the tool, None where calls can differ.

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
        kinds = self.view.lookup(steps).kinds
        return kinds == {"string"} and self.is_always_there(steps)


# The known tools that a selector fits, and all that it fits; None where there may be others.
Subject: TypeAlias = tuple[tuple[KnownTool, ...], tuple[KnownTool, ...] | None]


@dataclass(slots=True, kw_only=True, eq=False)
class ToolKnowledge:
    """What one layer knows of the tools; what was worked out once is kept."""

    declared: tuple[CheckedDeclaration, ...]
    world: CheckContext
    _kept: dict[str, KnownTool] = field(default_factory=dict)
    _subjects: dict[ToolSelector, Subject] = field(default_factory=dict)
    # The declarations of each tool by its name, once they were asked for.
    _of_tool: dict[str, list[CheckedDeclaration]] | None = None

    def fitting(self, selector: ToolSelector) -> tuple[KnownTool, ...]:
        """Return the known tools that a selector fits."""
        return self.subject(selector)[0]

    def all_of(self, selector: ToolSelector) -> tuple[KnownTool, ...] | None:
        """Return the tools that a selector fits, None where it may fit others too."""
        return self.subject(selector)[1]

    def subject(self, selector: ToolSelector) -> Subject:
        """Return what is known of the tools that a selector fits."""
        found = self._subjects.get(selector)
        if found is None:
            fitting = tuple([self._known(spec) for spec in self.world.tools.fitting(selector)])
            are_all = self._are_all(selector)
            found = self._subjects[selector] = (fitting, fitting if are_all else None)
        return found

    def _are_all(self, selector: ToolSelector) -> bool:
        """Tell whether a selector fits no tools but those that are known."""
        catalog = self.world.catalog
        names = selector.exact_names()
        return catalog.complete or (
            names is not None and all(catalog.is_settled(name) for name in names)
        )

    def _known(self, spec: ToolSpec) -> KnownTool:
        found = self._kept.get(spec.name)
        if found is None:
            view = self.world.catalog.views.of(spec.schema)
            found = self._kept[spec.name] = _known(spec, self._declarations(spec), view)
        return found

    def _declarations(self, spec: ToolSpec) -> list[CheckedDeclaration]:
        """Return the declarations that fit a tool of the catalogue, in their order."""
        if self._of_tool is None:
            self._of_tool = {}
            for declaration in self.declared:
                for fitting in self.world.tools.fitting(declaration.tools):
                    self._of_tool.setdefault(fitting.name, []).append(declaration)
        return self._of_tool.get(spec.name, [])


def field_steps(value: Value) -> Steps | None:
    """Return the steps from the input to a field, None where the value is none of one object."""
    steps: list[str] = []
    while isinstance(value, FieldOf):
        steps.append(value.name)
        value = value.base
    if not steps or not isinstance(value, Fact) or value.path != ("input",):
        return None
    return tuple(reversed(steps))


def _known(spec: ToolSpec, fitting: list[CheckedDeclaration], view: SchemaView) -> KnownTool:
    added = (resource for declaration in fitting for resource in declaration.resources)
    return KnownTool(
        spec=spec,
        resources=tuple(dict.fromkeys((*spec.resources, *added))),
        complete=spec.complete or any(declaration.complete for declaration in fitting),
        view=view,
    )
