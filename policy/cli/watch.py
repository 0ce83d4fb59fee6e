"""`--watch`: runs a command again after each change of the policy, until Ctrl-C."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import click

from policy.diagnostics import visible
from policy.generation import read_folder

# How often the files are compared, for file systems that report no changes.
_POLL = 1.0  # seconds

watch_option = click.option(
    "--watch",
    is_flag=True,
    help="Run again after each change of the policy; Ctrl-C ends with the last exit status.",
)


def run_at_changes(path: Path, run: Callable[[], None]) -> NoReturn:
    """Run `run`, and again whenever the files at `path` have changed, until interrupted.

    The process then ends with the exit status of the last run.
    """
    runs = _Runs(path, run)
    with suppress(KeyboardInterrupt):
        asyncio.run(runs.until_interrupted())
    raise SystemExit(runs.status)


class _Runs:
    """The runs of one command over the same files."""

    def __init__(self, path: Path, run: Callable[[], None]) -> None:
        self.status = 0
        self._path = path
        self._run = run
        self._digest = ""

    async def until_interrupted(self) -> None:
        # It brings the whole store, which runs that do not watch are better off without.
        from policy.store import watch_path

        ready = asyncio.Event()
        watching = asyncio.create_task(
            watch_path(str(self._path), self._changed, poll=_POLL, ready=ready)
        )
        try:
            await ready.wait()
            await self._changed()
            await watching
        finally:
            watching.cancel()

    async def _changed(self) -> None:
        """Run the command if the files differ from those of the last run."""
        digest = read_folder(self._path).digest
        if digest == self._digest:
            return
        self._digest = digest
        click.clear()  # does nothing but on a terminal
        self.status = self._status()
        click.echo(f"watching {visible(str(self._path))}; Ctrl-C ends", err=True)

    def _status(self) -> int:
        try:
            self._run()
        except SystemExit as ended:
            return ended.code if isinstance(ended.code, int) else 0
        return 0
