"""The Redis server that keeps the history: the connection, and one script that reads and writes.

What happens in a session tree, and to a budget, is a stream of entries. Whoever writes passes how
much of each stream it has read; if there is more, it gets that, and nothing is written. So all that
was decided by the streams is still true when it is written, and one round trip is enough.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
import weakref
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias
from urllib.parse import unquote, urlsplit

from policy.diagnostics import visible
from policy.service.sessions.session_log import SessionLogUnusable

# A change to what entries are is a new number.
FORMAT = 1
STORE, SESSIONS = "placet:history", "placet:sessions"
TREE, BUDGET = "placet:tree:", "placet:budget:"
BEGINNING = b"0-0"
# How long is waited for a connection, and for what commands ask.
_SECONDS = 2.0
# How long calls wait for an answer, and the event loop with them: once, until the server answers a
# thread of its own, which asks so often.
_PATIENCE = 0.5
_BETWEEN = 0.25
_OLDEST = (6, 2)
_EXTRA = "a history in Redis needs the extra `redis`: install placet[redis]"

# KEYS: the store, the sessions. ARGV: the plan, and then what entries hold. The entries of one
# commit have its number, counted over all streams, and their place in it as id.
_SCRIPT = """
local plan = cjson.decode(ARGV[1])
local store = redis.call('HMGET', KEYS[1], 'id', 'format', 'commits')
if store[1] ~= plan.id or store[2] ~= plan.format then
  return {0, store[1] or '', store[2] or ''}
end

local current = true
local function since(key, seen)
  local found = redis.call('XRANGE', key, '(' .. seen, '+')
  local exists = redis.call('EXISTS', key)
  if #found > 0 or (exists == 0 and seen ~= '0-0') then current = false end
  return {exists, found}
end

