"""Approval requests, people and the store of both, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias

from policy.approvals import ApprovalRequest, Bounds, Grant, Person, SqliteApprovals
from policy.model import Caller, Reason, Terms, Verdict, freeze

Store: TypeAlias = SqliteApprovals
MakeStore: TypeAlias = Callable[[Bounds], Store]

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LATER = NOW + timedelta(minutes=5)

ANN = Person(id="ann", groups=("finance",))
BOB = Person(id="bob", groups=("finance", "legal"))
CYD = Person(id="cyd", groups=("legal",))
EVE = Person(id="eve")


def asks(rule: str = "spend", **terms: Any) -> Reason:
    return Reason(rule=rule, verdict=Verdict.ASK, terms=Terms(**terms) if terms else None)


def a_request(id: str = "q1", *reasons: Reason, **more: Any) -> ApprovalRequest:
    given: dict[str, Any] = {
        "id": id,
        "tool": "pay",
        "input": freeze({"amount": 3}),
        "shown": '{"amount": 3}',
        "reasons": reasons or (asks(),),
        "digest": "sha256:1",
        "caller": Caller(session="s"),
        "expires": LATER,
        **more,
    }
    return ApprovalRequest(**given)


def a_grant(id: str = "g1", **more: Any) -> Grant:
    given: dict[str, Any] = {
        "id": id,
        "kind": "remembered",
        "key": "sha256:k",
        "caller": "sha256:c",
        "session": "s",
        "people": (ANN,),
        "uses": 2,
        "given_at": NOW,
        "expires": LATER,
        **more,
    }
    return Grant(**given)


def makers(folder: Path) -> dict[str, MakeStore]:
    """Return what makes a store in memory, and in a file."""
    return {
        "memory": lambda bounds: SqliteApprovals(":memory:", bounds=bounds),
        "sqlite": lambda bounds: SqliteApprovals(folder / "approvals.db", bounds=bounds),
    }
