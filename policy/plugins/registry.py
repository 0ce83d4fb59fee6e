"""`PluginRegistry`: plugins, their grants, and the capabilities that may be used.

A capability that is declared but not granted is withheld: its tool is in no registry of tools, and
the host application does not get it.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Protocol, TypeAlias

from policy.capabilities import (
    Difference,
    Grants,
    Kind,
    PluginManifest,
    PluginRefused,
    compare,
    key_of,
    table,
)
from policy.catalog import CatalogError
from policy.model import EMPTY, PolicyInvalid, ToolError
from policy.plugins.changes import (
    PluginChange,
    PluginRegistered,
    PluginRegranted,
    PluginUnregistered,
)
from policy.plugins.extension import ExtensionHandler
from policy.plugins.registration import PluginRegistration, ToolRegistration, registration_of
from policy.plugins.tool_handlers import handlers_of
from policy.runtime import Listeners
from policy.service import GovernedService
from policy.tools import Authored

_LOG = logging.getLogger(__name__)

# Returns the current grants of a plugin.
GrantsOf: TypeAlias = Callable[[str], Grants]
Subscriber: TypeAlias = Callable[[PluginChange], None]


class Reloads(Protocol):
    """Reports changes of the configuration, as a policy store does."""

    def subscribe(self, callback: Callable[[Any], None]) -> Callable[[], None]:
        """Call back after every change."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginEntry:
    """One plugin as registered, its capabilities in the order of the manifest."""

    manifest: PluginManifest
    grants: Grants
    registrations: tuple[PluginRegistration, ...]
    revision: int

    @property
    def difference(self) -> Difference:
        """The difference between its declarations and its grants."""
        return compare(self.manifest, self.grants)


