"""`placet plugins`: what plugins declare, what they are granted, and which ones run."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from policy.capabilities import (
    Difference,
    Grants,
    PluginManifest,
    PluginRefused,
    compare,
    table,
)
from policy.cli.loading import WRONG_POLICY, exit_with, generation_at
from policy.diagnostics import visible
from policy.generation import PluginSettings
from policy.plugins import manifest_from, read_plugin

_LARGEST = 1024 * 1024  # bytes
_NOTHING = PluginSettings()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """A plugin that was asked about; `digest` is that of its folder, empty for a manifest alone."""

    manifest: PluginManifest
    place: Path
    digest: str = ""


@click.command("plugins")
@click.option(
    "--rules",
    "path",
    type=click.Path(exists=True, path_type=Path),
    default="rules",
    show_default=True,
    help="The policy folder whose placet.toml grants capabilities.",
)
@click.argument("places", type=click.Path(exists=True, path_type=Path), nargs=-1)
def command(path: Path, places: tuple[Path, ...]) -> None:
    """Show what plugins declare, which capabilities are granted, and what is not as reviewed.

    PLACES are folders with a `plugin.json`, or manifests: JSON objects with `id`, `version` and
    `capabilities`. Without any, the plugins that placet.toml has Placet run are shown. Prints the
    table for placet.toml that would run a plugin and grant what it asks for; nothing is written.
    Exits with 1 if a plugin is granted what it does not declare, or is not as it was reviewed.

    \b
    Examples:
      placet plugins --rules rules/
      placet plugins --rules rules/ plugins/weather
      placet plugins --rules rules/ weather.json
    """
    configured = generation_at(path, None).settings.plugins
    wanted = places or tuple(Path(one.path) for one in configured.values() if one.path is not None)
    plugins = [_read(place) for place in wanted]
    found = [_compared(one.manifest, configured) for one in plugins]
    click.echo(table(found), nl=False)
    warnings: list[str] = []
    for one, shown in zip(found, plugins, strict=True):
        settings = configured.get(one.plugin, _NOTHING)
        if not _is_as_reviewed(shown, settings) or set(one.withheld) - set(one.unwanted):
            _propose(one, shown, settings, root=path)
        warnings += [*one.warnings, *_review(shown, settings)]
    for warning in warnings:
        click.echo(f"warning: {warning}", err=True)
    if warnings:
        raise SystemExit(WRONG_POLICY)


def _compared(manifest: PluginManifest, configured: Mapping[str, PluginSettings]) -> Difference:
    return compare(manifest, Grants(configured.get(manifest.id, _NOTHING).grant))


def _is_as_reviewed(shown: _Shown, settings: PluginSettings) -> bool:
    return shown.digest in ("", settings.digest)


def _review(shown: _Shown, settings: PluginSettings) -> Iterator[str]:
    """Yield what keeps a plugin that placet.toml names from running."""
    name = visible(shown.manifest.id)
    if settings.path is None or not shown.digest:
        return
    if not _is_as_reviewed(shown, settings):
        yield f"the files of {name} are not those whose digest is in placet.toml: it does not run"
    if shown.manifest.runtime is None:
        yield f"the manifest of {name} has no `runtime`: it does not run"


def _propose(found: Difference, shown: _Shown, settings: PluginSettings, *, root: Path) -> None:
    """Print the table that would run the plugin and grant what it asks for."""
    runs = shown.digest and shown.manifest.runtime is not None
    kept = [pattern for pattern in shown.manifest.wanted if pattern not in found.active]
    wanted = ", ".join(f'"{visible(pattern)}"' for pattern in (*found.active, *kept))
    what = "run it as it is now, and " if runs else ""
    click.echo(f"\nto {what}grant what {found.plugin} asks for, in placet.toml:\n")
    click.echo(f"[plugins.{found.plugin}]")
    if runs:
        folder = root if root.is_dir() else root.parent
        near = os.path.relpath(shown.place, folder)
        click.echo(f'path = "{visible(near)}"\ndigest = "{shown.digest}"')
    click.echo(f"grant = [{wanted}]")
    access = shown.manifest.access
    if runs and (access.reads or access.writes or access.network != "none"):
        reads, writes = (", ".join(map(visible, part)) for part in (access.reads, access.writes))
        click.echo(f"# it asks for: reads [{reads}], writes [{writes}], network {access.network};")
        click.echo(f"# grant that in [plugins.{found.plugin}.sandbox]")


def _read(place: Path) -> _Shown:
    try:
        if place.is_dir():
            plugin = read_plugin(place)
            return _Shown(manifest=plugin.manifest, place=place, digest=plugin.digest)
        with place.open("rb") as file:
            return _Shown(manifest=manifest_from(file.read(_LARGEST + 1)), place=place)
    except (PluginRefused, OSError) as error:
        exit_with(f"{visible(str(place))}: {error}")
