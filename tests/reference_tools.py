"""The reference evaluator's tool patterns: which tools a rule, a set or a label names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from policy.catalog import ToolSpec
from policy.syntax import tree
from tests.reference_values import glob_fits


class Scene(Protocol):
    """The tool in question, and the sets of tools that a layer names."""

    @property
    def spec(self) -> ToolSpec: ...

    @property
    def tools(self) -> Mapping[str, tree.Tools]: ...


def tools_fit(tools: tree.Tools, scene: Scene, *, grants: bool) -> bool:
    """Fit the tools; an exception takes where its rule gives, and gives where it takes."""
    return any(ref_fits(ref, scene, grants=grants) for ref in tools.included) and not any(
        ref_fits(ref, scene, grants=not grants) for ref in tools.excluded
    )


def ref_fits(ref: tree.ToolRef, scene: Scene, *, grants: bool) -> bool:
    if ref.origin is None and ref.pattern in scene.tools:
        return tools_fit(scene.tools[ref.pattern], scene, grants=grants)
    origin = scene.spec.origin
    if ref.origin is not None:
        server, _, tool = ref.pattern.partition("/")
        # Who writes an origin means tools of servers: wildcards are narrow without one alone.
        return (
            origin.kind == ref.origin
            and glob_fits(server, origin.server)
            and glob_fits(tool, origin.tool)
        )
    return name_fits(ref.pattern, scene.spec, grants=grants)


def name_fits(pattern: str, spec: ToolSpec, *, grants: bool) -> bool:
    if not glob_fits(pattern, spec.name):
        return False
    origin = spec.origin
    if not grants or pattern == "*" or not _wild(pattern) or origin.kind == "host":
        return True
    spelled = {"mcp": f"{origin.server}__", "ext": f"ext__{origin.server}__"}[origin.kind]
    return pattern.startswith(spelled)


def _wild(pattern: str) -> bool:
    return "*" in pattern or "?" in pattern
