"""One immutable state of the registry, and what changes between two."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from policy.catalog import Catalog, ToolSpec, repair_name
from policy.model import EMPTY
from policy.tools.handler import ToolHandler, location_of
from policy.values import escape_for_display


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """One entry, as its owner holds it. `revision` grows with every change of the registry."""

    name: str
    revision: int
    handler: ToolHandler
    _remove: Callable[[Registration], ToolHandler | None] = field(repr=False, compare=False)

    def dispose(self) -> ToolHandler | None:
        """Remove exactly this entry and return its handler; None if it is gone or replaced."""
        return self._remove(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """A tool was added."""

    name: str
    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced:
    """A tool's handler was replaced."""

    name: str
    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Unregistered:
    """A tool was removed."""

    name: str
    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedName:
    """The full name that a name without a version refers to, and a note if it was repaired."""

    name: str
    note: str | None = None


RegistryChange: TypeAlias = Registered | Replaced | Unregistered


class RegistrySnapshot(Mapping[str, Registration]):
    """The entries by full name, sorted, after `revision` changes."""

    def __init__(self, entries: Mapping[str, Registration] = EMPTY, revision: int = 0) -> None:
        self._entries = {name: entries[name] for name in sorted(entries)}
        self._newest = _newest(self._entries)
        self._revision = revision

    @property
    def revision(self) -> int:
        """The number of changes so far."""
        return self._revision

    def __getitem__(self, name: str) -> Registration:
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    # The inherited method raises and catches an exception on each miss.
    def get(self, name: str, default: Any = None, /) -> Any:
        """Return the entry with exactly this name."""
        return self._entries.get(name, default)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, name: str) -> Registration | None:
        """Return the tool with this name; for the name that versions share, the newest."""
        found = self._entries.get(name)
        return self._newest.get(name) if found is None else found

    def called(self) -> Mapping[str, Registration]:
        """Return the tools by the name they are called by: of several versions, the newest."""
        called = {entry.handler.spec.base: entry for entry in self._entries.values()}
        called |= self._newest
        return {name: called[name] for name in sorted(called)}

    def meant(self, name: object) -> ResolvedName | None:
        """Return the version that a name without one refers to; None for every other name."""
        if not self._newest or not isinstance(name, str) or name in self._entries:
            return None
        exact = self._newest.get(name)
        if exact is not None:
            return ResolvedName(name=exact.name)
        repaired = repair_name(name, self.catalog)
        newest = None if repaired is None else self._newest.get(repaired.name)
        if newest is None:
            return None
        asked = escape_for_display(name, 60)
        return ResolvedName(name=newest.name, note=f"tool name `{asked}` read as `{newest.name}`")

    def versions(self, name: str) -> tuple[Registration, ...]:
        """Return the versions of a tool, the newest first; the tool alone if it has none."""
        if name in self._entries:
            return (self._entries[name],)
        found = [e for e in self._entries.values() if e.handler.spec.base == name]
        return tuple(sorted(found, key=_version, reverse=True))

    @cached_property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The definitions of the tools for policies."""
        return tuple(entry.handler.spec for entry in self._entries.values())

    @cached_property
    def catalog(self) -> Catalog:
        """The tools as a catalogue."""
        return Catalog(specs=self.specs)

    def objection(self, spec: ToolSpec) -> str | None:
        """Return why such a tool cannot be added, None if it can."""
        there = self._entries.get(spec.name)
        if there is not None:
            place = escape_for_display(location_of(there.handler), 200)
            return f"a tool called `{spec.name}` is registered already, from {place}"
        if spec.version is None and spec.name in self._newest:
            return f"versions of `{spec.name}` are registered already, so this one needs a version"
        if spec.version is not None and spec.base in self._entries:
            return f"a tool called `{spec.base}` without a version is registered already"
        others = self._newest.get(spec.base)
        if others is not None and others.handler.spec.origin != spec.origin:
            return f"the versions of `{spec.base}` that are registered come from somewhere else"
        return None

    def having(self, entry: Registration) -> RegistrySnapshot:
        """Return the snapshot with an entry added."""
        return RegistrySnapshot({**self._entries, entry.name: entry}, entry.revision)

    def without(self, entry: Registration) -> RegistrySnapshot:
        """Return the snapshot with an entry removed."""
        rest = {name: other for name, other in self._entries.items() if other is not entry}
        return RegistrySnapshot(rest, self._revision + 1)


def _newest(entries: Mapping[str, Registration]) -> Mapping[str, Registration]:
    """Return the newest of the tools that have versions, by the name they share."""
    versioned = [e for e in entries.values() if e.handler.spec.version is not None]
    return {e.handler.spec.base: e for e in sorted(versioned, key=_version)}


def _version(entry: Registration) -> int:
    return entry.handler.spec.version or 0
