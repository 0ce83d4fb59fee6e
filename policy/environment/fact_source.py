"""Builds the Facts of a call from this machine: clock, folders, links and addresses.

Links are followed and names resolved at most once per call, and the answers are kept with its
facts: a tool that asks again gets the answers that the decision used, even if the links have
changed since.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol, TypeAlias, TypeVar

from policy.environment.links import Links
from policy.environment.lookups import DiskLookups
from policy.environment.resolvers import Disk
from policy.environment.session_workspaces import SessionWorkspaces
from policy.environment.tree_lookups import JudgedTrees
from policy.model import (
    EMPTY,
    Balance,
    Caller,
    Charge,
    Facts,
    GitMove,
    History,
    RecallSaid,
    Resolvers,
)
from policy.runtime import Clock, NoThreadFree, Threads, utc_now

# Looks up a host name; None where it does not resolve.
LookUp: TypeAlias = Callable[[str], Awaitable[tuple[str, ...] | None]]
_Answered = TypeVar("_Answered")

# A call has few hosts; each round of deciding asks only for hosts that earlier rounds did not know.
_ROUNDS = 8
# Bounds the work for one call: hosts beyond this number do not resolve.
_MOST_NAMES = 100
_LOG = logging.getLogger(__name__)
# The system's resolver keeps a thread for a while after the look-up has timed out.
_LOOK_UPS = Threads("looking up host names", most=64, patience=4.0, fair=True)


class JudgedHosts:
    """The addresses of one call's hosts, each looked up once; a resolver for Facts.

    An unknown name is not resolved at once, but recorded in `pending`.
    """

    __slots__ = ("_cached", "_look_up", "pending", "trees")

    def __init__(self, look_up: LookUp | None = None, *, trees: JudgedTrees | None = None) -> None:
        self._look_up = look_up or look_up_host
        self._cached: dict[str, tuple[str, ...] | None] = {}
        self.pending: dict[str, None] = {}
        # The same call's disk queries.
        self.trees = trees

    @property
    def has_pending(self) -> bool:
        """Whether some look-up is still to be made."""
        return bool(self.pending or (self.trees is not None and self.trees.pending))

    def __call__(self, name: str) -> tuple[str, ...] | None:
        """Return the addresses of a name; None where it has none or has not been looked up."""
        if name not in self._cached:
            if len(self._cached) + len(self.pending) < _MOST_NAMES:
                self.pending[name] = None
            else:
                self._cached[name] = None
        return self._cached.get(name)

    async def addresses(self, name: str) -> tuple[str, ...] | None:
        """Return the addresses that the call was judged by.

        Where no rule needed the addresses, the name is looked up now.
        """
        if name not in self._cached:
            self.learn({name: await self._look_up(name)})
        return self._cached[name]

    def learn(self, found: Mapping[str, tuple[str, ...] | None]) -> None:
        """Record the addresses of names."""
        self._cached.update(found)
        self.pending.clear()


class SessionRecall(Protocol):
    """Recalls the earlier calls of one caller's session tree, and what is left of its budgets."""

    def __call__(self) -> History | None:
        """Return the earlier calls; None where they are not known."""
        ...

    def balance(self, charge: Charge, now: datetime | None) -> Balance:
        """Return what is left of a budget."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FactSource:
    """Where facts come from.

    `workspaces` has the folder of each session tree, None: all work in `workspace`.
    `context` returns the declared `context.…` facts for a caller, `history` and `said` what recalls
    the earlier calls of its session tree with its budgets, and what its user wrote; without them,
    these are not known. `git_elsewhere`: because of this variable no folder tells which repository
    git uses, so that none is looked into. `server_folders` returns where MCP servers run, as Facts
    have it.
    """

    workspace: str | None = None
    workspaces: SessionWorkspaces | None = None
    cwd: str | None = None
    home: str | None = None
    clock: Clock = utc_now
    look_up: LookUp = field(default_factory=lambda: look_up_host)
    disk: Disk = field(default_factory=Disk)
    context: Callable[[Caller], Mapping[str, Any]] = lambda caller: EMPTY
    history: Callable[[Caller], SessionRecall] | None = None
    said: Callable[[Caller], RecallSaid] | None = None
    git_elsewhere: str = ""
    server_folders: Callable[[], Mapping[str, str | None]] = lambda: EMPTY

    def facts(self, caller: Caller, resolvers: Resolvers | None = None) -> Facts:
        """Return the current facts, with these resolvers and no others.

        Without resolvers nothing is looked up; what sessions keep is known.
        """
        if resolvers is None:
            resolvers = Resolvers(history=self._recall(caller), said=self._said(caller))
        apart = self.workspaces
        workspace = self.workspace if apart is None else apart.path_of(caller)
        return Facts(
            cwd=self.cwd or workspace,
            workspace=workspace,
            home=self.home,
            now=self.clock(),
            context=self.context(caller),
            server_folders=self.server_folders(),
            resolvers=resolvers,
        )

    def facts_for_call(self, caller: Caller) -> tuple[Facts, JudgedHosts]:
        """Return the current facts for one call, and the hosts that its resolvers look up.

        Raises WorkspaceUnusable.
        """
        if self.workspaces is not None:
            self.workspaces.use(caller)
        links = Links()
        trees = JudgedTrees(DiskLookups(links.follow))
        hosts = JudgedHosts(self.look_up, trees=trees)
        recall = self._recall(caller)
        resolvers = self.disk.resolvers(
            links,
            look=trees,
            host=hosts,
            history=recall,
            balance=None if recall is None else recall.balance,
            said=self._said(caller),
        )
        if self.git_elsewhere:
            resolvers = replace(resolvers, restores=_not_known, git_variable=self.git_elsewhere)
        return self.facts(caller, resolvers), hosts

    def _recall(self, caller: Caller) -> SessionRecall | None:
        return None if self.history is None else self.history(caller)

    def _said(self, caller: Caller) -> RecallSaid | None:
        return None if self.said is None else self.said(caller)

    async def with_lookups(self, ask: Callable[[], _Answered], hosts: JudgedHosts) -> _Answered:
        """Return the result of `ask` once it needs no host name or tree that is still unknown.

        `ask` is pure and fast; a name or tree that it needs is looked up without blocking the loop,
        and `ask` is called again with the answer.
        """
        import asyncio

        for _ in range(_ROUNDS):
            if hosts.trees is not None and hosts.trees.pending:
                await hosts.trees.look_up_pending()
            wanted = tuple(hosts.pending)
            found = await asyncio.gather(*(self.look_up(name) for name in wanted))
            hosts.learn(dict(zip(wanted, found, strict=True)))
            answer = ask()
            if not hosts.has_pending:
                break
        # Names beyond that stay unresolved, and their tests indeterminate.
        return answer

    async def with_disk_lookups(
        self, ask: Callable[[], _Answered], hosts: JudgedHosts, answer: _Answered
    ) -> _Answered:
        """Return the result of `ask` after its disk queries; host names are not looked up."""
        trees = hosts.trees
        for _ in range(_ROUNDS):
            if trees is None or not trees.pending:
                break
            await trees.look_up_pending()
            answer = ask()
        return answer

    async def evaluate(
        self, ask: Callable[[Facts], _Answered], caller: Caller
    ) -> tuple[_Answered, Facts]:
        """Return the result of `ask` with the current facts, and these facts."""
        facts, hosts = self.facts_for_call(caller)
        answer = ask(facts)
        if hosts.has_pending:
            answer = await self.with_lookups(lambda: ask(facts), hosts)
        return answer, facts


async def look_up_host(name: str, *, seconds: float = 5.0) -> tuple[str, ...] | None:
    """Return the addresses of a host name from the system's resolver; None without an answer."""
    import asyncio

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


def _not_known(move: GitMove, path: str) -> bool | None:
    """Answer what a move of git changes, where its repository is not known."""
    return None
