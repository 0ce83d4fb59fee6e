"""The tools a service can run: name -> handler, swapped whole, so that readers need no lock."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from policy.catalog import ToolSpec
from policy.errors import ToolError
from policy.service.handler import ToolHandler


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """One entry, as its owner holds it. `revision` grows with every change of the registry."""

    name: str
    revision: int
    handler: ToolHandler


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """A tool is there that was not."""

    name: str
    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced:
    """A tool's handler is another one now."""

    name: str
    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Unregistered:
    """A tool is gone."""

    name: str
    revision: int


RegistryChange: TypeAlias = Registered | Replaced | Unregistered
Subscriber: TypeAlias = Callable[[RegistryChange], None]


class ToolRegistry:
    """The one mutable map of tools; safe to change from any thread while calls run.

    Subscribers are told of changes in the order in which they happened.
    """

    def __init__(self) -> None:
        self._entries: Mapping[str, Registration] = MappingProxyType({})
        self._revision = 0
        self._subscribers: tuple[Subscriber, ...] = ()
        self._writing = threading.RLock()

    def register(self, name: str, handler: ToolHandler) -> Registration:
        """Add a tool; raise ToolError if the name is taken or not the handler's own."""
        with self._writing:
            _require_own_name(name, handler)
            if name in self._entries:
                raise ToolError(name, f"a tool called `{name}` is registered already")
            entry = self._put(name, handler)
            self._tell(Registered(name=name, revision=entry.revision))
            return entry

    def replace(self, registration: Registration, handler: ToolHandler) -> Registration:
        """Exchange the handler of an entry; raise ToolError if the entry is no longer there."""
        with self._writing:
            name = registration.name
            _require_own_name(name, handler)
            if self._entries.get(name) is not registration:
                raise ToolError(name, f"the tool called `{name}` is another one by now")
            entry = self._put(name, handler)
            self._tell(Replaced(name=name, revision=entry.revision))
            return entry

    def unregister(self, entry: str | Registration) -> ToolHandler | None:
        """Remove a tool and return its handler; None if it is not there.

        A `Registration` removes only the very entry it stands for, never a newer one of its name.
        """
        with self._writing:
            name = entry if isinstance(entry, str) else entry.name
            found = self._entries.get(name)
            if found is None or (isinstance(entry, Registration) and found is not entry):
                return None
            self._revision += 1
            rest = {key: value for key, value in self._entries.items() if key != name}
            self._entries = MappingProxyType(rest)
            self._tell(Unregistered(name=name, revision=self._revision))
            return found.handler

    def snapshot(self) -> Mapping[str, Registration]:
        """Return all entries as they are now; later changes do not show in it."""
        return self._entries

    def get(self, name: str) -> ToolHandler | None:
        """Return a tool's handler."""
        entry = self._entries.get(name)
        return None if entry is None else entry.handler

    def list(self) -> tuple[str, ...]:
        """Return the names of all tools, sorted."""
        return tuple(sorted(self._entries))

    def specs(self) -> tuple[ToolSpec, ...]:
        """Return what policies are to know of the tools, by name."""
        entries = self._entries
        return tuple(entries[name].handler.spec for name in sorted(entries))

    @property
    def revision(self) -> int:
        """How often the registry has changed."""
        return self._revision

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Tell `subscriber` of every change from now on; return what ends that."""
        with self._writing:
            self._subscribers = (*self._subscribers, subscriber)

        def end() -> None:
            with self._writing:
                self._subscribers = tuple(s for s in self._subscribers if s is not subscriber)

        return end

    def _put(self, name: str, handler: ToolHandler) -> Registration:
        self._revision += 1
        entry = Registration(name=name, revision=self._revision, handler=handler)
        self._entries = MappingProxyType({**self._entries, name: entry})
        return entry

    def _tell(self, change: RegistryChange) -> None:
        for subscriber in self._subscribers:
            # A failing subscriber neither undoes the change nor keeps it from the others.
            with suppress(Exception):
                subscriber(change)


def _require_own_name(name: str, handler: ToolHandler) -> None:
    """Refuse a handler under a name that is not its tool's: rules match the tool they know."""
    own = handler.spec.name
    if name != own:
        raise ToolError(name, f"the tool `{own}` cannot be registered as `{name}`")
