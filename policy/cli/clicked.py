"""The options that commands share, as click takes them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias, assert_never

import click

from policy.cli.options import CACHE, CALL, CATALOG, LEXICAL, USUAL_PATH, Option, may_be_policy

Decorator: TypeAlias = Callable[[Any], Any]


def _is_policy(_context: click.Context, _parameter: click.Parameter, path: Path) -> Path:
    if not may_be_policy(path):
        raise click.BadParameter(f"'{path}' is no policy: give a folder or one `.policy` file.")
    return path


def _option(said: Option) -> Decorator:
    name, help = said.name, said.help
    match said.takes:
        case "file":
            file = click.Path(exists=True, dir_okay=False, path_type=Path)
            return click.option(*said.written, name, type=file, help=help)
        case "bytes":
            return click.option(*said.written, name, type=click.File("rb"), help=help)
        case "nothing":
            written = "/".join(said.written)
            told = True if len(said.written) > 1 else None
            return click.option(written, name, is_flag=True, show_default=told, help=help)
        case _:
            assert_never(said.takes)


path_argument = click.argument(
    "path",
    type=click.Path(exists=True, path_type=Path),
    default=USUAL_PATH,
    required=False,
    callback=_is_policy,
)
catalog_option = _option(CATALOG)
call_option = _option(CALL)
lexical_option = _option(LEXICAL)
cache_option = _option(CACHE)
format_option = click.option(
    "--format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="text for people, json for programs.",
)
