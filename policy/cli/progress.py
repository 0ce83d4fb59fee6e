"""How far long work has come, in one line at a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

Progress = Callable[[int, int], None]
_CLEARED = "\r\033[K"


@contextmanager
def progress_line(doing: str, what: str) -> Iterator[Progress | None]:
    """Yield what shows how much is done, of how much: `compared 3 of 20 tools`.

    It writes to standard error. Yield None if that is no terminal.
    """
    if not sys.stderr.isatty():
        yield None
        return

    def show(done: int, total: int) -> None:
        click.echo(f"\r{doing} {done} of {total} {what}\033[K", nl=False, err=True)

    try:
        yield show
    finally:
        click.echo(_CLEARED, nl=False, err=True)
