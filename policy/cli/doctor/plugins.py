"""The plugins that a policy has Placet run: whether they are as reviewed, and what runs them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from policy.capabilities import PluginRefused
from policy.diagnostics import has_errors
from policy.generation import PluginSettings, configuration, read_folder
from policy.plugins import reviewed

_NO_RUNTIME = "it needs the extra `wasm`: install placet[wasm]"


def plugins_of(policy: Path) -> list[dict[str, Any]]:
    """Return each plugin with a `path` as a record; none is run.

    `runtime` is None, and `problem` says why, for one that a service would not run.
    """
    if not policy.exists():
        return []
    found = configuration(read_folder(policy))
    if has_errors(found.diagnostics):
        return []
    plugins = sorted(found.settings.plugins.items())
    return [_record(name, settings) for name, settings in plugins if settings.path is not None]


def _record(name: str, settings: PluginSettings) -> dict[str, Any]:
    found: dict[str, Any] = {"name": name, "path": settings.path, "runtime": None, "problem": None}
    try:
        runtime = reviewed(name, settings).manifest.runtime
    except (PluginRefused, OSError) as error:
        return {**found, "problem": str(error)}
    kind = None if runtime is None else runtime.type
    if kind == "wasm" and find_spec("extism") is None:
        return {**found, "problem": _NO_RUNTIME}
    return {**found, "runtime": kind}
