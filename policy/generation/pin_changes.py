"""What two locks accept differently of MCP servers, besides tools, which are compared as such."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policy.diagnostics import visible
from policy.model import EMPTY
from policy.verify import Change

if TYPE_CHECKING:
    from policy.pins import Lock, ServerPins


def pin_changes(before: Lock | None, after: Lock | None) -> Iterator[Change]:
    """Yield each server of which people have accepted something else."""
    old, new = (EMPTY if lock is None else lock.servers for lock in (before, after))
    for name in dict.fromkeys((*old, *new)):
        if _accepted(old.get(name)) != _accepted(new.get(name)):
            yield Change(
                kind="pin",
                direction="unclear" if name in new else "tighter",
                what=f"changed: what is accepted of the server `{visible(name, 80)}`",
            )


def _accepted(pins: ServerPins | None) -> object:
    """Return what a server may say of itself, and its prompts: not who accepted them, or when."""
    if pins is None:
        return None
    return pins.about, {name: pin.definition for name, pin in pins.prompts.items()}
