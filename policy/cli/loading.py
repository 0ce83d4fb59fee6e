"""Loads the policy that a command was given, and shows what is wrong with it."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import click

from policy.catalog import Catalog, CatalogError, builtin_catalog, read_listing
from policy.cli.fast_paths import fast_paths
from policy.diagnostics import Diagnostic, Format, Severity, display_name, render, visible
from policy.generation import Built, Generation, Proving, read_policy
from policy.values import Unreadable, read_json

# The path of a file or folder.
Where: TypeAlias = str | os.PathLike[str]

WRONG_POLICY = 1
WRONG_USAGE = 2
_MOST_IN_SHORT = 5

# Diagnostics about unreadable files rather than about their contents.
_UNREADABLE = frozenset({"unreadable-file", "file-too-large", "outside-folder", "link-cycle"})
_LARGEST_CATALOG = 16 * 1024 * 1024  # bytes, as much as JSON may be


def exit_with(message: str, *, code: int = WRONG_USAGE) -> NoReturn:
    """End the command with one line on standard error."""
    click.echo(f"placet: {visible(message, 1000)}", err=True)
    raise SystemExit(code)


def read_catalog(file: Where | None) -> Catalog:
    """Return the built-in tools and those of a catalogue file."""
    catalog = builtin_catalog()
    if file is None:
        return catalog
    value = read_json(_bytes(file))
    if isinstance(value, Unreadable):
        exit_with(f"{file} cannot be read as JSON: {value.reason}")
    listing = read_listing(value, reviewed=True)
    if listing.problems:
        exit_with(f"{file} is not a catalogue of tools: {'; '.join(listing.problems)}")
    try:
        return replace(catalog.with_tools(listing.specs), complete=True)
    except CatalogError as error:
        exit_with(f"{file} cannot be used: {error}")


def _bytes(file: Where) -> bytes:
    try:
        with open(file, "rb") as stream:
            return stream.read(_LARGEST_CATALOG + 1)
    except OSError as error:
        exit_with(f"{file} cannot be read: {error.strerror or error}")


def build_at(
    path: Where,
    catalog_file: Where | None,
    *,
    proving: Proving | None = None,
) -> Built:
    """Return the build of the files at `path`, valid or not; `proving` proves its claims.

    It knows the tools of its plugins, as a service does that runs them.
    """
    catalog = read_catalog(catalog_file)
    built = _build(path, catalog, proving)
    if built.generation is None:
        return built
    plugins = built.generation.settings.plugins
    if all(one.path is None for one in plugins.values()):
        return built
    from policy.plugins import configured_specs

    try:
        return _build(path, catalog.with_tools(configured_specs(plugins)), proving)
    except CatalogError:  # a list has the name of a plugin's tool; the service says so
        return built


def _build(path: Where, catalog: Catalog, proving: Proving | None) -> Built:
    ways = fast_paths()
    return read_policy(
        path,
        catalog=catalog,
        engine=ways.engine,
        shortcuts=ways.shortcuts,
        proving=proving,
    )


def exit_code(diagnostics: Iterable[Diagnostic]) -> int:
    """Return the exit status for diagnostics: unreadable files take precedence over errors."""
    codes = {found.code for found in diagnostics if found.severity is Severity.ERROR}
    return WRONG_USAGE if codes & _UNREADABLE else WRONG_POLICY


def show(
    built: Built,
    path: Where,
    format: Format = "text",
    *,
    diagnostics: tuple[Diagnostic, ...] | None = None,
) -> str:
    """Return the diagnostics of a build in one of the formats, without the final newline."""
    shown = built.diagnostics if diagnostics is None else diagnostics
    return render(shown, format, sources=built.sources, root=prefix(path)).rstrip("\n")


def prefix(path: Where) -> str:
    """Return the prefix of a policy's file names, relative to the working directory."""
    folder = Path(path) if os.path.isdir(path) else Path(path).parent
    return "" if str(folder) == "." else f"{folder.as_posix().rstrip('/')}/"


def generation_at(path: Where, catalog_file: Where | None) -> Generation:
    """Return the generation at `path`, or end the command and show everything that is wrong."""
    built = build_at(path, catalog_file)
    if built.generation is None:
        show_errors(built, path)
    return built.generation


def show_errors(built: Built, path: Where, *, note: str = "") -> NoReturn:
    """End the command and show everything that keeps the policy from being in force."""
    errors = tuple(each for each in built.diagnostics if each.severity is Severity.ERROR)
    click.echo(show(built, path, diagnostics=errors), err=True)
    if note:
        click.echo(f"placet: {visible(note, 1000)}", err=True)
    raise SystemExit(exit_code(built.diagnostics))


def show_errors_in_short(built: Built, path: Where, *, note: str) -> NoReturn:
    """End the command with the errors and their places, a few at most, and where to look."""
    errors = [each for each in built.diagnostics if each.severity is Severity.ERROR]
    for each in errors[:_MOST_IN_SHORT]:
        file, line, column = each.place
        place = display_name(file, root=prefix(path)) if file else ""
        where = f"{place}:{line}:{column}" if line else place
        shown = f"\n --> {visible(where, 500)}" if where else ""
        click.echo(f"error[{each.code}]: {visible(each.message, 500)}{shown}", err=True)
    if len(errors) > _MOST_IN_SHORT:
        click.echo(f"and {counted(len(errors) - _MOST_IN_SHORT, 'more error')}", err=True)
    look = f"`placet check {shlex.quote(os.fspath(path))}` shows what to do"
    click.echo(f"placet: {note}: {visible(look, 500)}", err=True)
    raise SystemExit(exit_code(built.diagnostics))


def as_json(value: Any) -> str:
    """Return a value as one line of ASCII JSON, so that no character in it is hidden."""
    try:
        return json.dumps(value)
    except TypeError:
        return _exactly(value)


def _exactly(value: Any) -> str:
    """Write JSON whose numbers may exceed a double, digit by digit."""
    match value:
        case Decimal():
            return str(value)
        case Mapping():
            return f"{{{', '.join(f'{json.dumps(k)}: {_exactly(v)}' for k, v in value.items())}}}"
        case list() | tuple():
            return f"[{', '.join(map(_exactly, value))}]"
        case _:
            return json.dumps(value)


def counted(number: int, what: str) -> str:
    """Return `1 file`, `2 files`."""
    return f"{number} {what}{'' if number == 1 else 's'}"
