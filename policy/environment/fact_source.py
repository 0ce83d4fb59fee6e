"""The world outside as a decision may see it: clock, folders, links and addresses, as Facts.

Links are followed and names resolved at most once a call, and the answers are kept with its facts:
a tool that asks them again gets what was judged, whatever has happened to the links since.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from policy.environment.links import Links
from policy.environment.lookups import DiskLookups
from policy.environment.resolvers import Disk
from policy.environment.tree_lookups import JudgedTrees
from policy.model import EMPTY, Caller, Facts, Resolvers
from policy.runtime import Clock, NoThreadFree, Threads, utc_now

# Looks a host name up; None where it does not resolve.
LookUp: TypeAlias = Callable[[str], Awaitable[tuple[str, ...] | None]]
_Answered = TypeVar("_Answered")

# A call has few hosts; each round of deciding can only ask for those an earlier one did not know.
_ROUNDS = 8
# A call that names more hosts is not worth as many questions: those beyond do not resolve.
_MOST_NAMES = 100
_BLIND = Resolvers()
_LOG = logging.getLogger(__name__)
# The system's resolver goes on for a while after nobody waits any more for what it finds.
_LOOK_UPS = Threads("looking up host names", most=32, patience=4.0)


class JudgedHosts:
    """The addresses of one call's hosts, each looked up once; a resolver for Facts.

    A name it does not know yet is not resolved, but remembered as `wanted`.
    """

    __slots__ = ("_known", "_look_up", "trees", "wanted")

    def __init__(self, look_up: LookUp | None = None, *, trees: JudgedTrees | None = None) -> None:
        self._look_up = look_up or look_up_host
        self._known: dict[str, tuple[str, ...] | None] = {}
        self.wanted: dict[str, None] = {}
        # What the same call wants looked at on the disk.
        self.trees = trees

    @property
    def waits(self) -> bool:
        """Whether something is wanted that takes longer."""
        return bool(self.wanted or (self.trees is not None and self.trees.wanted))

    def __call__(self, name: str) -> tuple[str, ...] | None:
        """Return the addresses of a name, None where it has none or is not known yet."""
        if name not in self._known:
            if len(self._known) + len(self.wanted) < _MOST_NAMES:
                self.wanted[name] = None
            else:
                self._known[name] = None
        return self._known.get(name)

    async def found(self, name: str) -> tuple[str, ...] | None:
        """Return what a name resolved to when the call was judged.

        Where no rule looked at its addresses, any will do, and it is looked up now.
        """
        if name not in self._known:
            self.learn({name: await self._look_up(name)})
        return self._known[name]

    def learn(self, found: Mapping[str, tuple[str, ...] | None]) -> None:
        """Keep what names resolve to."""
        self._known.update(found)
        self.wanted.clear()


@dataclass(frozen=True, slots=True, kw_only=True)
class FactSource:
    """Where facts come from. `context` gives the declared `context.…` facts for a caller."""

    workspace: str | None = None
    cwd: str | None = None
    home: str | None = None
    clock: Clock = utc_now
    look_up: LookUp = field(default_factory=lambda: look_up_host)
    disk: Disk = field(default_factory=Disk)
    context: Callable[[Caller], Mapping[str, Any]] = lambda caller: EMPTY

    def facts(self, caller: Caller, resolvers: Resolvers = _BLIND) -> Facts:
        """Return the facts of this moment; nothing else is resolved than `resolvers` do."""
        return Facts(
            cwd=self.cwd or self.workspace,
            workspace=self.workspace,
            home=self.home,
            now=self.clock(),
            context=self.context(caller),
            resolvers=resolvers,
        )

    def seen_by(self, caller: Caller) -> tuple[Facts, JudgedHosts]:
        """Return the facts of this moment for one call, and the hosts whose names they resolve."""
        links = Links()
        trees = JudgedTrees(DiskLookups(links.follow))
        hosts = JudgedHosts(self.look_up, trees=trees)
        resolvers = self.disk.resolvers(links, look=trees, host=hosts)
        return self.facts(caller, resolvers), hosts

    async def settled(self, ask: Callable[[], _Answered], hosts: JudgedHosts) -> _Answered:
        """Return what `ask` says once it wants no more names resolved than `hosts` knows.

        `ask` is pure and quick; a name it wants resolved, or a tree it wants looked at, is looked
        up without blocking the loop, and it is asked again with the answer.
        """
        for _ in range(_ROUNDS):
            if hosts.trees is not None and hosts.trees.wanted:
                await hosts.trees.settle()
            wanted = tuple(hosts.wanted)
            found = await asyncio.gather(*(self.look_up(name) for name in wanted))
            hosts.learn(dict(zip(wanted, found, strict=True)))
            answer = ask()
            if not hosts.waits:
                break
        # Names beyond that stay unresolved, and so undecidable.
        return answer

    async def looked(
        self, ask: Callable[[], _Answered], hosts: JudgedHosts, answer: _Answered
    ) -> _Answered:
        """Return what `ask` says once the disk has been looked at, with names still as they are."""
        trees = hosts.trees
        for _ in range(_ROUNDS):
            if trees is None or not trees.wanted:
                break
            await trees.settle()
            answer = ask()
        return answer

    async def answered(
        self, ask: Callable[[Facts], _Answered], caller: Caller
    ) -> tuple[_Answered, Facts]:
        """Return `ask` of the facts of this moment, with the facts."""
        facts, hosts = self.seen_by(caller)
        answer = ask(facts)
        if hosts.waits:
            answer = await self.settled(lambda: ask(facts), hosts)
        return answer, facts


async def look_up_host(name: str, *, seconds: float = 5.0) -> tuple[str, ...] | None:
    """Return the addresses of a host name by the system's resolver; None without an answer."""
    try:
        async with asyncio.timeout(seconds):
            found = await _LOOK_UPS.run(_all_addresses, name)
    except (OSError, UnicodeError, TimeoutError):
        return None
    except NoThreadFree as error:
        _LOG.warning("a host name is not looked up: %s", error)
        return None
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found)) or None


def _all_addresses(name: str) -> list[Any]:
    return socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
