"""Resolves paths, but follows no link that code in a sandbox may have made.

A path is configured once, and resolved whenever a program starts. Code that may write the folder
above could put a link there, and so choose what the path stands for at the next start.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from policy.generation import Reach, Settings, StdioServer
from policy.sandbox.containment import is_within

_MOST_LINKS = 40  # as many as Linux follows


class UntrustedLink(Exception):
    """A path leads over `link`, which is in a folder that code may write, or over too many."""

    def __init__(self, link: str) -> None:
        super().__init__(f"{link} is a link in a folder that code may write")
        self.link = link


class PathResolver:
    """Follows links, except in some folders that code may write, and in all that is in these.

    What it returns is a name without links, so that whoever opens it later finds what it stands for
    or, if a link has come into its place, something that has another name (`pinned_paths`).
    """

    def __init__(self, writable: Iterable[str]) -> None:
        # These paths may lead over such a link, too. The folder that it is in is named by another
        # one of them, so that all are found in any case.
        self._folders = frozenset(map(os.path.realpath, writable))
        # A folder may have several names: where letter case is ignored, and where it is mounted.
        self._identities = frozenset(filter(None, map(_identity, self._folders)))

    def resolve(self, path: str) -> str:
        """Return an absolute path without links; raise UntrustedLink.

        From what is missing on, the path stays as it is.
        """
        reached, links = "/", 0
        parts = _reversed_parts(path)
        while parts:
            part = parts.pop()
            if part == "..":
                reached = os.path.dirname(reached)
                continue
            there = os.path.join(reached, part)
            target = _target(there)
            if target is None:
                reached = there
                continue
            links += 1
            if links > _MOST_LINKS or self._may_be_written(reached):
                raise UntrustedLink(there)
            parts += _reversed_parts(target)
            if target.startswith("/"):
                reached = "/"
        return reached

    def trusts(self, path: str) -> bool:
        """Return whether no link on the way to a path may be the work of code."""
        try:
            self.resolve(path)
        except UntrustedLink:
            return False
        return True

    def _may_be_written(self, folder: str) -> bool:
        if is_within(folder, self._folders):
            return True
        return any(_identity(one) in self._identities for one in _with_parents(folder))


def writable_folders(settings: Settings, *, home: str | None = None) -> tuple[str, ...]:
    """Return all that code in some sandbox of a policy may write: of commands, servers, plugins.

    The workspace is among them if it is configured. `home` is the home folder of commands, None: as
    configured.
    """
    reaches: list[Reach] = [settings.sandbox.reach]
    reaches += [plugin.reach for plugin in settings.plugins.values()]
    transports = (server.transport for server in settings.mcp_servers)
    own = (each.reach for each in transports if isinstance(each, StdioServer))
    reaches += [reach for reach in own if reach is not None]
    service = settings.service
    # Servers and plugins have that of this process.
    homes = {one for one in (os.path.expanduser("~"), service.home, home) if one}
    named = {path for reach in reaches for path in reach.writes}
    found = {in_home(path, home) for path in named for home in homes}
    found |= {os.path.expanduser(one) for one in (service.workspace, service.workspaces) if one}
    return tuple(sorted(found))


def led_elsewhere(paths: Iterable[str], home: str) -> dict[str, str]:
    """Return those of some configured paths that lead over a link, and where each leads."""
    names = ((path, os.path.normpath(in_home(path, home))) for path in paths)
    real = ((path, name, os.path.realpath(name)) for path, name in names)
    return {path: leads_to for path, name, leads_to in real if leads_to != name}


def in_home(path: str, home: str) -> str:
    """Return a configured path as an absolute one, where `~/` stands for a home folder."""
    return os.path.join(home, path[2:]) if path.startswith("~/") else path


def _reversed_parts(path: str) -> list[str]:
    return [part for part in reversed(path.split("/")) if part not in ("", ".")]


def _target(path: str) -> str | None:
    """Return what a link names; None for anything else, and for what is missing."""
    try:
        return os.readlink(path)
    except OSError:
        return None


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _with_parents(folder: str) -> Iterator[str]:
    yield folder
    while folder != (folder := os.path.dirname(folder)):
        yield folder
