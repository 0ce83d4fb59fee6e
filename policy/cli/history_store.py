"""Where the history of a policy's sessions is kept, for commands that show it."""

from __future__ import annotations

import os
from pathlib import Path

from policy.cli.loading import exit_with
from policy.daemon import history_of_hooks
from policy.generation import Generation


def store_of(path: Path, generation: Generation, named: str | None) -> str:
    """Return the file or URL of the history: the one that is named, the policy's, or the hooks'.

    Ends the command if there is none.
    """
    if named is not None:
        if "://" not in named and not Path(named).exists():
            exit_with(f"there is no file {named}")
        return named
    kept = generation.settings.history.store
    if kept is not None:
        return kept
    hooks = Path(history_of_hooks(os.fspath(path)))
    if not hooks.exists():
        exit_with(
            "services keep what is used in memory, and no hook has kept anything: "
            "set `[history] store` in placet.toml to keep it in a file or in Redis"
        )
    return str(hooks)


def is_empty(store: str) -> bool:
    """Return whether a store is a file that does not exist yet."""
    return "://" not in store and not Path(store).exists()
