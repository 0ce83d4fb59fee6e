"""The handlers of a plugin's tools, from its manifest and its parts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from policy.capabilities import (
    CapabilityDeclaration,
    CommandCapability,
    HttpRouteCapability,
    PluginManifest,
    PluginRefused,
    ToolCapability,
    key_of,
)
from policy.plugins.extension import ExtensionHandler
from policy.tools import Authored, handler_for

_PARAMETER = re.compile(r"\{[^}]*\}")


def handlers_of(
    manifest: PluginManifest,
    *,
    tools: Mapping[str, Authored],
    targets: Mapping[str, Any],
    registered: Mapping[str, PluginManifest],
) -> dict[str, ExtensionHandler]:
    """Return the handler of each declared tool by its key; raise PluginRefused with all problems.

    `registered` are the manifests of plugins that are registered already, by identifier.
    """
    declared = {one.name: one for one in manifest.capabilities if isinstance(one, ToolCapability)}
    others = {key_of(one) for one in manifest.capabilities} - {f"tool:{n}" for n in declared}
    problems = [f"the tool `{name}` has no handler" for name in declared if name not in tools]
    problems += [f"the tool `{name}` is not declared" for name in tools if name not in declared]
    problems += [f"`{key}` is not declared" for key in targets if key not in others]
    if manifest.id in registered:
        problems.append(f"a plugin called `{manifest.id}` is registered already")
    problems += _conflicts(manifest, registered)
    if problems:
        raise PluginRefused(*problems)
    try:
        return {
            f"tool:{name}": ExtensionHandler(manifest.id, one, handler_for(tools[name]))
            for name, one in declared.items()
        }
    except (TypeError, ValueError) as error:
        raise PluginRefused(str(error)) from error


def _conflicts(manifest: PluginManifest, registered: Mapping[str, PluginManifest]) -> list[str]:
    """Return the names that another plugin has declared already; tools never conflict."""
    taken = {
        name: other
        for other, known in registered.items()
        for one in known.capabilities
        for name in _global_names(one)
    }
    return [
        f"{name} is declared by the plugin `{taken[name]}` already"
        for one in manifest.capabilities
        for name in _global_names(one)
        if name in taken
    ]


def _global_names(declaration: CapabilityDeclaration) -> tuple[str, ...]:
    """Return the names of a capability that no other plugin may have."""
    match declaration:
        case ToolCapability():
            return ()
        case HttpRouteCapability(path=path, methods=methods):
            # Routes that differ only in the names of their parameters are the same.
            route = _PARAMETER.sub("{}", path)
            routes = tuple(f"the route `{method} {route}`" for method in methods)
            return (f"`{key_of(declaration)}`", *routes)
        case CommandCapability(aliases=aliases):
            return (f"`{key_of(declaration)}`", *(f"`command:{alias}`" for alias in aliases))
        case _:
            return (f"`{key_of(declaration)}`",)
