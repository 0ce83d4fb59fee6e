"""`PLACET_NO_FAST`: which fast paths loading and deciding take.

Each fast path has the result of the slow one; switch it off to compare them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, fields, replace

import click

from policy.generation import Builder
from policy.program import ALL_SHORTCUTS, Shortcuts
from policy.syntax import Engine

VARIABLE = "PLACET_NO_FAST"
# Names of removed fast paths, accepted for one release.
_FORMER = ("cache", "words", "modules", "records", "admission")


@dataclass(frozen=True, slots=True, kw_only=True)
class FastPaths:
    """Which fast paths are taken; the fields are parameters of `PolicyStore` and `read_policy`."""

    remembering: bool
    engine: Engine
    shortcuts: Shortcuts

    def builder(self) -> Builder:
        """Return a builder with these settings."""
        return Builder(remembering=self.remembering, engine=self.engine, shortcuts=self.shortcuts)


def fast_paths() -> FastPaths:
    """Return the fast paths that the environment leaves on; raise UsageError for unknown names."""
    shortcuts = [field.name for field in fields(ALL_SHORTCUTS)]
    off = _switched_off((*_FORMER, "remembering", "prebuilt", *shortcuts))
    return FastPaths(
        remembering="remembering" not in off,
        engine="lark" if "prebuilt" in off else "tables",
        shortcuts=replace(ALL_SHORTCUTS, **{name: name not in off for name in shortcuts}),
    )


def _switched_off(known: tuple[str, ...]) -> frozenset[str]:
    named = (name.strip() for name in os.environ.get(VARIABLE, "").split(","))
    off = frozenset(name for name in named if name)
    if unknown := sorted(off.difference(known)):
        from policy.diagnostics import visible

        raise click.UsageError(
            f"{VARIABLE} names '{visible(unknown[0], 80)}'; it takes {', '.join(known)}."
        )
    return off
