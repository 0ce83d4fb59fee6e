"""`ToolRegistry`: the tools a service can run, replaced as a whole, so readers need no lock."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from typing import Protocol, TypeAlias

from policy.catalog import RunningTool, ToolSpec
from policy.model import ToolError
from policy.runtime import Listeners
from policy.tools.authoring.adapter import Authored, handler_for
from policy.tools.handler import ToolHandler, location_of
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


class Announce(Protocol):
    """Makes tools known to a policy; raises if it cannot have them."""

    def __call__(self, handlers: Iterable[ToolHandler], *, by: ToolRegistry | None) -> object:
        """Add the tools; `by` is the registry that runs them, None for tools without one."""
        ...


class ToolRegistry:
    """The one mutable map of tools; safe to change from any thread while calls run.

    `announce` is told of every tool before it is added, so that policies know all that can run.
    Readers take one snapshot. Subscribers are called for each change in order, in the thread that
    changed the registry and before it goes on; `changes` returns them in the event loop of the
    reader.
    """

    def __init__(self, announce: Announce | None = None) -> None:
        self._announce = announce
        # No other change may come between announcing a tool and adding it.
        self._announcing = threading.RLock()
        self._snapshot = RegistrySnapshot()
        self._listeners: Listeners[RegistryChange] = Listeners()
        self._untold: deque[RegistryChange] = deque()
        self._telling = False
        self._writing = threading.RLock()

    def register(self, name: str | Authored, tool: Authored | None = None) -> Registration:
        """Add a tool in any shape, and make it known to the policy first.

        `register(tool)` is the same as `register(name, tool)` with the tool's own name.
        Raises ToolError if the name is taken or not the handler's own, CatalogError if the policy's
        catalogue cannot contain it, and PolicyInvalid if the policy has errors with it that it does
        not have without it. Then nothing has changed.
        """
        handler = handler_for(name if tool is None else tool)
        with self._announcing:
            self.require_free(handler.spec.name if tool is None else name, handler)
            if self._announce is not None:
                self._announce((handler,), by=self)
            return self.register_known(handler)

    def register_known(self, handler: ToolHandler) -> Registration:
        """Add a tool that the policy knows already; raise ToolError if its name is taken."""
        with self._writing:
            self.require_free(handler.spec.name, handler)
            return self._put(handler, told_as=Registered)

    def register_all(self, tools: Iterable[Authored]) -> tuple[Registration, ...]:
        """Add tools as one change, or none of them; raises like `register`."""
        handlers = tuple(handler_for(tool) for tool in tools)
        return self._exchange(lambda entry: False, handlers)

    def replace_all(self, server: str, tools: Iterable[Authored]) -> tuple[Registration, ...]:
        """Make these the tools of an MCP server, as one change; raises like `register`.

        Its other tools are removed, and rules may still name them. The entry of a handler that
        is equal to the one before stays.
        """
        handlers = tuple(handler_for(tool) for tool in tools)
        other = next((h.spec for h in handlers if not _is_of(h.spec, server)), None)
        if other is not None:
            raise ToolError(other.name, f"`{other.name}` is not a tool of the server `{server}`")
        return self._exchange(lambda entry: _is_of(entry.handler.spec, server), handlers)

    def _exchange(
        self, leaves: Callable[[Registration], bool], handlers: tuple[ToolHandler, ...]
    ) -> tuple[Registration, ...]:
        """Put handlers in the place of the entries that leave."""
        with self._announcing:
            self._planned(leaves, handlers)
            if self._announce is not None and handlers:
                self._announce(handlers, by=self)
            with self._writing:
                left, stay = self._planned(leaves, handlers)
                return self._put_all(left, stay, handlers)

    def _planned(
        self, leaves: Callable[[Registration], bool], handlers: tuple[ToolHandler, ...]
    ) -> tuple[dict[str, Registration], RegistrySnapshot]:
        """Return the entries that leave, and the others; raise ToolError if a name is taken."""
        now = self._snapshot
        left = {name: entry for name, entry in now.items() if leaves(entry)}
        stay = {name: entry for name, entry in now.items() if name not in left}
        found = RegistrySnapshot(stay, now.revision)
        names: set[str] = set()
        for handler in handlers:
            name = handler.spec.name
            problem = found.objection(handler.spec)
            if problem is None and name in names:
                problem = f"two tools are called `{name}`"
            if problem is not None:
                raise ToolError(name, problem)
            names.add(name)
        return left, found

    def _put_all(
        self,
        left: dict[str, Registration],
        stay: RegistrySnapshot,
        handlers: tuple[ToolHandler, ...],
    ) -> tuple[Registration, ...]:
        revision = self._snapshot.revision
        entries: list[Registration] = []
        changes: list[RegistryChange] = []
        for name in left.keys() - {handler.spec.name for handler in handlers}:
            revision += 1
            changes.append(Unregistered(name=name, revision=revision))
        for handler in handlers:
            before = left.get(handler.spec.name)
            if before is not None and before.handler == handler:
                entries.append(before)
                continue
            revision += 1
            entries.append(self._entry(handler, revision))
            told_as = Registered if before is None else Replaced
            changes.append(told_as(name=handler.spec.name, revision=revision))
        if changes:
            every = {**stay, **{entry.name: entry for entry in entries}}
            self._snapshot = RegistrySnapshot(every, revision)
        for change in changes:
            self._tell(change)
        return tuple(entries)

    def announce(self, handlers: Iterable[ToolHandler]) -> None:
        """Make tools known to the policy that this registry does not run, or not yet."""
        if self._announce is not None:
            with self._announcing:
                self._announce(handlers, by=None)

    def running(self) -> tuple[RunningTool, ...]:
        """Return the tools with the places where they are defined."""
        return tuple(map(running_tool, (e.handler for e in self._snapshot.values())))

    def replace(self, registration: Registration, handler: ToolHandler) -> Registration:
        """Exchange the handler of an entry; raises like `register`.

        ToolError means that the entry is no longer there.
        """
        with self._announcing:
            self._require_current(registration, handler)
            if self._announce is not None:
                self._announce((handler,), by=self)
            with self._writing:
                self._require_current(registration, handler)
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

    def require_free(self, name: object, handler: ToolHandler) -> None:
        """Raise ToolError unless the handler could be registered under this name now."""
        _require_own_name(name, handler)
        problem = self._snapshot.objection(handler.spec)
        if problem is not None:
            raise ToolError(handler.spec.name, problem)

    def _require_current(self, registration: Registration, handler: ToolHandler) -> None:
        name = registration.name
        _require_own_name(name, handler)
        if self._snapshot.get(name) is not registration:
            raise ToolError(name, f"the tool called `{name}` has been replaced")

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
        entry = self._entry(handler, self._snapshot.revision + 1)
        self._snapshot = self._snapshot.having(entry)
        self._tell(told_as(name=entry.name, revision=entry.revision))
        return entry

    def _entry(self, handler: ToolHandler, revision: int) -> Registration:
        return Registration(
            name=handler.spec.name, revision=revision, handler=handler, _remove=self.unregister
        )

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


def running_tool(handler: ToolHandler) -> RunningTool:
    """Return a tool with the place where it is defined."""
    return RunningTool(spec=handler.spec, defined_at=location_of(handler))


def _require_own_name(name: object, handler: ToolHandler) -> None:
    """Reject a handler under a name that is not its tool's: rules match the tool by its name."""
    own = handler.spec.name
    if name != own:
        raise ToolError(own, f"the tool `{own}` cannot be registered as `{name}`")


def _is_of(spec: ToolSpec, server: str) -> bool:
    return spec.origin.kind == "mcp" and spec.origin.server == server
