"""`DemandPool`: what is opened on demand for several callers apart, a bounded number at a time."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, Protocol, TypeVar

from policy.processes.on_demand import OnDemand, State, Unavailable
from policy.runtime import Shares, owner_here


class _Kept(Protocol):
    """Something that is kept for one key."""

    @property
    def demand(self) -> OnDemand[Any]:
        """What is opened when it is used."""
        ...


_Key = TypeVar("_Key", bound=Hashable)
_Entry = TypeVar("_Entry", bound=_Kept)


class DemandPool(Generic[_Key, _Entry]):
    """Keeps an entry for each key, at most `most`: then the one used longest ago is closed.

    What is in use at a time is shared out among those that calls are made for (`acting_for`).
    """

    def __init__(self, make: Callable[[_Key], _Entry], *, most: int) -> None:
        self._make = make
        self._most = most
        self._entries: OrderedDict[_Key, _Entry] = OrderedDict()
        self._owners: dict[_Key, Hashable] = {}
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
        if entry is None or not entry.demand.users:
            self._require_share()
        if entry is None:
            self._make_room()
            entry = self._entries[key] = self._make(key)
        self._owners[key] = owner_here()
        self._entries.move_to_end(key)
        return entry

    async def forget(self, key: _Key) -> None:
        """Close the entry of a key that nobody uses any more."""
        entry = self._entries.pop(key, None)
        self._owners.pop(key, None)
        if entry is not None:
            await entry.demand.close()

    async def end_unused(self) -> None:
        """End what nobody uses now; the next use opens it again."""
        unused = [each.demand for each in self._entries.values() if not each.demand.users]
        await asyncio.gather(*(each.reset() for each in unused))

    async def close(self) -> None:
        """Close every entry for good."""
        self._closed = True
        demands = [each.demand for each in self._entries.values()]
        await asyncio.gather(*(each.close() for each in demands), *self._leaving)

    def _require_share(self) -> None:
        """Raise Unavailable if whoever calls has as many in use as one may have."""
        shares, owner = Shares(self._most), owner_here()
        for key, entry in self._entries.items():
            if entry.demand.users:
                shares.take(self._owners[key])
        if owner is not None and not shares.has_room(owner):
            raise Unavailable(
                f"{shares.total} of its {self._most} sessions are in use, {shares.of(owner)} of "
                "them by this caller, which is as many as it may have now"
            )

    def _make_room(self) -> None:
        """Close the entry that was used longest ago; raise Unavailable if all are in use."""
        if len(self._entries) < self._most:
            return
        for key, entry in self._entries.items():
            if not entry.demand.users:
                del self._entries[key]
                self._owners.pop(key)
                closing = asyncio.ensure_future(entry.demand.close())
                self._leaving.add(closing)
                closing.add_done_callback(self._leaving.discard)
                return
        raise Unavailable(f"all {self._most} of its sessions are in use")
