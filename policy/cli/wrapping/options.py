"""The options of `placet gateway` that edit a client's file in place of serving."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from policy.cli.loading import exit_with

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_OPTIONS = (
    click.option(
        "--wrap",
        type=_FILE,
        metavar="FILE",
        help="Move the servers of this client's FILE behind the gateway, and end.",
    ),
    click.option(
        "--unwrap",
        type=_FILE,
        metavar="FILE",
        is_eager=True,
        help="Undo --wrap in this FILE, and end. The FILE names its policy.",
    ),
    click.option(
        "--leave",
        multiple=True,
        metavar="NAME",
        help="With --wrap: leave this server where it is, beside the gateway.",
    ),
    click.option(
        "--dry-run",
        is_flag=True,
        help="With --wrap and --unwrap: show what would be done.",
    ),
)


def wrapping_options(serve: Callable[..., None]) -> Callable[..., Any]:
    """Add the options to a command that serves the policy at `path`."""

    @functools.wraps(serve)
    def command(
        path: Path,
        *,
        wrap: Path | None,
        unwrap: Path | None,
        leave: tuple[str, ...],
        dry_run: bool,
        **options: Any,
    ) -> None:
        if wrap is not None and unwrap is not None:
            exit_with("give --wrap or --unwrap, not both")
        if leave and wrap is None:
            exit_with("--leave is for --wrap")
        if dry_run and wrap is None and unwrap is None:
            exit_with("--dry-run is for --wrap and --unwrap")
        if wrap is not None:
            from policy.cli.wrapping.wrap import run_wrap

            run_wrap(wrap, path, leave=leave, dry_run=dry_run)
        elif unwrap is not None:
            from policy.cli.wrapping.unwrap import run_unwrap

            run_unwrap(unwrap, dry_run=dry_run)
        else:
            serve(path, **options)

    decorated: Callable[..., Any] = command
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated
