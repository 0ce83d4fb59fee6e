"""Which store keeps approval requests, refusals and standing approvals: one for all of them."""

from __future__ import annotations

import logging
import os

from policy.approvals import ApprovalGate, Ledger, SqliteApprovals
from policy.diagnostics import visible
from policy.generation import approvals_path, configuration, read_folder
from policy.store import PolicyStore

_LOG = logging.getLogger(__name__)


def approvals_of(policy: PolicyStore | str | os.PathLike[str]) -> SqliteApprovals:
    """Return the store that `placet approvals` reads for a policy: people can answer there.

    It is the file that `[approvals] store` names, else one of this user's own. Raises StoreUnusable
    if it cannot be opened.
    """
    return SqliteApprovals(_path_of(policy.path if isinstance(policy, PolicyStore) else policy))


def warn_of_another_store(approver: object, store: object) -> None:
    """Log a warning if people who run `placet approvals` would not find the requests of a gate."""
    desk = approver.desk if isinstance(approver, ApprovalGate) else None
    used = desk.path if isinstance(desk, SqliteApprovals) else None
    if used is None or not isinstance(store, PolicyStore) or not store.path:
        return
    read = _path_of(store.path)
    if os.path.realpath(used) == os.path.realpath(read):
        return
    _LOG.warning(
        "approval requests are kept in %s, but `placet approvals %s` reads %s: pass "
        "`approvals_of(store)` to the `ApprovalGate`, or name the file as `[approvals] store` in "
        "`placet.toml`",
        visible(str(used), 1000),
        visible(store.path, 1000),
        visible(str(read), 1000),
    )


def _path_of(policy: str | os.PathLike[str]) -> str:
    settings = configuration(read_folder(policy)).settings
    return os.fspath(approvals_path(policy, settings.approvals))


def ledger_for(approver: object, approvals: Ledger | None) -> Ledger:
    """Return where refusals and standing approvals are kept: with the requests of a gate.

    Without a gate and without `approvals` they are in memory.
    """
    if approvals is not None:
        return approvals
    desk = approver.desk if isinstance(approver, ApprovalGate) else None
    return desk if isinstance(desk, SqliteApprovals) else SqliteApprovals(":memory:")


def require_same_store(approver: object, ledger: Ledger | None) -> None:
    """Raise TypeError for a gate whose requests are in another store than their consequences.

    A person who answers in one store would find neither refusals nor standing approvals there.
    """
    desk = approver.desk if isinstance(approver, ApprovalGate) else None
    if not isinstance(desk, SqliteApprovals) or not isinstance(ledger, SqliteApprovals):
        return
    if desk is ledger or _is_same_file(desk, ledger):
        return
    raise TypeError(
        f"the `ApprovalGate` keeps requests in {_shown(desk)}, and the service keeps refusals and "
        f"standing approvals in {_shown(ledger)}: use one store for both, "
        "`build_tool_service(…, approver=ApprovalGate(approvals), approvals=approvals)`"
    )


def _is_same_file(one: SqliteApprovals, other: SqliteApprovals) -> bool:
    if one.path is None or other.path is None:
        return False
    return os.path.realpath(one.path) == os.path.realpath(other.path)


def _shown(store: SqliteApprovals) -> str:
    return "memory" if store.path is None else visible(str(store.path), 1000)
