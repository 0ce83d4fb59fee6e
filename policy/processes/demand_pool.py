"""`DemandPool`: what is opened on demand for several callers apart, a bounded number at a time."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, Protocol, TypeVar

from policy.processes.on_demand import OnDemand, State, Unavailable


class _Kept(Protocol):
    """Something that is kept for one key."""

    @property
    def demand(self) -> OnDemand[Any]:
        """What is opened when it is used."""
        ...


_Key = TypeVar("_Key", bound=Hashable)
_Entry = TypeVar("_Entry", bound=_Kept)


class DemandPool(Generic[_Key, _Entry]):
    """Keeps an entry for each key, at most `most`: then the one used longest ago is closed."""

    def __init__(self, make: Callable[[_Key], _Entry], *, most: int) -> None:
        self._make = make
        self._most = most
        self._entries: OrderedDict[_Key, _Entry] = OrderedDict()
        self._leaving: set[asyncio.Task[None]] = set()
        self._closed = False

    @property
    def states(self) -> tuple[State, ...]:
        """How each entry is."""
        return tuple(each.demand.state for each in self._entries.values())

    def of(self, key: _Key) -> _Entry:
        """Return the entry of a key; raise Unavailable if there can be none now."""
        if self._closed:
            raise Unavailable("it is not used any more")
        entry = self._entries.get(key)
        if entry is None:
            self._make_room()
            entry = self._entries[key] = self._make(key)
        self._entries.move_to_end(key)
        return entry

    async def forget(self, key: _Key) -> None:
        """Close the entry of a key that nobody uses any more."""
        entry = self._entries.pop(key, None)
        if entry is not None:
            await entry.demand.close()

    async def close(self) -> None:
        """Close every entry for good."""
        self._closed = True
        demands = [each.demand for each in self._entries.values()]
        await asyncio.gather(*(each.close() for each in demands), *self._leaving)

    def _make_room(self) -> None:
        """Close the entry that was used longest ago; raise Unavailable if all are in use."""
        if len(self._entries) < self._most:
            return
        for key, entry in self._entries.items():
            if not entry.demand.users:
                del self._entries[key]
                closing = asyncio.ensure_future(entry.demand.close())
                self._leaving.add(closing)
                closing.add_done_callback(self._leaving.discard)
                return
        raise Unavailable(f"all {self._most} of its sessions are in use")
