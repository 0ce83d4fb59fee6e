"""`ToolRegistry`: the tools a service can run, replaced as a whole, so readers need no lock."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import TypeAlias

from policy.catalog import ToolSpec
from policy.model import ToolError
from policy.runtime import Listeners
from policy.tools.handler import ToolHandler
from policy.tools.registry_feed import RegistryFeed
from policy.tools.registry_snapshot import (
    Registered,
    Registration,
    RegistryChange,
    RegistrySnapshot,
    Replaced,
    Unregistered,
)

Subscriber: TypeAlias = Callable[[RegistryChange], None]


class ToolRegistry:
    """The one mutable map of tools; safe to change from any thread while calls run.

    Readers take one snapshot. Subscribers are called for each change in order, in the thread that
    changed the registry and before it goes on; `changes` returns them in the event loop of the
    reader.
    """

    def __init__(self) -> None:
        self._snapshot = RegistrySnapshot()
        self._listeners: Listeners[RegistryChange] = Listeners()
        self._untold: deque[RegistryChange] = deque()
        self._telling = False
        self._writing = threading.RLock()

    def register(self, name: str, handler: ToolHandler) -> Registration:
        """Add a tool; raise ToolError if the name is taken or not the handler's own."""
        with self._writing:
            self.require_free(name, handler)
            return self._put(handler, told_as=Registered)

    def replace(self, registration: Registration, handler: ToolHandler) -> Registration:
        """Exchange the handler of an entry; raise ToolError if the entry is no longer there."""
        with self._writing:
            name = registration.name
            _require_own_name(name, handler)
            if self._snapshot.get(name) is not registration:
                raise ToolError(name, f"the tool called `{name}` has been replaced")
            return self._put(handler, told_as=Replaced)

    def unregister(self, entry: str | Registration) -> ToolHandler | None:
        """Remove a tool and return its handler; None if it is not there.

        A `Registration` removes only exactly that entry, never a newer one with its name.
        """
        with self._writing:
            now = self._snapshot
            found = now.find(entry) if isinstance(entry, str) else now.get(entry.name)
            if found is None or (isinstance(entry, Registration) and found is not entry):
                return None
            self._snapshot = now.without(found)
            self._tell(Unregistered(name=found.name, revision=self._snapshot.revision))
            return found.handler

    def require_free(self, name: str, handler: ToolHandler) -> None:
        """Raise ToolError unless the handler could be registered under this name now."""
        _require_own_name(name, handler)
        problem = self._snapshot.objection(handler.spec)
        if problem is not None:
            raise ToolError(name, problem)

    def snapshot(self) -> RegistrySnapshot:
        """Return all entries as they are now; later changes do not affect it."""
        return self._snapshot

    def get(self, name: str) -> ToolHandler | None:
        """Return a tool's handler; for the name that versions share, that of the newest."""
        entry = self._snapshot.find(name)
        return None if entry is None else entry.handler

    def list(self) -> tuple[str, ...]:
        """Return the full names of all tools, sorted."""
        return tuple(self._snapshot)

    def specs(self) -> tuple[ToolSpec, ...]:
        """Return the definitions of the tools for policies, by name."""
        return self._snapshot.specs

    @property
    def revision(self) -> int:
        """How often the registry has changed."""
        return self._snapshot.revision

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Call `subscriber` on every change from now on; return a function that ends that.

        It may change the registry itself; every subscriber gets that change after the one before.
        """
        # A subscriber that is added between two changes gets none that happened before.
        with self._writing:
            return self._listeners.add(subscriber)

    def changes(self, *, buffer: int = 256) -> RegistryFeed:
        """Return the changes from now on, for `async for` in the event loop that runs here.

        A reader that is more than `buffer` changes behind gets a `Missed` in place of the others.
        """
        return RegistryFeed(self.subscribe, buffer=buffer)

    def _put(
        self, handler: ToolHandler, *, told_as: type[Registered] | type[Replaced]
    ) -> Registration:
        entry = Registration(
            name=handler.spec.name,
            revision=self._snapshot.revision + 1,
            handler=handler,
            _remove=self.unregister,
        )
        self._snapshot = self._snapshot.having(entry)
        self._tell(told_as(name=entry.name, revision=entry.revision))
        return entry

    def _tell(self, change: RegistryChange) -> None:
        """Report one change to every subscriber before the next, even if one causes that."""
        self._untold.append(change)
        if self._telling:
            return
        self._telling = True
        try:
            while self._untold:
                self._listeners.notify(self._untold.popleft())
        finally:
            self._telling = False


def _require_own_name(name: str, handler: ToolHandler) -> None:
    """Reject a handler under a name that is not its tool's: rules match the tool by its name."""
    own = handler.spec.name
    if name != own:
        raise ToolError(name, f"the tool `{own}` cannot be registered as `{name}`")
