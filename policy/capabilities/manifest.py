"""The manifest of a plugin, read and checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    field_validator,
    model_validator,
)

from policy.capabilities.declaration import (
    Line,
    PluginRefused,
    Tagged,
    Text,
    ToolCapability,
    key_of,
    problems_of,
)
from policy.capabilities.grant import pattern_problem
from policy.capabilities.runtime import PluginAccess, PluginRuntime
from policy.catalog import Origin, identifier_problem

# A name that begins or ends in `_` would be ambiguous in `ext__plugin__tool`.
PluginId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9_\-]{0,62}[a-z0-9])?$")]


class PluginManifest(BaseModel):
    """A plugin's manifest: its identity, its capabilities, and the grants that it requests.

    `wants` are patterns in the form of grants; by default everything it declares. `runtime` says
    how Placet runs it, and `access` what it needs then; without a runtime, the host application
    registers it together with its handlers.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    id: PluginId
    version: Line
    description: Text = ""
    capabilities: Annotated[tuple[Tagged, ...], Field(strict=False)] = ()
    wants: Annotated[tuple[Line, ...] | None, Field(strict=False)] = None
    runtime: PluginRuntime | None = None
    access: PluginAccess = PluginAccess()

    @field_validator("id")
    @classmethod
    def _may_have_tools(cls, value: str) -> str:
        problem = identifier_problem(Origin(kind="ext", server=value, tool="t"))
        if problem is not None:
            raise ValueError(problem)
        return value

    @field_validator("wants")
    @classmethod
    def _are_patterns(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        for pattern in value or ():
            problem = pattern_problem(pattern)
            if problem is not None:
                raise ValueError(problem)
        return value

    @model_validator(mode="after")
    def _names_each_once(self) -> Self:
        keys = [key_of(declaration) for declaration in self.capabilities]
        twice = sorted({key for key in keys if keys.count(key) > 1})
        if twice:
            raise ValueError(f"declared more than once: {', '.join(twice)}")
        return self

    @model_validator(mode="after")
    def _runs_only_tools(self) -> Self:
        if self.runtime is None:
            return self
        others = [key_of(one) for one in self.capabilities if not isinstance(one, ToolCapability)]
        if others:
            raise ValueError(f"a plugin with a `runtime` contributes tools alone, not {others[0]}")
        without = [one.name for one in self.tools if one.input_schema is None]
        if without:
            raise ValueError(f"the tool `{without[0]}` needs an `input_schema`")
        return self

    @property
    def tools(self) -> tuple[ToolCapability, ...]:
        """The tools that it declares."""
        return tuple(one for one in self.capabilities if isinstance(one, ToolCapability))

    @property
    def wanted(self) -> tuple[str, ...]:
        """The patterns of the grants that it requests."""
        if self.wants is not None:
            return self.wants
        return tuple(key_of(declaration) for declaration in self.capabilities)


def manifest_of(value: Mapping[str, Any]) -> PluginManifest:
    """Return a manifest as read from JSON or TOML; raise PluginRefused if it is invalid."""
    try:
        return PluginManifest.model_validate(dict(value))
    except ValidationError as error:
        raise PluginRefused(*problems_of(error)) from None
