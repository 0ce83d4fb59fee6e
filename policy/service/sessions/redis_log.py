"""Keeps the calls of each session tree, in a Redis server that processes share."""

from __future__ import annotations

import hashlib
import json
import secrets
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache, partial
from math import ceil

from policy.model import (
    LEAST_SLACK,
    Balance,
    Budget,
    CalledTool,
    Caller,
    CallOutput,
    Charge,
    History,
    Outcome,
    ReleasedCall,
    UserSaid,
    balance_of,
)
from policy.service.sessions.charging import BudgetCharge, StoredBudget, by_budget, have_room
from policy.service.sessions.heard_texts import NOT_HEARD, texts_within
from policy.service.sessions.kept_calls import (
    DEFAULT_BOUNDS,
    KeepingBounds,
    KeptBytes,
    encoded,
    encoded_output,
)
from policy.service.sessions.redis_entries import (
    StoredBudgetStream,
    StoredTree,
    charge_event,
    running_event,
)
from policy.service.sessions.redis_store import (
    BUDGET,
    TREE,
    Add,
    Answer,
    Change,
    Entry,
    News,
    RedisStore,
    Seen,
    Write,
)
from policy.service.sessions.session_log import SessionKey, children_of, sessions_of
from policy.service.sessions.session_summary import SessionSummary
from policy.service.sessions.session_tree import running_call
from policy.service.sessions.stored_calls import key_of_session, key_of_tool, microseconds

# How often something is tried again, while other processes write to the same streams.
_MOST_TRIES = 100
_TREES_CACHED = 256
_BUDGETS_CACHED = 4_096
_SESSIONS_CACHED = 100_000
# All trees that are cached keep as many bytes of calls as so many that are full.
_TREES_IN_FULL = 32
_BUSY = "other processes change it all the time"
_LOST_TREE = "it has lost the calls of a session"


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisRelease:
    """One call that may be handed to its tool; it counts as running until it is finished."""

    id: bytes
    session: str
    tool: CalledTool
    at: datetime | None
    # How many bytes its input takes, None: it is not kept.
    input: int | None
    charges: tuple[BudgetCharge, ...]


