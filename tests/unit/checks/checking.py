"""Checks and merges policies given as text, for the tests of this folder."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from typing import Any

from policy.catalog import Catalog, builtin_catalog, read_listing
from policy.checks import Checked, CheckedPolicy, PolicySources, check
from policy.diagnostics import Diagnostic
from policy.generation import read_settings, shipped_profiles
from policy.layers import merge
from policy.model import Source
from policy.syntax import parse

HEAD = "policy for every agent\ndefault deny\n"


def checked(
    files: Mapping[str, str] | str, *, catalog: Catalog | None = None, **more: Any
) -> Checked:
    """Check policy files, or the body of the one global file; parsing them must succeed."""
    named = {"global.policy": HEAD + files} if isinstance(files, str) else files
    parsed = [parse(Source(name=n, text=t)) for n, t in named.items() if n.endswith(".policy")]
    assert [d for p in parsed for d in p.diagnostics] == []
    profiles = more.pop("profiles", shipped_profiles())
    trees = tuple(p.tree for p in parsed)
    sources = PolicySources(files=trees, profiles=profiles, **more)
    return check(sources, catalog or builtin_catalog())


def all_of(
    files: Mapping[str, str] | str, *, catalog: Catalog | None = None, **more: Any
) -> list[Diagnostic]:
    """Return every diagnostic of the policy, those between its layers too."""
    found = checked(files, catalog=catalog, **more)
    return [*found.diagnostics, *merge(found.policies, catalog or builtin_catalog()).diagnostics]


def codes_of(files: Mapping[str, str] | str, **more: Any) -> list[str]:
    """Return the codes of every diagnostic; other files than policies are data or a catalogue."""
    if not isinstance(files, str):
        data = {n: json.loads(t) for n, t in files.items() if n.endswith(".json")}
        listed = read_listing(data.pop("catalog.json", []), reviewed=True).specs
        settings = tomllib.loads(files.get("placet.toml", ""))
        groups = settings.get("approvals", {}).get("groups", {})
        toml = Source(name="placet.toml", text=files.get("placet.toml", ""))
        retention = read_settings(toml, root="/")[0].history.retention
        catalog = builtin_catalog().with_tools(listed)
        more = {
            "data": data,
            "catalog": catalog,
            "groups": groups,
            "retention": retention,
            **more,
        }
    return [d.code for d in all_of(files, **more)]


def only(files: Mapping[str, str] | str, **more: Any) -> Diagnostic:
    """Return the one diagnostic there is."""
    (found,) = all_of(files, **more)
    return found


def everyone(body: str, **more: Any) -> CheckedPolicy:
    """Return the global layer of a policy without errors."""
    found = checked(body, **more)
    assert [d for d in found.diagnostics if d.severity == "error"] == []
    return found.policies[0]
