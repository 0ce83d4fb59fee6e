"""Compares a plugin's declarations with its grants: active, withheld, granted in vain."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from policy.capabilities.declaration import key_of
from policy.capabilities.grant import Grants, matches
from policy.capabilities.manifest import PluginManifest
from policy.diagnostics import visible


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What one plugin declares and what it is granted, each as `kind:name`.

    `undeclared` are the patterns that match none of its capabilities; `unwanted` are the
    capabilities that it declares but does not request.
    """

    plugin: str
    active: tuple[str, ...]
    withheld: tuple[str, ...]
    undeclared: tuple[str, ...]
    unwanted: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """One sentence for every grant without effect."""
        return tuple(
            f"`{visible(pattern, 120)}` is granted to {self.plugin}, which declares no such "
            "capability"
            for pattern in self.undeclared
        )


def compare(manifest: PluginManifest, grants: Grants) -> Difference:
    """Return the difference between what a plugin declares and what it is granted."""
    declared = manifest.capabilities
    wanted = Grants(manifest.wanted)
    return Difference(
        plugin=manifest.id,
        active=tuple(key_of(one) for one in declared if grants.cover(one)),
        withheld=tuple(key_of(one) for one in declared if not grants.cover(one)),
        undeclared=tuple(
            pattern
            for pattern in grants.patterns
            if not any(matches(pattern, one) for one in declared)
        ),
        unwanted=tuple(key_of(one) for one in declared if not wanted.cover(one)),
    )


def table(differences: Iterable[Difference]) -> str:
    """Return differences as lines for people: plugin, capability, and whether it is active."""
    rows = [row for one in differences for row in _rows(one)]
    if not rows:
        return "no plugins\n"
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    return "".join(f"{row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]}\n" for row in rows)


def _rows(one: Difference) -> list[tuple[str, str, str]]:
    states = {
        **dict.fromkeys(one.active, "granted"),
        **dict.fromkeys(one.withheld, "withheld: not granted"),
    }
    for key in set(one.unwanted) & set(one.withheld):
        states[key] = "withheld: not granted, and not requested"
    rows = [(one.plugin, key, states[key]) for key in sorted(states)]
    vain = [(one.plugin, visible(key, 120), "granted, but not declared") for key in one.undeclared]
    return [*rows, *vain] or [(one.plugin, "", "declares nothing")]