class PluginRegistry:
    """The plugins of one service. Each is registered and unregistered as a whole.

    If `reloads` is given, grants are read again after every change of the configuration.
    """

    def __init__(
        self, service: GovernedService, grants_of: GrantsOf, *, reloads: Reloads | None = None
    ) -> None:
        self._service = service
        self._grants_of = grants_of
        self._plugins: Mapping[str, PluginEntry] = MappingProxyType({})
        self._revision = 0
        self._listeners: Listeners[PluginChange] = Listeners()
        self._changing = threading.Lock()
        self._regrant_wanted = False
        self.stop: Callable[[], None] = (
            (lambda: None) if reloads is None else reloads.subscribe(self._reloaded)
        )

    def register(
        self,
        manifest: PluginManifest,
        *,
        tools: Mapping[str, Authored] = EMPTY,
        targets: Mapping[str, Any] = EMPTY,
    ) -> Difference:
        """Add a plugin with everything it declares, or raise PluginRefused and change nothing.

        `tools` are the handlers of its tools by name; `targets` implement its other capabilities,
        by `kind:name`.
        """
        with self._alone():
            handlers = handlers_of(
                manifest,
                tools=tools,
                targets=targets,
                registered={name: entry.manifest for name, entry in self._plugins.items()},
            )
            grants = self._grants_of(manifest.id)
            entry = PluginEntry(
                manifest=manifest,
                grants=grants,
                registrations=tuple(
                    registration_of(
                        manifest.id,
                        declared,
                        active=grants.cover(declared),
                        target=handlers.get(key_of(declared), targets.get(key_of(declared))),
                    )
                    for declared in manifest.capabilities
                ),
                revision=self._revision + 1,
            )
            self._install(entry)
            self._put(entry)
            self._listeners.notify(
                PluginRegistered(
                    plugin=manifest.id, revision=entry.revision, difference=entry.difference
                )
            )
        return entry.difference

    def unregister(self, plugin: str) -> PluginManifest | None:
        """Remove a plugin and all that it contributed; None if it is not registered."""
        with self._alone():
            entry = self._plugins.get(plugin)
            if entry is None:
                return None
            self._revision += 1
            rest = {name: kept for name, kept in self._plugins.items() if name != plugin}
            self._plugins = MappingProxyType(rest)
            for tool in _tools(entry):
                self._withdraw(tool)
            self._listeners.notify(PluginUnregistered(plugin=plugin, revision=self._revision))
        return entry.manifest

    def regrant(self) -> None:
        """Read all grants again: capabilities that are no longer granted are withdrawn at once."""
        self._regrant_wanted = True
        self._settle()

    def plugins(self) -> tuple[str, ...]:
        """Return the identifiers of all plugins, sorted."""
        return tuple(sorted(self._plugins))

    def active(self, kind: Kind) -> tuple[PluginRegistration, ...]:
        """Return the granted capabilities of one type, which a host application may serve."""
        plugins = self._plugins
        return tuple(
            one
            for plugin in sorted(plugins)
            for one in plugins[plugin].registrations
            if one.active and one.declaration.type == kind
        )

    def get(self, plugin: str, key: str) -> PluginRegistration | None:
        """Return one capability of a plugin by `kind:name`, withheld or not."""
        entry = self._plugins.get(plugin)
        if entry is None:
            return None
        return next((one for one in entry.registrations if key_of(one.declaration) == key), None)

    def difference(self, plugin: str) -> Difference | None:
        """Return the difference between declarations and grants; None for an unknown plugin."""
        entry = self._plugins.get(plugin)
        return None if entry is None else entry.difference

    def table(self) -> str:
        """Return every capability and its state, as lines for people."""
        plugins = self._plugins
        return table(plugins[plugin].difference for plugin in sorted(plugins))

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Call `subscriber` with every later change, in order; return a function to stop."""
        return self._listeners.add(subscriber)

    def _install(self, entry: PluginEntry) -> None:
        """Announce all tools of a plugin and register the granted ones, or none of them."""
        done: list[ToolRegistration] = []
        try:
            # All at once, and the withheld ones too, so that rules can name them.
            self._service.registry.announce([one.target for one in _tools(entry)])
            for one in _tools(entry):
                _grant(one.target, entry)
                if one.active:
                    self._service.register(one.target)
                    done.append(one)
        except Exception as error:
            for one in done:
                self._withdraw(one)
            if isinstance(error, (ToolError, ValueError, CatalogError, PolicyInvalid)):
                raise PluginRefused(str(error)) from error
            raise

    def _withdraw(self, one: ToolRegistration) -> None:
        found = self._service.registry.snapshot().get(one.target.spec.name)
        if found is not None and found.handler is one.target:
            self._service.registry.unregister(found)

    def _offer(self, one: ToolRegistration) -> None:
        """Register a tool that is granted again; what cannot be keeps no other plugin from its."""
        name = one.target.spec.name
        if name in self._service.registry.snapshot():
            return
        try:
            self._service.registry.register_known(one.target)
        except ToolError as error:
            _LOG.error("the tool of a plugin cannot be registered: %s", error.message)

    def _put(self, entry: PluginEntry) -> None:
        self._revision = entry.revision
        self._plugins = MappingProxyType({**self._plugins, entry.manifest.id: entry})

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other changes out; grants that changed meanwhile are read however this ends."""
        try:
            with self._changing:
                yield
        finally:
            self._settle()

    def _reloaded(self, outcome: object) -> None:
        self.regrant()

    def _settle(self) -> None:
        """Read grants again if requested; if another thread changes plugins, it does it afterwards.

        It runs in the thread that reloads, so it never waits for another thread.
        """
        while self._regrant_wanted and self._changing.acquire(blocking=False):
            try:
                self._regrant_wanted = False
                for plugin in sorted(self._plugins):
                    self._regrant(self._plugins[plugin])
            finally:
                self._changing.release()

    def _regrant(self, before: PluginEntry) -> None:
        grants = self._grants_of(before.manifest.id)
        if grants == before.grants:
            return
        after = replace(
            before,
            grants=grants,
            revision=self._revision + 1,
            registrations=tuple(
                replace(one, active=grants.cover(one.declaration)) for one in before.registrations
            ),
        )
        for one in _tools(after):
            _grant(one.target, after)
            if not one.active:
                self._withdraw(one)
        self._put(after)
        for one in _tools(after):
            if one.active:
                self._offer(one)
        self._listeners.notify(
            PluginRegranted(
                plugin=after.manifest.id, revision=after.revision, difference=after.difference
            )
        )


def _tools(entry: PluginEntry) -> list[ToolRegistration]:
    return [one for one in entry.registrations if isinstance(one, ToolRegistration)]


def _grant(handler: object, entry: PluginEntry) -> None:
    if isinstance(handler, ExtensionHandler):
        handler.granted = frozenset(entry.difference.active)
