"""`placet plugins`: what plugins declare, and what the configuration grants them."""

from __future__ import annotations

from pathlib import Path

import click

from policy.capabilities import (
    Difference,
    Grants,
    PluginManifest,
    PluginRefused,
    compare,
    manifest_of,
    table,
)
from policy.cli.loading import WRONG_POLICY, exit_with, generation_at
from policy.diagnostics import visible
from policy.model import thaw
from policy.values import Unreadable, read_json

_LARGEST = 1024 * 1024  # bytes


@click.command("plugins")
@click.option(
    "--rules",
    "path",
    type=click.Path(exists=True, path_type=Path),
    default="rules",
    show_default=True,
    help="The policy folder whose placet.toml grants capabilities.",
)
@click.argument("manifests", type=click.Path(exists=True, dir_okay=False, path_type=Path), nargs=-1)
def command(path: Path, manifests: tuple[Path, ...]) -> None:
    """Show what each of the MANIFESTS declares, and which capabilities are granted.

    A manifest is a JSON object with `id`, `version` and `capabilities`. Exits with 1 if a plugin
    is granted what it does not declare.

    \b
    Examples:
      placet plugins --rules rules/ plugins/weather.json
    """
    settings = generation_at(path, None).settings
    plugins = [_manifest(file) for file in manifests]
    found = [compare(one, Grants(settings.plugins.get(one.id, ()))) for one in plugins]
    click.echo(table(found), nl=False)
    for one, manifest in zip(found, plugins, strict=True):
        _propose(one, manifest)
    warnings = [warning for one in found for warning in one.warnings]
    for warning in warnings:
        click.echo(f"warning: {warning}", err=True)
    if warnings:
        raise SystemExit(WRONG_POLICY)


def _propose(found: Difference, manifest: PluginManifest) -> None:
    """Print the line that would grant what the plugin asks for; nothing is written."""
    if not set(found.withheld) - set(found.unwanted):
        return
    kept = [pattern for pattern in manifest.wanted if pattern not in found.active]
    wanted = ", ".join(f'"{visible(pattern)}"' for pattern in (*found.active, *kept))
    click.echo(f"\nto grant what {found.plugin} asks for, in placet.toml:\n")
    click.echo(f"[plugins.{found.plugin}]\ngrant = [{wanted}]")


def _manifest(file: Path) -> PluginManifest:
    content = file.read_bytes()[: _LARGEST + 1]
    value = read_json(content) if len(content) <= _LARGEST else Unreadable(reason="it is too large")
    if isinstance(value, Unreadable):
        exit_with(f"{file}: {value.reason}")
    if not hasattr(value, "keys"):
        exit_with(f"{file}: a manifest is a JSON object")
    try:
        return manifest_of(thaw(value))
    except PluginRefused as error:
        exit_with(f"{file}: {error}")
