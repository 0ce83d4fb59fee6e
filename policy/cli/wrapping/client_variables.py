"""The option `--wrapped`: the variables that a wrapped client gives the gateway."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from policy.cli.loading import exit_with
from policy.cli.wrapping.gateway_entry import variables_of
from policy.cli.wrapping.text_file import text_file

wrapped_option = click.option(
    "--wrapped",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Take the variables that servers refer to from this client's FILE, which was wrapped.",
)


@contextmanager
def variables_from(wrapped: Path | None) -> Iterator[None]:
    """Have the client's variables in the environment while the block runs; or end the command."""
    if wrapped is None:
        yield
        return
    found = variables_of(text_file(wrapped).client())
    if found is None:
        exit_with(f"{wrapped} has no gateway: `placet gateway --wrap` puts it there")
    before = {name: os.environ.get(name) for name in found}
    os.environ.update(found)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
