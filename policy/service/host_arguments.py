"""Checks the arguments of a host application, before any call."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping

from policy.approvals import SqliteApprovals
from policy.audit import JsonlSink
from policy.diagnostics import visible
from policy.environment import policy_in_reach
from policy.model import Caller
from policy.service.host_objects import is_async, method_of, takes
from policy.service.sessions import SqliteSessionLog
from policy.store import PolicyStore
from policy.tools import Limits

_LOG = logging.getLogger(__name__)


class PolicyInReach(ValueError):
    """A policy is in the workspace of its tools, or contains it."""


def require_arguments(
    *,
    store: object,
    audit: object,
    approvals: object,
    caller: object,
    context: object,
    clock: object,
    look_up: object,
    limits: object,
    seconds: Mapping[str, float | None],
    asks_per_session: int | None,
) -> None:
    """Raise TypeError or ValueError for arguments by which every call would be denied or fail.

    `seconds` are limits of time by what they are for. None is an argument that was left out.
    """
    if store is not None:
        _require_store(store)
    if audit is not None:
        _require_sink(audit)
    if approvals is not None:
        for name in ("count", "refused", "note_refusal", "grants", "give", "spend"):
            method_of(approvals, name, what="approvals store")
    if caller is not None:
        require_caller(caller)
    if limits is not None and not isinstance(limits, Limits):
        raise TypeError("`limits` must be a `Limits`")
    _require_function("context", context, "caller")
    _require_function("clock", clock)
    if is_async(context) or is_async(clock):
        raise TypeError("`context` and `clock` must not be async: nothing awaits them")
    _require_function("look_up", look_up, "name")
    if not is_async(look_up):
        raise TypeError("`look_up` must be async: a look-up must not block other calls")
    for what, limit in seconds.items():
        _require_seconds(what, limit)
    _require_count("asks_per_session", asks_per_session)


def require_caller(caller: object) -> None:
    """Raise TypeError for an object that is not a caller."""
    if not isinstance(caller, Caller):
        raise TypeError(f"`{type(caller).__name__}` is not a `Caller`: pass `Caller(agent=…)`")


def _require_store(store: object) -> None:
    if isinstance(store, (str, os.PathLike)):
        raise TypeError(f"a path is not a policy store: pass `PolicyStore({os.fspath(store)!r})`")
    for name in ("current", "status", "catalog", "extend_catalog"):
        if not hasattr(store, name):
            kind = type(store).__name__
            raise TypeError(f"`{kind}` has no `{name}`, so it is no policy store: pass one")


def _require_sink(sink: object) -> None:
    if is_async(method_of(sink, "write", what="audit sink")):
        raise TypeError(
            f"`{type(sink).__name__}.write` is async: an audit sink must return once the record is"
            " stored, and nothing would await it"
        )


def _require_function(what: str, given: object, *arguments: str) -> None:
    if not callable(given) or not takes(given, len(arguments)):
        raise TypeError(f"`{what}` must be a function that takes ({', '.join(arguments)})")


def _require_seconds(what: str, limit: object) -> None:
    if limit is None:
        return
    if isinstance(limit, bool) or not isinstance(limit, (int, float)):
        raise TypeError(f"the time limit `{what}` must be a number of seconds")
    if not limit > 0:
        raise ValueError(f"the time limit `{what}` must be more than 0 seconds")


def _require_count(what: str, count: object) -> None:
    if count is None:
        return
    if isinstance(count, bool) or not isinstance(count, int):
        raise TypeError(f"`{what}` must be a whole number")
    if count < 0:
        raise ValueError(f"`{what}` must not be negative")


def folder_of(workspace: str | os.PathLike[str]) -> str:
    """Return the path of a workspace with its links resolved; ValueError if it does not exist."""
    name = os.fspath(workspace)
    if not isinstance(name, str):
        raise TypeError(f"the workspace {name!r} is not a string or path: name a folder")
    if not name:
        raise ValueError("the workspace has an empty name: name a folder")
    folder = os.path.realpath(name)
    if not os.path.isdir(folder):
        raise ValueError(f"the workspace {visible(folder, 1000)} is not a folder")
    return folder


def settle_reach(policy: object, workspace: str, *, wanted: bool | None) -> None:
    """Raise PolicyInReach if tools can reach a policy and must not; with None, log a warning."""
    if wanted or not isinstance(policy, str) or not policy:
        return
    found = policy_in_reach(policy, workspace)
    if found is None:
        return
    if wanted is False:
        raise PolicyInReach(found)
    _LOG.warning("%s: programs that tools run could change it; keep them apart", found)


def warn_without_policy(store: object) -> None:
    """Log a warning if a store has no policy in force: every call is denied, whatever is asked."""
    if store is None or getattr(store, "current", None) is not None:
        return
    because = getattr(getattr(store, "status", None), "because", None)
    why = visible(str(because or "no policy could be loaded"), 1000)
    _LOG.warning("no policy is in force, so every call is denied: %s", why)


def keep_from_tools(store: object, *used: object) -> None:
    """Add the files of records, approvals and sessions in use to the floor of a store's policy."""
    if not isinstance(store, PolicyStore):
        return
    for part in used:
        if isinstance(part, JsonlSink):
            store.guard(audit=part.path)
        elif isinstance(part, SqliteApprovals) and part.path is not None:
            store.guard(approvals=part.path)
        elif isinstance(part, SqliteSessionLog):
            store.guard(history=part.path)
