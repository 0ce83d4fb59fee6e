"""The policy a command was pointed at: read, built, and shown where it is wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

import click

from policy.catalog import Catalog, CatalogError, builtin_catalog, read_listing
from policy.diagnostics import Diagnostic, Format, render
from policy.reload import Built, Generation, build, read_folder
from policy.values import Unreadable, read_json

WRONG_POLICY = 1
WRONG_USAGE = 2

path_argument = click.argument(
    "path", type=click.Path(exists=True, path_type=Path), default="rules", required=False
)
catalog_option = click.option(
    "--catalog",
    "catalog_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Tools beside the built-in ones: an MCP tools/list answer, or a list of definitions.",
)


def stop(message: str, *, code: int = WRONG_USAGE) -> NoReturn:
    """End the command with one line on standard error."""
    click.echo(f"placet: {message}", err=True)
    raise SystemExit(code)


def read_catalog(file: Path | None) -> Catalog:
    """Return the built-in tools and those of a catalogue file."""
    catalog = builtin_catalog()
    if file is None:
        return catalog
    value = read_json(_bytes(file))
    if isinstance(value, Unreadable):
        stop(f"{file} cannot be read as JSON: {value.reason}")
    listing = read_listing(value, reviewed=True)
    if listing.problems:
        stop(f"{file} is no catalogue of tools: {'; '.join(listing.problems)}")
    try:
        return replace(catalog.with_tools(listing.specs), complete=True)
    except CatalogError as error:
        stop(f"{file} cannot be used: {error}")


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        stop(f"{file} cannot be read: {error.strerror or error}")


def build_at(path: Path, catalog_file: Path | None) -> Built:
    """Return what the files at `path` make, good or not."""
    catalog = read_catalog(catalog_file)
    return build(read_folder(path), catalog=catalog, number=1, now=datetime.now(UTC))


def show(
    built: Built,
    path: Path,
    format: Format = "text",
    *,
    diagnostics: tuple[Diagnostic, ...] | None = None,
) -> str:
    """Return the diagnostics of a build in one of the formats, without the final newline."""
    shown = built.diagnostics if diagnostics is None else diagnostics
    return render(shown, format, sources=built.sources, root=_prefix(path)).rstrip("\n")


def _prefix(path: Path) -> str:
    """Return what stands before the names of a policy's files, seen from the working directory."""
    folder = path if path.is_dir() else path.parent
    return "" if str(folder) == "." else f"{folder.as_posix().rstrip('/')}/"


def generation_at(path: Path, catalog_file: Path | None) -> Generation:
    """Return the generation at `path`, or end the command with all that is wrong."""
    built = build_at(path, catalog_file)
    if built.generation is None:
        click.echo(show(built, path), err=True)
        raise SystemExit(WRONG_POLICY)
    return built.generation


def as_json(value: Any) -> str:
    """Return a value as one line of JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))
