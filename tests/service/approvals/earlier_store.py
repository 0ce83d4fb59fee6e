"""The content of a store of approvals written by an earlier version, and what must be found.

`python -m tests.service.approvals.earlier_store > FILE` makes such a store with the code as it is,
and prints it as SQL. `tests/data/approvals/version-1.sql` was made so by the first version of the
store: what may never be lost is in it, half used where it can be.
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import tempfile
from collections.abc import Coroutine
from contextlib import closing
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

from policy.approvals import ApprovalGate, ApprovalRequest, Filed, Grant, Person, SqliteApprovals
from policy.decision import GenerationId
from policy.model import Caller, GuestScope, Reason, Remembering, Terms, Verdict, freeze
from tests.fakes import CountingHandler, FakeClock
from tests.service.asking.stage import Stage

NOW = FakeClock()()
LATER = NOW + timedelta(minutes=5)
ANN = Person(id="ann", groups=("finance",))
CYD = Person(id="cyd", groups=("legal", "h\u00e9l\u00e8ne"))

RULES = """
pay-out: allow pay with approval by "finance"
gift-out: allow gift with approval remember 1h for input.to up to 3 times
lend-out: allow lend with approval
"""
PAY, GIFT, LEND = "pay", "gift", "lend"
LIMIT = 9
# Questions that were put in the session of the service.
ASKED = 5

TWO = Reason(
    rule="spend",
    verdict=Verdict.ASK,
    layer="global",
    file="global.policy",
    line=7,
    clause='input.amount > 5 and input.to != "\u202eann"',
    message="spending is looked at",
    audit="sox",
    undecided="`input.to` is absent",
    terms=Terms(
        groups=("finance", "legal"),
        two_people=True,
        remember=Remembering(seconds=3600.0, fields=(("to", 0, "name"), ("amount",)), times=3),
        digest="sha256:rule",
    ),
)
ANYBODY = Reason(rule="default", verdict=Verdict.ASK)

# Every kind of value that an input can hold, and texts that look like marks of them.
INPUT: Any = {
    "amount": 3,
    "exact": 3.0,
    "most": 2**70,
    "digits": Decimal("1.50"),
    "huge": Decimal("1E+400"),
    "minus": -0.0,
    "endless": float("inf"),
    "nothing": None,
    "yes": True,
    "$int": {"$int": "0x1", "$$": [1, [], {}]},
    "half": "\ud83d",
    "halves": "\ud83d\ude00",
    "whole": "\U0001f600 \u202e\x00",
    "to": [{"name": "h\u00e9l\u00e8ne"}],
}
GUEST = Caller(
    agent="helper",
    session="s-child",
    role="guest",
    user="\u00fcser",
    groups=("staff",),
    scope=GuestScope(allowed_tools=("pay_*",), expires_at=LATER),
    parent=Caller(agent="coder", session="s"),
)


def asked(id: str, *reasons: Reason, **more: Any) -> ApprovalRequest:
    """Return a question about a call of its own."""
    given: dict[str, Any] = {
        "id": id,
        "tool": "spend",
        "input": freeze({"id": id}),
        "shown": f'{{"id": "{id}"}}',
        "reasons": reasons or (ANYBODY,),
        "digest": f"sha256:{id}",
        "caller": Caller(session="s"),
        "asked_at": NOW,
        "expires": LATER,
        **more,
    }
    return ApprovalRequest(**given)


PENDING = asked(
    "pending",
    TWO,
    ANYBODY,
    input=freeze(INPUT),
    shown='{"amount": 3} (cut)',
    resources=("writes /srv/h\u00e9l\u00e8ne", "fetches https://example.com/"),
    caller=GUEST,
    generation=GenerationId(number=3, digest="sha256:rules"),
    asked_at=datetime(2026, 11, 21, 23, 30, 0, 1, tzinfo=timezone(timedelta(hours=3, minutes=30))),
)
ELEVATION = asked(
    "elevation",
    kind="elevation",
    tool="pay_*",
    input=freeze({"tools": ["pay_*"], "seconds": 600.0, "times": 3, "because": "moving"}),
)
# Each with the state that it is in, and who has agreed to it.
QUESTIONS: dict[str, tuple[ApprovalRequest, str, tuple[Person, ...]]] = {
    "pending": (PENDING, "pending", ()),
    "half answered": (asked("half", TWO), "pending", (ANN,)),
    "without an end": (asked("endless", expires=None), "pending", ()),
    "approved": (asked("approved", TWO), "approved", (ANN, CYD)),
    "used": (asked("used"), "used", (ANN,)),
    "denied": (asked("denied"), "denied", ()),
    "denied with a message": (asked("message"), "denied", ()),
    "cancelled": (asked("cancelled"), "cancelled", ()),
    "expired": (asked("expired", expires=NOW), "expired", ()),
    "elevation": (ELEVATION, "pending", ()),
    "elevation, cancelled": (asked("no-elevation", kind="elevation"), "cancelled", ()),
    "elevation, expired": (asked("late", kind="elevation", expires=NOW), "expired", ()),
    "elevation, used": (asked("elevated", kind="elevation"), "used", (CYD,)),
}
MESSAGE = "use the test account\u202e"


def given(id: str, **more: Any) -> Grant:
    """Return a standing approval."""
    fields: dict[str, Any] = {
        "id": id,
        "kind": "remembered",
        "key": f"sha256:key-of-{id}",
        "caller": "sha256:caller",
        "session": "s",
        "people": (ANN,),
        "uses": 3,
        "given_at": NOW,
        "expires": LATER,
        "request": "used",
        **more,
    }
    return Grant(**fields)


# Each with the uses that are left of it.
GRANTS: tuple[tuple[Grant, int | None], ...] = (
    (given("counted"), 2),
    (given("for the session", uses=None, expires=None), None),
    (given("of two", people=(ANN, CYD), caller="sha256:other"), 3),
    (given("elevated", kind="elevation", tools=("pay_*", "lend"), uses=5), 3),
)
GONE = (given("used up", uses=1), given("revoked"), given("over", expires=NOW))
# Counted of the session `counted`, with this limit.
COUNTED, REFUSED = 2, ("sha256:noted", "half \ud83d")


async def _fill(store: SqliteApprovals) -> None:
    for name, (request, state, people) in QUESTIONS.items():
        await store.file(request, f"key of {name}", now=NOW)
        for person in people:
            await store.agree(request.id, person, now=NOW)
        if state == "denied":
            message = MESSAGE if request.id == "message" else None
            await store.refuse(request.id, CYD, now=NOW, message=message)
        elif state == "used":
            await store.end(request.id, "used", now=NOW)
        elif state == "cancelled":
            await store.end(request.id, "cancelled", now=NOW)
    for grant, left in GRANTS:
        await store.give(grant)
        for _ in range((grant.uses or 0) - (left or 0)):
            assert await store.spend((grant.id,), now=NOW)
    for grant in GONE:
        await store.give(grant)
    await store.spend(("used up",), now=NOW)
    await store.revoke("revoked")
    for _ in range(COUNTED):
        await store.count("counted", limit=COUNTED + 1)
    for digest in REFUSED:
        await store.note_refusal("noted", digest, now=NOW)


def service_on(store: SqliteApprovals, folder: Path) -> tuple[Stage, ApprovalGate]:
    """Return a service whose questions wait in a store; its tools count their calls."""
    s = Stage(
        folder,
        RULES,
        tools=tuple(CountingHandler(name) for name in (PAY, GIFT, LEND)),
        ledger=store,
        asks_per_session=LIMIT,
    )
    gate = ApprovalGate(store, poll=0.005, clock=s.clock)
    s.service.set_approver(gate)
    return s, gate


async def asking(
    gate: ApprovalGate, call: Coroutine[Any, Any, Any]
) -> tuple[asyncio.Future[Any], str]:
    """Begin a call; return it, and the id of the question that it puts or takes up."""
    put: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def hear(filed: Filed) -> None:
        if not put.done():
            put.set_result(filed.request.id)

    end = gate.subscribe(hear)
    doing = asyncio.ensure_future(call)
    await asyncio.wait((doing, put), return_when=asyncio.FIRST_COMPLETED)
    end()
    assert put.done(), doing
    return doing, put.result()


async def _serve(store: SqliteApprovals, folder: Path) -> None:
    """Leave behind what a server does: calls that wait, were answered, refused and remembered."""
    s, gate = service_on(store, folder)

    async def answered(call: Any, *, yes: bool) -> None:
        doing, id = await asking(gate, call)
        if yes:
            await gate.approve(id, ANN)
        else:
            await gate.deny(id, ANN, MESSAGE)
        await asyncio.gather(doing, return_exceptions=True)

    await answered(s.call(PAY, amount=3), yes=False)
    await answered(s.call(GIFT, to="bob", n=1), yes=True)
    await s.call(GIFT, to="bob", n=2)
    await answered(s.service.elevate(("lend",), seconds=600, times=3, because="moving"), yes=True)
    await s.call(LEND, n=1)
    assert s.runs == 3
    # The server ends while two calls wait; one of them is answered when it is gone.
    waiting, ids = [], []
    for amount in (1, 2):
        doing, id = await asking(gate, s.call(PAY, amount=amount))
        waiting.append(doing)
        ids.append(id)
    gate.leave()
    for call in waiting:
        call.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    await gate.approve(ids[1], ANN)


async def _made(folder: Path) -> str:
    rules = folder / "rules"
    rules.mkdir()
    async with SqliteApprovals(folder / "approvals.sqlite") as store:
        await _fill(store)
        await _serve(store, rules)
    with closing(sqlite3.connect(folder / "approvals.sqlite")) as file:
        marks = [
            f"PRAGMA {name}={file.execute(f'PRAGMA {name}').fetchone()[0]};"
            for name in ("application_id", "user_version")
        ]
        return "\n".join([*marks, *file.iterdump(), ""])


def main() -> None:
    """Print a store that was made now."""
    with tempfile.TemporaryDirectory() as folder:
        sys.stdout.write(asyncio.run(_made(Path(folder))))


if __name__ == "__main__":
    main()
