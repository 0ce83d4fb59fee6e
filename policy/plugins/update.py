"""What has changed in a plugin's folder since people reviewed it, for those who review it again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from policy.capabilities import PluginAccess, PluginManifest, PluginRefused
from policy.diagnostics import visible
from policy.generation import state_root
from policy.plugins.folder import PluginFolder, read_plugin

_MOST = 20  # files that are named


def copies_folder() -> Path:
    """Return the folder with a copy of each plugin that has run here, by its digest."""
    return state_root() / "plugins"


def reviewed_copy(digest: str) -> PluginFolder | None:
    """Return the files that were reviewed, if they have run here; None if they are not there."""
    try:
        found = read_plugin(copies_folder() / digest.removeprefix("sha256:"))
    except PluginRefused:
        return None
    return found if found.digest == digest else None


def changes_between(before: PluginFolder, after: PluginFolder) -> Iterator[str]:
    """Yield lines for people: what the plugin is and asks for, then its files."""
    yield from _manifest_changes(before.manifest, after.manifest)
    names = sorted(before.files.keys() | after.files.keys())
    changed = [name for name in names if before.files.get(name) != after.files.get(name)]
    for name in changed[:_MOST]:
        how = "changed" if name in before.files and name in after.files else "new"
        yield f"{'gone' if name not in after.files else how}: {visible(name, 200)}"
    if len(changed) > _MOST:
        yield f"and {len(changed) - _MOST} more files"


def _manifest_changes(before: PluginManifest, after: PluginManifest) -> Iterator[str]:
    if before.version != after.version:
        yield f"version {visible(before.version, 80)} is now {visible(after.version, 80)}"
    if before.runtime != after.runtime:
        yield "it is started in another way: see `runtime`"
    if before.access != after.access:
        yield f"it asks for {said_of(after.access)}; before, for {said_of(before.access)}"
    old, new = ({one.name: one for one in each.tools} for each in (before, after))
    yield from (f"new tool: {visible(name, 120)}" for name in sorted(new.keys() - old.keys()))
    yield from (
        f"no tool any more: {visible(name, 120)}" for name in sorted(old.keys() - new.keys())
    )
    yield from (
        f"another definition: tool {visible(name, 120)}"
        for name in sorted(new.keys() & old.keys())
        if new[name] != old[name]
    )


def said_of(access: PluginAccess) -> str:
    """Return what a manifest asks for, in words."""
    reads, writes, connects = (
        ", ".join(visible(one, 200) for one in part)
        for part in (access.reads, access.writes, access.connects)
    )
    network = f"hosts [{connects}]" if access.network == "hosts" else f"network {access.network}"
    return f"reads [{reads}], writes [{writes}], {network}"
