"""The world outside as a decision may see it: clock, folders, links and addresses, as Facts.

Links are followed and names resolved at most once a call, and the answers are kept with its facts:
a tool that asks them again gets what was judged, whatever has happened to the links since.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from datetime import UTC, datetime
from typing import Any, Protocol, TypeAlias, TypeVar

from policy.call import EMPTY, Caller
from policy.facts import Facts, Resolvers
from policy.records import dataclass
from policy.reload import Disk

# Looks a host name up; None where it does not resolve.
LookUp: TypeAlias = Callable[[str], Awaitable[tuple[str, ...] | None]]
_Answered = TypeVar("_Answered")

# A call has few hosts; each round of deciding can only ask for those an earlier one did not know.
_ROUNDS = 8
# A call that names more hosts is not worth as many questions: those beyond do not resolve.
_MOST_NAMES = 100
_BLIND = Resolvers()


class Clock(Protocol):
    """Tells the time, with its zone."""

    def __call__(self) -> datetime:
        """Return the time now."""
        ...


def utc_now() -> datetime:
    """Return the time now, in UTC."""
    return datetime.now(UTC)


class JudgedHosts:
    """The addresses of one call's hosts, each looked up once; a resolver for Facts.

    A name it does not know yet is not resolved, but remembered as wanted.
    """

    def __init__(self, look_up: LookUp | None = None) -> None:
        self._look_up = look_up or look_up_host
        self._known: dict[str, tuple[str, ...] | None] = {}
        self._wanted: dict[str, None] = {}

    def __call__(self, name: str) -> tuple[str, ...] | None:
        """Return the addresses of a name, None where it has none or is not known yet."""
        if name not in self._known:
            if len(self._known) + len(self._wanted) < _MOST_NAMES:
                self._wanted[name] = None
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

    def wanted(self) -> tuple[str, ...]:
        """Return the names asked for that are not known."""
        return tuple(self._wanted)

    def learn(self, found: Mapping[str, tuple[str, ...] | None]) -> None:
        """Keep what names resolve to."""
        self._known.update(found)
        self._wanted.clear()


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
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

    async def answered(
        self, ask: Callable[[Facts], _Answered], caller: Caller
    ) -> tuple[_Answered, Facts]:
        """Return `ask` of the facts of this moment, with the facts.

        `ask` is pure and quick; a name it wants resolved is looked up without blocking the loop,
        and it is asked again with the answer.
        """
        hosts = JudgedHosts(self.look_up)
        facts = self.facts(caller, self.disk.resolvers(host=hosts))
        for _ in range(_ROUNDS):
            answer = ask(facts)
            wanted = hosts.wanted()
            if not wanted:
                return answer, facts
            found = await asyncio.gather(*(self.look_up(name) for name in wanted))
            hosts.learn(dict(zip(wanted, found, strict=True)))
        # Names beyond that stay unresolved, and so undecidable.
        return ask(facts), facts


async def look_up_host(name: str, *, seconds: float = 5.0) -> tuple[str, ...] | None:
    """Return the addresses of a host name by the system's resolver; None without an answer."""
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(seconds):
            found = await loop.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError, TimeoutError):
        return None
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found)) or None
