"""The tools that programs run under one policy, and the definition of each that policies know."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol
from weakref import WeakSet

from policy.catalog import (
    Catalog,
    CatalogError,
    RunningTool,
    ToolSpec,
    builtin_catalog,
    completed,
    contradictions,
    schema_differences,
)

_DECLARED = (
    "origin", "resources", "complete", "unseen", "requires_confirmation", "exec_class", "category",
    "read_only", "destructive", "idempotent", "open_fields", "output",
)  # fmt: skip


class Registrar(Protocol):
    """What runs tools: the registry of a service."""

    def running(self) -> tuple[RunningTool, ...]:
        """Return the tools that it runs now."""
        ...


class RunningTools:
    """The owner of running tools. A service that is no longer used does not count.

    `given` is the catalogue that the store was made with: a list, like those of the policy.
    """

    def __init__(self, given: Catalog) -> None:
        builtin = builtin_catalog()
        self._listed = {
            spec.name: spec for spec in given.specs if builtin.get(spec.name) is not spec
        }
        self._registrars: WeakSet[Registrar] = WeakSet()

    def add(self, registrar: Registrar) -> None:
        """Count the tools of a registry from now on."""
        self._registrars.add(registrar)

    def definitions(self, tools: Iterable[RunningTool], *, by: Registrar) -> tuple[ToolSpec, ...]:
        """Return the definitions to add: the tools' own, with what the given catalogue adds.

        A tool that another service runs already is known by that one's definition. Raises
        CatalogError for a tool that this catalogue, or another service, defines otherwise.
        """
        tools = tuple(tools)
        _require_unlike_names(tools)
        found = (self._definition(tool, by) for tool in tools)
        return tuple(spec for spec in found if spec is not None)

    def _definition(self, tool: RunningTool, by: Registrar) -> ToolSpec | None:
        own, others = tool.spec, self._of_others(tool.spec.name, by)
        for other in others:
            _require_none(tool, other.defined_at, _differences(other.spec, own))
        if others:
            return None
        listed = self._listed.get(own.name)
        if listed is None or own.origin.kind != "host" or listed.origin != own.origin:
            return own
        _require_none(tool, "the catalogue of the policy store", contradictions(listed, own))
        return completed(own, listed)

    def _of_others(self, name: str, by: Registrar) -> list[RunningTool]:
        return [
            tool
            for registrar in self._registrars
            if registrar is not by
            for tool in registrar.running()
            if tool.spec.name == name
        ]


def _require_unlike_names(tools: Iterable[RunningTool]) -> None:
    places: dict[str, str] = {}
    for tool in tools:
        name, place = tool.spec.name, tool.defined_at
        if name in places:
            raise CatalogError(f"two tools are called `{name}`: {places[name]} and {place}")
        places[name] = place


def _differences(one: ToolSpec, other: ToolSpec) -> tuple[str, ...]:
    """Return how the tools of two services differ, apart from their descriptions for models."""
    unlike = (
        f"`{name}` differs" for name in _DECLARED if getattr(one, name) != getattr(other, name)
    )
    return (*schema_differences(one.schema, other.schema), *unlike)


def _require_none(tool: RunningTool, place: str, differences: tuple[str, ...]) -> None:
    if differences:
        raise CatalogError(
            f"`{tool.spec.name}` is not the same tool in {tool.defined_at} and in {place}: "
            f"{'; '.join(differences)}"
        )
