"""The options that commands share, as click takes them."""

from __future__ import annotations

import os
from pathlib import Path

import click


def policy_path(context: click.Context, _parameter: click.Parameter, given: str) -> Path:
    """Return the path that a command was given for its policy; raise click.BadParameter."""
    path = Path(given)
    if context.params.get("unwrap") is not None:
        return path  # The client's file names its policy.
    # An empty text is no folder, though a Path makes the current one of it.
    if given != "-" and not os.path.exists(given):
        hint = "name the folder of a policy, or write one with `placet init`"
        if context.info_name == "explain":
            hint += "; a shell command is given by --command"
        raise click.BadParameter(f"nothing is at '{given}': {hint}.")
    is_named_policy = path.suffix == ".policy" and path.stem not in ("", ".policy")
    if os.path.isfile(path) and not is_named_policy:
        raise click.BadParameter(f"'{path}' is not a policy: give a folder or one `.policy` file.")
    return path


def _warn_of_cache(_context: click.Context, _parameter: click.Parameter, cache: bool) -> None:  # noqa: FBT001 — click calls it so
    if cache:
        click.echo("placet: warning: `--cache` has no effect and will be removed", err=True)


path_argument = click.argument(
    "path",
    type=click.Path(),
    default="rules",
    required=False,
    callback=policy_path,
)
path_or_stdin_argument = click.argument(
    "path",
    type=click.Path(allow_dash=True),
    default="rules",
    required=False,
    callback=policy_path,
)
catalog_option = click.option(
    "--catalog",
    "catalog_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Tools besides the built-in ones: an MCP tools/list result, or a list of definitions.",
)
steps_option = click.option(
    "--steps",
    type=click.IntRange(min=1),
    help="Conflicts that the search may meet for each question; the default is `[reload] steps` "
    "of the policy.",
)
call_option = click.option(
    "--call",
    "call_file",
    type=click.File("rb"),
    help="Read calls from this file instead of standard input.",
)
lexical_option = click.option(
    "--lexical",
    is_flag=True,
    help="Judge paths as written, without following symbolic links.",
)
cache_option = click.option(
    "--cache/--no-cache",
    is_flag=True,
    hidden=True,
    expose_value=False,
    callback=_warn_of_cache,
)
format_option = click.option(
    "--format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="text for people, json for programs.",
)
