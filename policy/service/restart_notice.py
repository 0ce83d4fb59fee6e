"""Says which edits of `[service]` wait for a restart: a service reads these settings once."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from policy.generation import ServiceSettings
from policy.store import PolicyStore

_LOG = logging.getLogger(__name__)
# Read for each installation.
_IN_FORCE = frozenset({"[service.python] hosts"})


def say_what_waits(store: object, built_with: ServiceSettings) -> None:
    """Log a warning at each reload after which other settings are configured than are in use."""
    if isinstance(store, PolicyStore):
        store.subscribe(_Notice(store, built_with))


class _Notice:
    """Keeps nothing of the service, which may be gone long before its store is."""

    def __init__(self, store: PolicyStore, built_with: ServiceSettings) -> None:
        self._store = store
        self._built_with = built_with
        self._said: tuple[str, ...] = ()

    def __call__(self, _change: object) -> None:
        generation = self._store.current
        if generation is None:
            return
        waiting = waiting_for_restart(self._built_with, generation.settings.service)
        if waiting and waiting != self._said:
            _LOG.warning("an edit waits until this service is restarted: %s", ", ".join(waiting))
        self._said = waiting


def waiting_for_restart(in_use: ServiceSettings, configured: ServiceSettings) -> tuple[str, ...]:
    """Return the keys that differ and are read only when a service is built."""
    found = _differing("service", in_use, configured)
    return tuple(key for key in found if key not in _IN_FORCE)


def _differing(table: str, one: Any, other: Any) -> Iterator[str]:
    for each in fields(one):
        ours, theirs = getattr(one, each.name), getattr(other, each.name)
        if is_dataclass(ours) and is_dataclass(theirs):
            yield from _differing(f"{table}.{each.name}", ours, theirs)
        elif ours != theirs:
            yield f"[{table}] {each.name}"
