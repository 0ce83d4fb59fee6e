"""Checks the arguments of a host application, before any call."""

from __future__ import annotations

import logging
import os

from policy.approvals import SqliteApprovals
from policy.audit import JsonlSink
from policy.diagnostics import visible
from policy.service.host_objects import is_async, method_of
from policy.store import PolicyStore

_LOG = logging.getLogger(__name__)


class PolicyInReach(ValueError):
    """A policy is in the workspace of its tools, or contains it."""


def require_sink(sink: object) -> None:
    """Raise TypeError for an object that is not an audit sink."""
    if is_async(method_of(sink, "write", what="audit sink")):
        raise TypeError(
            f"`{type(sink).__name__}.write` is async: an audit sink must return once the record is"
            " stored, and nothing would await it"
        )


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


def policy_in_reach(policy: str | os.PathLike[str], workspace: str) -> str | None:
    """Return how a policy and a workspace contain one another, None if they are apart."""
    place = os.path.realpath(policy)
    if os.path.commonpath((place, workspace)) == workspace:
        return f"the policy {visible(place, 1000)} is in the workspace {visible(workspace, 1000)}"
    if os.path.isdir(place) and os.path.commonpath((place, workspace)) == place:
        return (
            f"the policy {visible(place, 1000)} contains the workspace {visible(workspace, 1000)}"
        )
    return None


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


def keep_from_tools(store: object, *used: object) -> None:
    """Add the files of records and approvals in use to the floor of a store's policy."""
    if not isinstance(store, PolicyStore):
        return
    for part in used:
        if isinstance(part, JsonlSink):
            store.guard(audit=part.path)
        elif isinstance(part, SqliteApprovals) and part.path is not None:
            store.guard(approvals=part.path)