class RedisSessionLog:
    """A `SessionLog` in a Redis server; `url` is `redis://`, `rediss://` (TLS) or `unix://`.

    A call that was running when its process died stays so for good. Sessions are never forgotten.
    Calls are kept one by one within `bounds`; a budget is kept for as long as a window reaches it.
    Raises SessionLogUnusable if the server cannot be reached, may forget what is noted, or has what
    another version wrote.
    """

    def __init__(
        self, url: str, *, password: str | None = None, bounds: KeepingBounds = DEFAULT_BOUNDS
    ) -> None:
        self._store = RedisStore(url, password=password)
        self._bounds = bounds
        self._kept = KeptBytes()
        self._one_at_a_time = threading.Lock()
        # What was read of the streams so far, and in which tree each session is.
        self._trees: OrderedDict[str, StoredTree] = OrderedDict()
        self._budgets: OrderedDict[str, StoredBudgetStream] = OrderedDict()
        self._places: OrderedDict[str, str] = OrderedDict()

    def close(self) -> None:
        """Close the connection."""
        with self._one_at_a_time:
            self._store.close()

    def history(self, caller: Caller) -> History:
        """Return the earlier calls of the caller's session tree."""
        with self._reading():
            stored = self._tree(caller)
            return History() if stored is None else stored.tree.snapshot()

    def balance(self, caller: Caller, charge: Charge, now: datetime | None) -> Balance:
        """Return what is left of a budget for a call of this caller."""
        with self._reading():
            if charge.budget.of_tree:
                stored = self._tree(caller)
                if stored is None:
                    return balance_of((), charge, now)
                return stored.tree.balance(charge, now)
            key = _key_of(charge.budget)
            self._exchange((), budgets={key: charge.budget})
            return self._budgets[key].spent.balance(charge, now)

    def release(
        self,
        caller: Caller,
        call: ReleasedCall,
        *,
        judged_by: History | None,
        charges: tuple[Charge, ...] = (),
    ) -> RedisRelease | None:
        """Note a call as running, and charge it; None if it has to be judged again."""
        session = key_of_session((caller.user, caller.session))
        input = None if call.input is None else encoded(call.input)
        due = by_budget(charges)
        is_read = False
        with self._reading():
            for _ in range(_MOST_TRIES):
                self._join_trees(caller)
                stored, links = self._linked(caller)
                if judged_by is not None and stored.tree.snapshot() != judged_by:
                    return None
                streams = self._streams(due)
                if not have_room(charges, partial(_balance, stored, streams, now=call.at)):
                    # Something may have been taken back that was not read yet.
                    if is_read:
                        # Its sessions belong together, whether it runs or not.
                        if not links or self._commit(caller, links, new=stored).commit is not None:
                            return None
                        continue
                    self._exchange(_keys_of(caller), budgets=_apart(due))
                    is_read = True
                    continue
                running = running_call(caller, call if input else replace(call, input=None))
                event = {
                    "event": "released",
                    **running_event(running),
                    "charges": [charge_event(one) for one in due if one.budget.of_tree],
                }
                note = Add(key=TREE + stored.id, entry=Entry(event=event, input=input))
                writes = [
                    *self._shortened(stored),
                    *links,
                    note,
                    *_charging(streams, due, call),
                ]
                answer = self._commit(caller, writes, budgets=streams, new=stored)
                if answer.commit is not None:
                    return RedisRelease(
                        id=answer.id_of(_place_of(note, writes)),
                        session=session,
                        tool=call.tool,
                        at=call.at,
                        input=None if input is None else len(input),
                        charges=due,
                    )
            return None

    def finish(
        self, release: RedisRelease, outcome: Outcome | None, output: CallOutput | None = None
    ) -> None:
        """Note how a call ended; `outcome` None: it never reached its tool."""
        told = None
        if output is not None and release.input is not None:
            told = encoded_output(output, self._bounds)
        writes: list[Write] = []
        about = {"tool": key_of_tool(release.tool), "at": microseconds(release.at)}
        if outcome is None:
            own = [charge_event(one) for one in release.charges if one.budget.of_tree]
            event = {"event": "withdrawn", "id": release.id.decode(), **about, "charges": own}
            writes = [
                Add(
                    key=_key_of(one.budget),
                    entry=Entry(
                        event={"event": "taken back", **about, "charge": charge_event(one)}
                    ),
                    if_there=True,
                )
                for one in release.charges
                if not one.budget.of_tree
            ]
        else:
            event = {
                "event": "ended",
                "id": release.id.decode(),
                "outcome": outcome,
                "input": release.input or 0,
            }
        entry = Entry(event=event, output=told)
        writes.append(Add(session=release.session, entry=entry))
        with self._reading():
            keys = [release.session] if self._places.get(release.session) in self._trees else []
            seen = self._seen(keys, ())
            # Whatever else has happened meanwhile, this call has ended. It ends only once, but what
            # was charged must not be taken back twice.
            answer = self._store.exchange(seen, writes, always=True, once=outcome is None)
            self._take(answer, seen)
            for place in answer.trees.values():
                if place in self._trees:
                    self._trees[place].add(replace(entry, id=answer.id_of(len(writes) - 1)))

    def hear(self, caller: Caller, texts: Sequence[str], *, missed: bool) -> bool:
        """Note what the user wrote; False if the session is not the root of its tree."""
        # What no process would keep is not sent.
        short = texts_within(texts, self._bounds.said)
        event = {"event": "heard", "texts": short, "missed": missed}
        if len(short) < len(texts):
            event["too_long"] = True
        with self._reading():
            for _ in range(_MOST_TRIES):
                self._tree(caller)
                stored, links = self._linked(caller)
                if key_of_session((caller.user, caller.session)) in stored.children:
                    return False
                heard = Add(key=TREE + stored.id, entry=Entry(event=event))
                writes = [*self._shortened(stored), *links, heard]
                if self._commit(caller, writes, new=stored).commit is not None:
                    return True
            raise self._store.unusable(_BUSY)

    def said(self, caller: Caller) -> UserSaid | str:
        """Return what the user wrote in the caller's session tree, or why that is not known."""
        with self._reading():
            stored = self._tree(caller)
            return NOT_HEARD if stored is None else stored.tree.heard.said()

    def budgets(self, meters: Iterable[str]) -> list[StoredBudget]:
        """Return the budgets of some meters, with what was charged to them."""
        wanted = frozenset(meters)
        with self._reading():
            found: list[StoredBudget] = []
            for meter in sorted(wanted):
                for key in sorted(self._store.keys(BUDGET + _digest(meter))):
                    budget = StoredBudgetStream(Budget(meter=meter))
                    self._read_all(self._store.exchange(Seen(), budgets=[key]).budgets[key], budget)
                    found.extend(budget.spent.stored(wanted))
            for number, stored in enumerate(self._all_trees(), 1):
                sessions = tuple(sorted(stored.tree.sessions, key=repr))
                for one in stored.tree.budgets.stored(wanted):
                    found.append(replace(one, tree=number, sessions=sessions))
            return found

    def summaries(self) -> list[SessionSummary]:
        """Return every session tree."""
        with self._reading():
            return [
                SessionSummary(
                    sessions=tuple(sorted(stored.tree.sessions, key=repr)),
                    tools=stored.tree.snapshot().tools,
                    kept=stored.tree.snapshot().kept,
                    running=len(stored.tree.running),
                )
                for stored in self._all_trees()
            ]

    def clear(self, session: SessionKey, *, running: bool) -> bool:
        """Forget the calls of a session's tree; see `SessionTree.clear`. False: there is none."""
        caller = Caller(user=session[0], session=session[1])
        event = {"event": "cleared", "running": running}
        with self._reading():
            for _ in range(_MOST_TRIES):
                stored = self._tree(caller)
                if stored is None:
                    return False
                note = Add(key=TREE + stored.id, entry=Entry(event=event))
                if self._commit(caller, [note], new=stored).commit is not None:
                    return True
            raise self._store.unusable(_BUSY)

    # -------------------------------------------------------------- reading

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with self._one_at_a_time:
            try:
                yield
            except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
                self._trees.clear()
                self._budgets.clear()
                raise self._store.unusable(f"it is damaged: {error}") from error

    def _tree(self, caller: Caller) -> StoredTree | None:
        """Return the caller's tree, with all trees joined that meet in it; None if it has none."""
        keys = _keys_of(caller)
        for _ in range(_MOST_TRIES):
            self._exchange(keys)
            if len(keys) == 1 and not self._places.get(keys[0]):
                # A session that was not seen before has no calls; it gets a tree with its first.
                return None
            self._join_trees(caller)
            stored, links = self._linked(caller)
            if not links or self._commit(caller, links, new=stored).commit is not None:
                return stored
        raise self._store.unusable(_BUSY)

    def _join_trees(self, caller: Caller) -> None:
        """Make the trees of a caller's sessions one, as far as they were read."""
        keys = _keys_of(caller)
        while len(met := self._met(keys)) > 1:
            # Copies: if somebody has changed one of them meanwhile, nothing is written.
            stored, *others = map(self._copy, met)
            writes: list[Write] = []
            for other in others:
                writes.append(Change(op="delete", key=TREE + other.id))
                for session in other.tree.sessions:
                    place = Change(op="place", of=key_of_session(session), tree=stored.id)
                    writes.append(place)
                stored.children |= other.children
                stored.tree.join(other.tree)
            writes += _as_state(stored)
            if self._commit(caller, writes, new=stored).commit is None:
                stored.tree.kept.forget_all()

    def _met(self, keys: Sequence[str]) -> list[StoredTree]:
        """Return the trees of sessions, each read at least once."""
        for _ in range(2):
            places = dict.fromkeys(self._places.get(key, "") for key in keys)
            met = [self._trees.get(id) for id in places if id]
            found = [tree for tree in met if tree is not None]
            if len(found) == len(met):
                break
            self._exchange(keys)
        return found

    def _linked(self, caller: Caller) -> tuple[StoredTree, list[Write]]:
        """Return the tree of a caller as far as it was read, and what links its sessions to it."""
        keys = _keys_of(caller)
        met = self._met(keys)
        stored = met[0] if met else self._new_tree()
        writes: list[Write] = []
        new = [key for key in keys if not self._places.get(key)]
        below = {key_of_session(session) for session in children_of(caller)}
        if new or not below <= stored.children:
            writes += [Change(op="place", of=key, tree=stored.id) for key in new]
            event = {"event": "seen", "sessions": new, "children": sorted(below)}
            writes.append(Add(key=TREE + stored.id, entry=Entry(event=event)))
        return stored, writes

    def _copy(self, stored: StoredTree) -> StoredTree:
        copy = self._new_tree(stored.id)
        for entry in stored.state():
            copy.add(entry)
        return copy

    def _new_tree(self, id: str | None = None) -> StoredTree:
        return StoredTree(id or secrets.token_hex(8), self._bounds, self._kept)

    def _streams(self, due: Iterable[BudgetCharge]) -> dict[str, StoredBudgetStream]:
        """Return the streams of budgets that are no session tree's, each read at least once."""
        budgets = _apart(due)
        if any(key not in self._budgets for key in budgets):
            self._exchange((), budgets=budgets)
        return {key: self._budgets[key] for key in budgets}

    def _shortened(self, stored: StoredTree) -> list[Write]:
        """Return what writes a tree's stream anew, if it has become long."""
        return _as_state(stored) if stored.reading.is_long else []

    # -------------------------------------------------------------- exchanging

    def _exchange(self, keys: Sequence[str], *, budgets: dict[str, Budget] | None = None) -> None:
        """Read what is new of the trees of sessions, and of budgets."""
        for key, budget in (budgets or {}).items():
            self._budgets.setdefault(key, StoredBudgetStream(budget))
        seen = self._seen(keys, budgets or ())
        self._take(self._store.exchange(seen), seen)

    def _commit(
        self,
        caller: Caller,
        writes: Sequence[Write],
        *,
        budgets: Iterable[str] = (),
        new: StoredTree,
    ) -> Answer:
        """Write, if what was read is all there is; else read the rest."""
        seen = self._seen(_keys_of(caller), budgets)
        answer = self._store.exchange(seen, writes)
        if answer.commit is None:
            self._take(answer, seen)
            return answer
        if self._trees.get(new.id) is not new:
            self._forget(new.id)
            self._trees[new.id] = new
        for place, write in enumerate(writes):
            match write:
                case Change(op="place", of=of, tree=tree):
                    self._places[of] = tree
                case Change(op="delete", key=key):
                    self._forget(key.removeprefix(TREE))
                case Add(key=key, entry=entry):
                    entry = replace(entry, id=answer.id_of(place))
                    stream = self._trees.get(key.removeprefix(TREE)) or self._budgets.get(key)
                    if stream is not None:
                        stream.add(entry)
                case _:
                    pass
        self._forget_some()
        return answer

    def _seen(self, keys: Iterable[str], budgets: Iterable[str]) -> Seen:
        places = {key: self._places.get(key, "") for key in keys}
        return Seen(
            trees=places,
            until={
                tree: self._trees[tree].reading.seen
                for tree in places.values()
                if tree in self._trees
            },
            budgets={key: self._budgets[key].reading.seen for key in budgets},
        )

    def _take(self, answer: Answer, seen: Seen) -> None:
        """Add what is new to what was read."""
        for session, place in answer.trees.items():
            if place:
                self._places[session] = place
                self._places.move_to_end(session)
            elif session in self._places:
                raise self._store.unusable(_LOST_TREE)
        for id, news in answer.news.items():
            if news.missing:
                self._forget(id)
                raise self._store.unusable(_LOST_TREE)
            if id not in seen.until:
                self._forget(id)
            tree = self._trees.setdefault(id, self._new_tree(id))
            self._trees.move_to_end(id)
            self._read_all(news, tree)
        for key, news in answer.budgets.items():
            stream = self._budgets[key]
            if news.missing:
                # No window reaches it any more, or nothing was charged yet.
                stream = self._budgets[key] = StoredBudgetStream(stream.budget)
            self._budgets.move_to_end(key)
            self._read_all(news, stream)
        self._forget_some()

    def _read_all(self, news: News, into: StoredTree | StoredBudgetStream) -> None:
        for entry in news.entries:
            into.add(entry)

    def _all_trees(self) -> Iterator[StoredTree]:
        """Yield every tree, read from the beginning."""
        places = self._store.sessions()
        for id, session in {tree: session for session, tree in places.items()}.items():
            answer = self._store.exchange(Seen(trees={session: id}))
            if id in answer.news:
                stored = self._new_tree(id)
                self._read_all(answer.news[id], stored)
                yield stored
                stored.tree.kept.forget_all()

    def _forget(self, id: str) -> None:
        stored = self._trees.pop(id, None)
        if stored is not None:
            stored.tree.kept.forget_all()

    def _forget_some(self) -> None:
        """Forget what was read of streams that are used least; it can be read again."""
        most = _TREES_IN_FULL * self._bounds.bytes
        while len(self._trees) > _TREES_CACHED or (
            self._kept.count > most and len(self._trees) > 1
        ):
            self._forget(next(iter(self._trees)))
        while len(self._budgets) > _BUDGETS_CACHED:
            self._budgets.popitem(last=False)
        while len(self._places) > _SESSIONS_CACHED:
            self._places.popitem(last=False)