local trees, news, asked = {}, {}, {}
for place, session in ipairs(plan.sessions) do
  local tree = redis.call('HGET', KEYS[2], session) or ''
  trees[place] = tree
  if tree ~= plan.trees[place] then current = false end
  if tree ~= '' and not asked[tree] then
    asked[tree] = true
    local found = since('placet:tree:' .. tree, plan.seen[tree] or '0-0')
    if found[1] == 0 then current = false end
    news[#news + 1] = {tree, found}
  end
end
local budgets = {}
for place, budget in ipairs(plan.budgets) do
  budgets[place] = since(budget[1], budget[2])
end

local commits = tonumber(store[3])
if not (current or plan.always) or #plan.writes == 0 then
  return {1, commits, 0, trees, news, budgets}
end
for _, write in ipairs(plan.writes) do
  if write.session then
    local tree = redis.call('HGET', KEYS[2], write.session)
    if not tree then return {2} end
    write.key = 'placet:tree:' .. tree
  end
end
commits = redis.call('HINCRBY', KEYS[1], 'commits', 1)
local commit = string.format('%.0f', commits)
for place, write in ipairs(plan.writes) do
  if write.op == 'add' then
    local id = commit .. '-' .. place
    redis.call('XADD', write.key, id, 'event', ARGV[write.event],
      'input', ARGV[write.input], 'output', ARGV[write.output])
  elseif write.op == 'add if there' then
    redis.call('XADD', write.key, 'NOMKSTREAM', commit .. '-' .. place,
      'event', ARGV[write.event], 'input', '', 'output', '')
  elseif write.op == 'trim' then
    redis.call('XTRIM', write.key, 'MINID', commit .. '-0')
  elseif write.op == 'place' then
    redis.call('HSET', KEYS[2], write.of, write.tree)
  elseif write.op == 'expire' then
    redis.call('EXPIRE', write.key, write.seconds)
  elseif write.op == 'persist' then
    redis.call('PERSIST', write.key)
  elseif write.op == 'delete' then
    redis.call('DEL', write.key)
  end
end
return {1, commits, 1, trees, news, budgets}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry of a stream: what happened, with the JSON of an input and an output, if any."""

    event: Mapping[str, Any]
    input: bytes | None = None
    output: bytes | None = None
    id: bytes = BEGINNING

    @property
    def commit(self) -> int:
        """The number of the commit that wrote the entry, counted over all streams."""
        return int(self.id.partition(b"-")[0])

    @property
    def size(self) -> int:
        """About how many bytes the entry takes."""
        return len(json.dumps(self.event)) + len(self.input or b"") + len(self.output or b"")


@dataclass(frozen=True, slots=True, kw_only=True)
class Add:
    """Add an entry to a stream; `session`: to that of the session's tree, whichever it is.

    With `if_there`, nothing happens if there is no such stream.
    """

    entry: Entry
    key: str = ""
    session: str | None = None
    if_there: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What else is written: `place` a session in a tree, `delete`, `trim`, `expire` or `persist`.

    `trim` removes what a stream had before this commit.
    """

    op: str
    key: str = ""
    of: str = ""
    tree: str = ""
    seconds: int = 0


Write: TypeAlias = Add | Change


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a writer has read: in which trees sessions are, and how far streams were read."""

    trees: Mapping[str, str] = field(default_factory=dict)
    until: Mapping[str, bytes] = field(default_factory=dict)
    budgets: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """What a writer has not read; `missing`: the stream is not there (any more)."""

    entries: tuple[Entry, ...]
    missing: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the server answers; `commit` None: nothing was written, as there are news."""

    commit: int | None
    trees: Mapping[str, str]
    news: Mapping[str, News]
    budgets: Mapping[str, News]

    def id_of(self, place: int) -> bytes:
        """Return the id of the entry that the write at this place has added."""
        return b"%d-%d" % (self.commit or 0, place + 1)


class RedisStore:
    """A Redis server with a history. Used by one thread at a time; raises SessionLogUnusable."""

    def __init__(self, url: str, *, password: str | None = None) -> None:
        self.name = _without_password(url)
        try:
            import redis
            from redis.backoff import NoBackoff
            from redis.retry import Retry
        except ImportError as error:
            raise SessionLogUnusable(_EXTRA) from error
        self._errors = redis.RedisError
        self._closed = redis.ConnectionError
        self._too_slow = redis.TimeoutError
        # The server has not answered, and is not asked again until it does.
        self._is_silent = False
        self._refusals = (redis.AuthenticationError, redis.exceptions.NoPermissionError)
        self._commits = 0
        try:
            self._connecting = partial(
                redis.Redis.from_url,
                url,
                socket_connect_timeout=_SECONDS,
                # What is tried again, and what is not, is up to `exchange`.
                retry=Retry(NoBackoff(), 0),
                **({} if password is None else {"password": password}),
            )
            # Any: what it returns has types for texts and bytes at once.
            self._client: Any = self._connecting(socket_timeout=_PATIENCE)
            # Services are not closed, so the connection is when nobody uses it any more.
            weakref.finalize(self, self._client.close)
            self._script = self._client.register_script(_SCRIPT)
            with self._connecting(socket_timeout=_SECONDS) as client:
                self._id = self._opened(client)
        except (redis.RedisError, OSError, ValueError) as error:
            raise self.unusable(error) from error

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def unusable(self, why: object) -> SessionLogUnusable:
        """Return the error for a reason."""
        said = visible(str(why) or type(why).__name__, 200)
        if isinstance(why, self._refusals):
            said = f"the server refuses this user and password ({said})"
        return SessionLogUnusable(f"the history of sessions cannot be kept in {self.name}: {said}")

    def exchange(
        self,
        seen: Seen,
        writes: Sequence[Write] = (),
        *,
        budgets: Iterable[str] = (),
        always: bool = False,
        once: bool = False,
    ) -> Answer:
        """Write, unless there is something that the writer has not seen; return what that is.

        With `always`, it is written after what the writer has not seen. A connection that the
        server has closed is opened again, unless this must not be written twice (`once`): of what
        is not written always, a second time is no harm, as the first is something not seen.
        """
        payloads: list[bytes] = [b""]
        planned = [_planned(write, payloads) for write in writes]
        sessions = list(seen.trees)
        asked = {key: seen.budgets.get(key, BEGINNING) for key in (*budgets, *seen.budgets)}
        plan = {
            "id": self._id,
            "format": str(FORMAT),
            "sessions": sessions,
            "trees": [seen.trees[session] for session in sessions],
            "seen": {tree: id.decode() for tree, id in seen.until.items()},
            "budgets": [[key, id.decode()] for key, id in asked.items()],
            "writes": planned,
            "always": always,
        }
        try:
            found = self._ran([json.dumps(plan), *payloads], once=once)
        except (self._errors, OSError) as error:
            raise self.unusable(error) from error
        if found[0] != 1:
            raise self.unusable(_problem(found))
        _, commits, written, trees, news, of_budgets = found
        if commits < self._commits:
            raise self.unusable("it has lost what was written to it")
        self._commits = commits
        return Answer(
            commit=commits if written else None,
            trees={key: tree.decode() for key, tree in zip(sessions, trees, strict=True)},
            news={tree.decode(): _news(one) for tree, one in news},
            budgets={key: _news(one) for key, one in zip(asked, of_budgets, strict=True)},
        )

    def _ran(self, args: Sequence[Any], *, once: bool) -> Any:
        if self._is_silent:
            raise self._too_slow("Timeout a moment ago")
        try:
            try:
                return self._script(keys=[STORE, SESSIONS], args=args)
            except self._closed:
                if once:
                    raise
                return self._script(keys=[STORE, SESSIONS], args=args)
        except self._too_slow:
            self._is_silent = True
            asking = threading.Thread(
                target=_until_it_answers,
                args=(weakref.ref(self), self._connecting(socket_timeout=_SECONDS), self._too_slow),
                name="asking the history's server",
                daemon=True,
            )
            asking.start()
            raise

    def answers(self) -> None:
        """Note that the server answers again, if only with an error."""
        self._is_silent = False

    def keys(self, prefix: str) -> list[str]:
        """Return the keys with a prefix."""
        try:
            found = self._client.scan_iter(match=prefix + "*", count=1_000)
            return [key.decode() for key in found]
        except (self._errors, OSError) as error:
            raise self.unusable(error) from error

    def sessions(self) -> dict[str, str]:
        """Return the tree of each session."""
        try:
            found = self._client.hgetall(SESSIONS)
        except (self._errors, OSError) as error:
            raise self.unusable(error) from error
        return {key.decode(): tree.decode() for key, tree in found.items()}

    def _opened(self, client: Any) -> str:
        """Return what identifies the history, which begins if there is none."""
        problem = _unfit(client.info())
        if problem is not None:
            raise ValueError(problem)
        with client.pipeline() as pipe:
            pipe.hsetnx(STORE, "id", secrets.token_hex(16))
            pipe.hsetnx(STORE, "format", FORMAT)
            pipe.hsetnx(STORE, "commits", 0)
            pipe.hmget(STORE, "id", "format", "commits")
            id, format, commits = pipe.execute()[-1]
        if format != b"%d" % FORMAT:
            raise ValueError(_other_format(format))
        self._commits = int(commits)
        return str(id.decode())


def _until_it_answers(
    store: weakref.ref[RedisStore], client: Any, too_slow: type[Exception]
) -> None:
    """Ask the server until it answers, or the store is not used any more."""
    from redis import RedisError

    with client:
        while store() is not None:
            # Whoever asks next is told of any other error, and need not wait for it.
            with suppress(RedisError, OSError):
                try:
                    client.ping()
                except too_slow:
                    time.sleep(_BETWEEN)
                    continue
            break
    found = store()
    if found is not None:
        found.answers()


def _unfit(about: Mapping[str, Any]) -> str | None:
    """Return why a server cannot keep a history, by what it tells of itself."""
    version = str(about.get("redis_version", ""))
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if numbers < _OLDEST:
        return f"Redis {'.'.join(map(str, _OLDEST))} or newer is needed, and this is {version}"
    if about.get("redis_mode") == "cluster":
        return "it is a cluster, and what belongs together must be on one server"
    policy = about.get("maxmemory_policy")
    if policy != "noeviction":
        return (
            f"`maxmemory-policy` is `{policy}`, so it may evict what was noted, and labels and "
            "limits with it: set it to `noeviction`"
        )
    return None


def _other_format(found: bytes) -> str:
    other = "a newer" if found.isdigit() and int(found) > FORMAT else "another"
    return f"it was made by {other} version ({found.decode()} instead of {FORMAT})"


def _problem(found: Sequence[Any]) -> str:
    if found[0] == 2:
        return "it has lost a session"
    _, id, format = found
    if id and format not in (b"", b"%d" % FORMAT):
        return _other_format(format)
    return "it was emptied or replaced while in use"


def _planned(write: Write, payloads: list[bytes]) -> dict[str, Any]:
    """Return a write as the script reads it; what its entry holds is added to `payloads`."""
    if isinstance(write, Change):
        given = {"op": write.op, "key": write.key, "of": write.of, "tree": write.tree}
        return given | {"seconds": write.seconds}
    planned: dict[str, Any] = {"op": "add if there" if write.if_there else "add", "key": write.key}
    if write.session is not None:
        planned["session"] = write.session
    entry = write.entry
    for name, text in (
        ("event", json.dumps(entry.event).encode()),
        ("input", entry.input),
        ("output", entry.output),
    ):
        # The first of ARGV is the plan, and the second is empty.
        planned[name] = 2
        if text:
            payloads.append(text)
            planned[name] = len(payloads) + 1
    return planned


def _news(found: Sequence[Any]) -> News:
    exists, entries = found
    return News(entries=tuple(map(_entry, entries)), missing=not exists)


def _entry(found: Sequence[Any]) -> Entry:
    id, values = found
    _, event, _, input, _, output = values
    return Entry(event=json.loads(event), input=input or None, output=output or None, id=id)


def _without_password(url: str) -> str:
    parts = urlsplit(url)
    place = parts.netloc.rpartition("@")[2]
    return visible(f"{parts.scheme}://{place}{unquote(parts.path)}", 300)
