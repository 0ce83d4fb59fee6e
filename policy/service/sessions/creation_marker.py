"""A file beside the history that says that it was created: a history that is missing was deleted.

An empty history says that nothing happened and no budget is used. Whoever deletes the file must not
bring that about without a word.
"""

from __future__ import annotations

from pathlib import Path

from policy.diagnostics import visible
from policy.runtime import make_file

_TEXT = """\
The history of sessions beside this file was created. If it is missing, Placet does not begin an
empty one, as it would not know what happened and which budgets are used. To begin with an empty
history, delete this file too.
"""


def marker_of(store: Path) -> Path:
    """Return the marker of a history."""
    return store.with_name(f"{store.name}-created")


def was_created(store: Path) -> bool:
    """Return whether a history has existed at this path."""
    return marker_of(store).exists()


def mark_created(store: Path) -> None:
    """Note that a history exists at this path. Raises OSError."""
    marker = marker_of(store)
    if not marker.exists():
        make_file(marker)
        marker.write_text(_TEXT, encoding="utf-8")


def help_for(store: Path) -> str:
    """Return how to begin anew where a history is missing."""
    return f"to begin with an empty history, delete {visible(str(marker_of(store)), 300)} too"