def _as_state(stored: StoredTree) -> list[Write]:
    key = TREE + stored.id
    return [
        *(Add(key=key, entry=entry) for entry in stored.state()),
        Change(op="trim", key=key),
    ]


def _charging(
    streams: dict[str, StoredBudgetStream], due: Iterable[BudgetCharge], call: ReleasedCall
) -> Iterator[Write]:
    """Yield what charges the budgets that are no session tree's."""
    about = {"tool": key_of_tool(call.tool), "at": microseconds(call.at)}
    for one in due:
        if one.budget.of_tree:
            continue
        key = _key_of(one.budget)
        stream = streams[key]
        if stream.reading.is_long:
            yield Add(key=key, entry=stream.state())
            yield Change(op="trim", key=key)
        event = {"event": "charged", **about, "charge": charge_event(one)}
        yield Add(key=key, entry=Entry(event=event))
        if one.ever or stream.ever or one.window is None:
            yield Change(op="persist", key=key)
        else:
            longest = max(one.window, stream.longest)
            reach = longest + max(longest, LEAST_SLACK)
            yield Change(op="expire", key=key, seconds=_seconds(reach))


def _apart(due: Iterable[BudgetCharge]) -> dict[str, Budget]:
    """Return the budgets that are no session tree's, by the keys of their streams."""
    return {_key_of(one.budget): one.budget for one in due if not one.budget.of_tree}


def _balance(
    stored: StoredTree,
    streams: dict[str, StoredBudgetStream],
    charge: Charge,
    *,
    now: datetime | None,
) -> Balance:
    if charge.budget.of_tree:
        return stored.tree.balance(charge, now)
    return streams[_key_of(charge.budget)].spent.balance(charge, now)


def _place_of(note: Write, writes: Sequence[Write]) -> int:
    return next(place for place, write in enumerate(writes) if write is note)


def _seconds(span: timedelta) -> int:
    # Redis counts in milliseconds, in 64 bits.
    return min(ceil(span.total_seconds()), 2**40)


def _keys_of(caller: Caller) -> list[str]:
    return list(dict.fromkeys(key_of_session(session) for session in sessions_of(caller)))


def _key_of(budget: Budget) -> str:
    return f"{BUDGET}{_digest(budget.meter)}:{_digest(json.dumps(budget.value))}"


@lru_cache(maxsize=1024)
def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
