"""The tables `[plugins.NAME]`: what plugins are granted, and which of them Placet runs."""

from __future__ import annotations

import posixpath
from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    StringConstraints,
    field_validator,
    model_validator,
)

from policy.diagnostics import visible
from policy.generation.mcp_tables import Value, is_variable, placed_values
from policy.generation.plugin_settings import PluginSettings
from policy.generation.sandbox_tables import ReachTable, reach_of
from policy.generation.setting_types import STRICT


def _granted(value: Any) -> Any:
    # Imported only for a configuration that grants something.
    from policy.capabilities import pattern_problem

    problem = pattern_problem(value)
    if problem is not None:
        raise ValueError(problem)
    return value


Granted = Annotated[str, BeforeValidator(_granted)]
_Digest = Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]
_Folder = Annotated[str, StringConstraints(pattern=r"^[^\x00]+$", max_length=1_000)]


class PluginTable(BaseModel):
    """One plugin."""

    model_config = STRICT

    grant: list[Granted] = []
    path: _Folder | None = None
    digest: _Digest | None = None
    fuel: Annotated[int, Field(ge=1_000, le=10**15)] = PluginSettings().fuel
    env: dict[str, Value] = {}
    sandbox: ReachTable = ReachTable()

    @field_validator("env")
    @classmethod
    def _are_variables(cls, env: dict[str, Any]) -> dict[str, Any]:
        wrong = next((name for name in env if not is_variable(name)), None)
        if wrong is not None:
            raise ValueError(f"`{visible(wrong, 80)}` is not the name of an environment variable")
        return env

    @model_validator(mode="after")
    def _is_pinned(self) -> Self:
        if self.path is not None and self.digest is None:
            raise ValueError("`path` needs a `digest` beside it: `placet plugins` prints it")
        if self.path is None and self.model_fields_set - {"grant"}:
            first = min(self.model_fields_set - {"grant"})
            raise ValueError(
                f"`{first}` is for a plugin that Placet runs: name its folder in `path`"
            )
        return self


def plugin_settings(table: PluginTable, root: str) -> PluginSettings:
    """Return what a table says; paths are relative to `root`."""
    path = table.path
    return PluginSettings(
        grant=tuple(dict.fromkeys(table.grant)),
        path=None if path is None else posixpath.normpath(posixpath.join(root, path)),
        digest=table.digest,
        reach=reach_of(table.sandbox, root),
        fuel=table.fuel,
        env=placed_values(table.env, root),
    )
