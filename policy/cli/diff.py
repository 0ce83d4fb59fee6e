"""`placet diff`: which calls two policies decide differently, and what else changed."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, TypeAlias

import click

from policy.cli import difference_text, git_revision
from policy.cli.fast_paths import fast_paths
from policy.cli.loading import (
    WRONG_POLICY,
    as_json,
    exit_with,
    read_catalog,
    show_errors,
)
from policy.cli.options import catalog_option, steps_option
from policy.cli.progress import progress_line
from policy.diagnostics import visible
from policy.generation import Generation, no_collecting, read_policy
from policy.verify import compare

Shape: TypeAlias = Literal["text", "json", "markdown"]

_USUAL = "rules"


@click.command("diff")
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@catalog_option
@steps_option
@click.option(
    "--format",
    type=click.Choice(["text", "json", "markdown"]),
    default="text",
    show_default=True,
    help="text for people, json for programs, markdown for a pull request.",
)
def command(
    old: str, new: str, *, catalog_file: Path | None, steps: int | None, format: Shape
) -> None:
    """Compare two policies: which calls NEW decides differently from OLD.

    OLD and NEW are folders, `.policy` files, or git:REVISION, which is the other one's folder as it
    is in that revision; git:REVISION:PATH names another folder or file. For each tool and layer
    that a change concerns, calls are same, tighter, looser or both, each shown by a call that both
    policies have decided. Where it is not known whether some are looser, they are undecided.

    \b
    Examples:
      placet diff git:main rules/
      placet diff rules/ proposed/ --format json
      placet diff git:origin/main git:HEAD:rules --format markdown

    Exit status: 0 nothing is looser, 1 something is looser, or undecided, or a policy is invalid,
    2 wrong usage.
    """
    with TemporaryDirectory(prefix="placet-diff-") as scratch:
        root = _folder_of(new if not new.startswith(git_revision.PREFIX) else old)
        before, after = (
            _generation(given, other, Path(scratch) / name, catalog_file, root=root)
            for given, other, name in ((old, new, "old"), (new, old, "new"))
        )
        bound = after.settings.reload.steps if steps is None else steps
        with progress_line("compared", "tools") as progress, no_collecting():
            found = compare(before, after, steps=bound, progress=progress)
    match format:
        case "json":
            click.echo(as_json(difference_text.record(found)))
        case "markdown":
            click.echo(difference_text.markdown(found, old=old, new=new))
        case _:
            click.echo(difference_text.text(found))
    if found.may_loosen:
        raise SystemExit(WRONG_POLICY)


def _generation(
    given: str, other: str, scratch: Path, catalog_file: Path | None, *, root: str
) -> Generation:
    """Return a policy; one whose only errors are failing tests and claims can be compared."""
    path = _path(given, other, scratch)
    ways = fast_paths()
    built = read_policy(
        path,
        catalog=read_catalog(catalog_file),
        engine=ways.engine,
        shortcuts=ways.shortcuts,
        root=root,
    )
    generation = built.generation or built.failing
    if generation is None:
        show_errors(built, path, note=f"`{visible(given, 200)}` cannot be compared")
    if built.generation is None:
        note = f"warning: `{visible(given, 200)}` does not load, because tests or claims fail"
        click.echo(f"placet: {note}; `placet check` shows them", err=True)
    return generation


def _path(given: str, other: str, scratch: Path) -> Path:
    """Return the path of a policy; a git revision is written into a folder first."""
    if not given.startswith(git_revision.PREFIX):
        if not os.path.exists(given):
            exit_with(f"nothing is at `{visible(given, 200)}`")
        return Path(given)
    revision, _, named = given.removeprefix(git_revision.PREFIX).partition(":")
    if not named and other.startswith(git_revision.PREFIX):
        named = other.removeprefix(git_revision.PREFIX).partition(":")[2] or _USUAL
    place = Path(named or other)
    git_revision.extract(revision, place, scratch)
    return scratch if place.suffix != ".policy" else scratch / place.name


def _folder_of(given: str) -> str:
    """Return the absolute folder of a policy that both are compared as being in."""
    if given.startswith(git_revision.PREFIX):
        given = given.removeprefix(git_revision.PREFIX).partition(":")[2] or _USUAL
    path = Path(given)
    return os.path.abspath(path.parent if path.suffix == ".policy" else path)
