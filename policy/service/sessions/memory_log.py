"""Keeps the calls of each session tree, in memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

from policy.model import (
    Balance,
    Caller,
    CallOutput,
    Charge,
    History,
    Outcome,
    ReleasedCall,
    UserSaid,
    owner_of,
)
from policy.runtime import Shares
from policy.service.sessions.charging import BudgetCharge, StoredBudget, by_budget, have_room
from policy.service.sessions.heard_texts import FORGOTTEN
from policy.service.sessions.kept_calls import (
    DEFAULT_BOUNDS,
    PART,
    KeepingBounds,
    KeptBytes,
    encoded,
    encoded_output,
)
from policy.service.sessions.memory_budgets import MemoryBudgets
from policy.service.sessions.session_log import SessionKey, children_of, sessions_of
from policy.service.sessions.session_tree import SessionTree, empty_tree, root_of, running_call

_MOST_SESSIONS = 10_000
_MOST_FORGOTTEN = 1_000_000
_LOOKED_AT = 64
_PART_OF_ONE = 16
# All trees together keep as many bytes as so many that are full.
_TREES_IN_FULL = 32
# Of what all users wrote, in bytes.
_MOST_HEARD = 50_000_000
_FORGOTTEN = "the beginning of this session was forgotten, as there were too many sessions"


@dataclass(frozen=True, eq=False, slots=True)
class MemoryRelease:
    """One call that may be handed to its tool; it counts as running until it is finished."""

    tree: SessionTree
    call: ReleasedCall
    charges: tuple[BudgetCharge, ...]


class MemorySessionLog:
    """The session trees of one service. Every method may be called from any thread.

    At most `most` sessions are kept. The one used least recently is forgotten first, a caller's own
    if it has more than a sixteenth; when it comes back, its history is unknown. `bounds` are those
    of each tree. All together keep at most 32 times as many bytes of calls; those used least
    recently lose theirs first.
    """

    def __init__(
        self, *, most: int = _MOST_SESSIONS, bounds: KeepingBounds = DEFAULT_BOUNDS
    ) -> None:
        self._most = most
        self._bounds = bounds
        self._lock = threading.Lock()
        self._trees: OrderedDict[SessionKey, SessionTree] = OrderedDict()
        # The sessions that have been seen below another, and how much was heard in all of them.
        self._children: set[SessionKey] = set()
        self._messages = 0
        self._heard_bytes = 0
        # Hashes are enough: a session that is taken for a forgotten one is only judged stricter.
        self._forgotten: set[int] = set()
        self._forgotten_of = Shares(_MOST_FORGOTTEN)
        # Whose each session is, and the sessions of each owner, that used least recently first.
        self._owners: dict[SessionKey, Hashable] = {}
        self._owned: dict[Hashable, OrderedDict[SessionKey, None]] = {}
        self._kept = KeptBytes()
        self._budgets = MemoryBudgets()

    def history(self, caller: Caller) -> History:
        """Return the earlier calls of the caller's session tree."""
        with self._lock:
            return self._tree(caller).snapshot()

    def balance(self, caller: Caller, charge: Charge, now: datetime | None) -> Balance:
        """Return what is left of a budget for a call of this caller."""
        with self._lock:
            return self._balance(self._tree(caller), charge, now)

    def release(
        self,
        caller: Caller,
        call: ReleasedCall,
        *,
        judged_by: History | None,
        charges: tuple[Charge, ...] = (),
    ) -> MemoryRelease | None:
        """Note a call as running, and charge it; None if it has to be judged again."""
        with self._lock:
            tree = self._tree(caller)
            if judged_by is not None and tree.snapshot() != judged_by:
                return None
            if not have_room(charges, lambda one: self._balance(tree, one, call.at)):
                return None
            release = MemoryRelease(tree, call, by_budget(charges))
            for budgets, theirs in self._by_budgets(tree, release.charges):
                budgets.charge(call.tool, call.at, theirs, owner=owner_of(caller))
            tree.begin(release, running_call(caller, call))
            return release

    def finish(
        self, release: MemoryRelease, outcome: Outcome | None, output: CallOutput | None = None
    ) -> None:
        """Note how a call ended; `outcome` None: it never reached its tool."""
        size = 0
        if release.call.input is not None:
            returned = None if output is None else encoded_output(output, self._bounds)
            if returned is None:
                output = None
            size = len(returned or b"") + len(encoded(release.call.input) or b"")
        with self._lock:
            tree = root_of(release.tree)
            if outcome is not None:
                tree.end(release, outcome, output, size)
                if self._kept.count > _TREES_IN_FULL * self._bounds.bytes:
                    self._forget_some_calls(tree)
            else:
                tree.withdraw(release)
                for budgets, charges in self._by_budgets(tree, release.charges):
                    budgets.take_back(release.call.tool, release.call.at, charges)

    def _forget_some_calls(self, current: SessionTree) -> None:
        """Forget the calls of trees that are used least, until there is room for the rest."""
        most = _TREES_IN_FULL * self._bounds.bytes
        for tree in self._trees.values():
            if tree is not current and root_of(tree) is tree:
                tree.kept.forget_all()
                tree.history = None
            # A part more, as looking for them takes as long as there are trees.
            if self._kept.count <= most - most // PART:
                return

    def hear(self, caller: Caller, texts: Sequence[str], *, missed: bool) -> bool:
        """Note what the user wrote; False if the session is not the root of its tree."""
        with self._lock:
            tree = self._tree(caller)
            if (caller.user, caller.session) in self._children:
                return False
            before = tree.heard.bytes
            tree.hear(texts, number=self._messages, missed=missed)
            self._messages += len(texts)
            self._heard_bytes += tree.heard.bytes - before
            self._forget_some_heard(tree)
            return True

    def said(self, caller: Caller) -> UserSaid | str:
        """Return what the user wrote in the caller's session tree, or why that is not known."""
        with self._lock:
            tree = self._tree(caller)
            return tree.unknown or tree.heard.said()

    def _forget_some_heard(self, current: SessionTree) -> None:
        """Forget what was heard least recently, until there is room for the rest."""
        if self._heard_bytes <= _MOST_HEARD:
            return
        for tree in self._trees.values():
            if tree is not current and tree.heard.bytes:
                self._heard_bytes -= tree.heard.bytes
                tree.heard.lose(FORGOTTEN)
            if self._heard_bytes <= _MOST_HEARD:
                return

    def clear(self, session: SessionKey, *, running: bool) -> bool:
        """Forget the calls of a session's tree; see `SessionTree.clear`. False: there is none."""
        with self._lock:
            known = self._trees.get(session)
            if known is not None:
                root_of(known).clear(running=running)
            return known is not None

    def budgets(self, meters: Iterable[str]) -> list[StoredBudget]:
        """Return the budgets of some meters, with what was charged to them."""
        wanted = frozenset(meters)
        with self._lock:
            found = list(self._budgets.stored(wanted))
            trees = dict.fromkeys(root_of(tree) for tree in self._trees.values())
            for number, tree in enumerate(trees, 1):
                sessions = tuple(tree.sessions)
                for one in tree.budgets.stored(wanted):
                    found.append(replace(one, tree=number, sessions=sessions))
            return found

    def _balance(self, tree: SessionTree, charge: Charge, now: datetime | None) -> Balance:
        if not charge.budget.of_tree:
            return self._budgets.balance(charge, now)
        return tree.balance(charge, now)

    def _by_budgets(
        self, tree: SessionTree, charges: tuple[BudgetCharge, ...]
    ) -> list[tuple[MemoryBudgets, tuple[BudgetCharge, ...]]]:
        """Return the charges of the tree's own budgets, and those of all others."""
        own = tuple(charge for charge in charges if charge.budget.of_tree)
        others = tuple(charge for charge in charges if not charge.budget.of_tree)
        # First those that can be refused.
        return [(self._budgets, others), (tree.budgets, own)]

    def _tree(self, caller: Caller) -> SessionTree:
        if caller.parent is None:
            known = self._trees.get((caller.user, caller.session))
            if known is not None and known.joined is None:
                self._use((caller.user, caller.session))
                return known
        keys = sessions_of(caller)
        found = list(dict.fromkeys(root_of(self._trees[key]) for key in keys if key in self._trees))
        tree = found[0] if found else empty_tree(self._bounds, self._kept)
        for other in found[1:]:
            tree.join(other)
        for key in keys:
            if key not in tree.sessions:
                self._add(key, tree, owner_of(caller))
            self._use(key)
        self._children.update(children_of(caller))
        self._forget_some(tree, owner_of(caller))
        return tree

    def _use(self, key: SessionKey) -> None:
        self._trees.move_to_end(key)
        self._owned[self._owners[key]].move_to_end(key)

    def _add(self, key: SessionKey, tree: SessionTree, owner: Hashable) -> None:
        tree.sessions.add(key)
        self._trees[key] = tree
        self._owners[key] = owner
        self._owned.setdefault(owner, OrderedDict())[key] = None
        if hash(key) in self._forgotten or not self._forgotten_of.has_room(owner):
            tree.unknown = _FORGOTTEN
            tree.history = None

    def _forget_some(self, current: SessionTree, owner: Hashable) -> None:
        """Forget whole trees, the least recently used first, but for running and current ones."""
        if len(self._trees) <= self._most:
            return
        # A caller that opens sessions without end forgets its own, and not those of others.
        own = self._owned.get(owner, OrderedDict())
        oldest = own if len(own) > self._most // _PART_OF_ONE else self._trees
        # The bound is soft: of many running trees, a few are looked at each time.
        for key in list(islice(oldest, _LOOKED_AT)):
            tree = root_of(self._trees[key]) if key in self._trees else current
            if tree is current or tree.running:
                continue
            self._heard_bytes -= tree.heard.bytes
            tree.kept.forget_all()
            for session in tree.sessions:
                self._forget(session)
            if len(self._trees) <= self._most:
                return

    def _forget(self, session: SessionKey) -> None:
        del self._trees[session]
        self._children.discard(session)
        owner = self._owners.pop(session)
        del self._owned[owner][session]
        if not self._owned[owner]:
            del self._owned[owner]
        if self._forgotten_of.has_room(owner) and hash(session) not in self._forgotten:
            self._forgotten.add(hash(session))
            self._forgotten_of.take(owner)
