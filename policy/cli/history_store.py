"""Where the history of a policy's sessions is kept, for commands that show it."""

from __future__ import annotations

import os
from pathlib import Path

import click

from policy.cli.fast_paths import fast_paths
from policy.cli.loading import WRONG_POLICY, exit_with, prefix
from policy.daemon import history_of_hooks
from policy.diagnostics import has_errors, render
from policy.generation import Generation, read_policy


def generation_at(path: Path) -> Generation:
    """Return the policy at a path; end the command if it has errors."""
    ways = fast_paths()
    built = read_policy(path, engine=ways.engine, shortcuts=ways.shortcuts)
    if built.generation is None or has_errors(built.diagnostics):
        click.echo(
            render(built.diagnostics, sources=built.sources, root=prefix(path)), err=True, nl=False
        )
        raise SystemExit(WRONG_POLICY)
    return built.generation


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
