"""`placet plugins`: what plugins declare, what they are granted, and which ones run."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from policy.capabilities import (
    ANY_PATH,
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
from policy.plugins import (
    PluginFolder,
    changes_between,
    manifest_from,
    read_plugin,
    reviewed_copy,
)

_LARGEST = 1024 * 1024  # bytes
_NOTHING = PluginSettings()
_RULES = "rules"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """A plugin that was asked about; `folder` is None for a manifest alone."""

    manifest: PluginManifest
    place: Path
    folder: PluginFolder | None = None

    @property
    def runs(self) -> bool:
        """Whether Placet could run it."""
        return self.folder is not None and self.manifest.runtime is not None


@click.command("plugins")
@click.option(
    "--rules",
    "path",
    type=click.Path(path_type=Path),
    default=_RULES,
    show_default=True,
    help="The policy folder whose placet.toml grants capabilities.",
)
@click.argument("places", type=click.Path(exists=True, path_type=Path), nargs=-1)
def command(path: Path, places: tuple[Path, ...]) -> None:
    """Show what plugins declare, which capabilities are granted, and what is not as reviewed.

    PLACES are folders with a `plugin.json`, or manifests: JSON objects with `id`, `version` and
    `capabilities`. Without any, the plugins that placet.toml has Placet run are shown. Prints the
    table for placet.toml that would run a plugin and grant what it asks for, and what has changed
    since it was reviewed, if it has run here; nothing is written. Exits with 1 if a plugin is
    granted what it does not declare, or is not as it was reviewed.

    \b
    Examples:
      placet plugins --rules rules/
      placet plugins --rules rules/ plugins/weather
      placet plugins --rules rules/ weather.json
    """
    configured = _configured(path, places)
    wanted = places or tuple(Path(one.path) for one in configured.values() if one.path is not None)
    if not wanted:
        click.echo(f"no plugins: name a folder with a `{_MANIFEST}`, as in `{_EXAMPLE}`")
        return
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


_MANIFEST, _EXAMPLE = "plugin.json", "placet plugins plugins/weather"


def _configured(path: Path, places: tuple[Path, ...]) -> Mapping[str, PluginSettings]:
    """Return the configured plugins; a folder may be looked at before there is a policy."""
    if places and str(path) == _RULES and not path.exists():
        click.echo(f"placet: there is no `{_RULES}` here, so nothing is granted", err=True)
        return {}
    if not path.exists():
        exit_with(f"there is no {path}: name the policy folder by `--rules`")
    return generation_at(path, None).settings.plugins


def _compared(manifest: PluginManifest, configured: Mapping[str, PluginSettings]) -> Difference:
    return compare(manifest, Grants(configured.get(manifest.id, _NOTHING).grant))


def _is_as_reviewed(shown: _Shown, settings: PluginSettings) -> bool:
    return shown.folder is None or shown.folder.digest == settings.digest


def _review(shown: _Shown, settings: PluginSettings) -> Iterator[str]:
    """Yield what keeps a plugin that placet.toml names from running."""
    name = visible(shown.manifest.id)
    if settings.path is None or shown.folder is None:
        return
    if not _is_as_reviewed(shown, settings):
        yield f"the files of {name} are not those whose digest is in placet.toml: it does not run"
    if shown.manifest.runtime is None:
        yield f"the manifest of {name} has no `runtime`: it does not run"


def _propose(found: Difference, shown: _Shown, settings: PluginSettings, *, root: Path) -> None:
    """Print the table that would run the plugin and grant what it asks for."""
    kept = [pattern for pattern in shown.manifest.wanted if pattern not in found.active]
    wanted = ", ".join(map(_string, (*found.active, *kept)))
    _show_changes(found.plugin, shown, settings)
    if shown.folder is not None and settings.path is not None and shown.runs:
        click.echo(f"\nto run it as it is now, in [plugins.{found.plugin}] of placet.toml:\n")
        click.echo(f'digest = "{shown.folder.digest}"\ngrant = [{wanted}]')
        return
    what = "run it as it is now, and " if shown.runs else ""
    click.echo(f"\nto {what}grant what {found.plugin} asks for, in placet.toml:\n")
    click.echo(f"[plugins.{found.plugin}]")
    if shown.runs and shown.folder is not None:
        folder = root.parent if root.is_file() else root
        near = os.path.relpath(shown.place, folder)
        click.echo(f'path = {_string(near)}\ndigest = "{shown.folder.digest}"')
    click.echo(f"grant = [{wanted}]")
    if shown.runs:
        for line in _access_lines(found.plugin, shown.manifest):
            click.echo(line)


def _show_changes(plugin: str, shown: _Shown, settings: PluginSettings) -> None:
    """Print what has changed since the plugin was reviewed."""
    if settings.digest is None or shown.folder is None or _is_as_reviewed(shown, settings):
        return
    before = reviewed_copy(settings.digest)
    if before is None:
        click.echo(f"\nwhat has changed in {plugin} is not known: it has not run here as reviewed")
        return
    click.echo(f"\nsince {plugin} was reviewed:")
    for line in changes_between(before, shown.folder):
        click.echo(f"  {line}")


def _access_lines(plugin: str, manifest: PluginManifest) -> Iterator[str]:
    """Yield the table that grants what a manifest needs to touch; what it leaves open is empty."""
    access = manifest.access
    paths = [(verb, getattr(access, verb)) for verb in ("reads", "writes") if getattr(access, verb)]
    if not paths and access.network == "none":
        return
    yield f"\n[plugins.{plugin}.sandbox]"
    for verb, needed in paths:
        named = ", ".join(_string(one) for one in needed if one != ANY_PATH)
        if ANY_PATH in needed:
            yield f"# It {verb} whatever you name here."
        yield f"{verb} = [{named}]"
    if access.network != "none":
        yield f'network = "{access.network}"'
    if access.connects:
        yield "connects = [" + ", ".join(map(_string, access.connects)) + "]"


def _string(text: str) -> str:
    """Return a text as a string of TOML, in which nothing is hidden and nothing ends it."""
    shown = (
        f"\\{char}" if char in '"\\' else char if visible(char) == char else f"\\U{ord(char):08x}"
        for char in text
    )
    return f'"{"".join(shown)}"'


def _read(place: Path) -> _Shown:
    try:
        if place.is_dir():
            plugin = read_plugin(place)
            return _Shown(manifest=plugin.manifest, place=place, folder=plugin)
        with place.open("rb") as file:
            return _Shown(manifest=manifest_from(file.read(_LARGEST + 1)), place=place)
    except (PluginRefused, OSError) as error:
        exit_with(f"{visible(str(place))}: {error}")
