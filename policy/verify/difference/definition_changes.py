"""What changed in the definition of a tool: its fields, and what it declares that it accesses."""

from __future__ import annotations

from collections.abc import Iterator

from policy.catalog import ToolSpec
from policy.program import Program
from policy.verify.difference.changes import Change


def definition_changes(name: str, old: Program, new: Program) -> Iterator[Change]:
    """Yield how a tool's definition changed; what that does is in its verdicts."""
    before, after = spec_of(old, name), spec_of(new, name)
    if before is None or after is None:
        verb = "added" if before is None else "removed"
        yield Change(kind="tool", direction="none", what=f"{verb}: the tool `{name}`")
        return
    if before.schema != after.schema or before.open_fields != after.open_fields:
        yield Change(kind="schema", direction="none", what=f"changed: the fields of `{name}`")
    if (before.resources, before.complete, before.unseen) != (
        after.resources,
        after.complete,
        after.unseen,
    ):
        what = f"changed: what `{name}` declares that it accesses"
        yield Change(kind="resources", direction="none", what=what)


def spec_of(program: Program, name: str) -> ToolSpec | None:
    """Return the tool that a policy knows by this very name."""
    found = program.catalog.get(name)
    return found if found is not None and found.name == name else None
