"""A process that opens the same file of approvals, does one thing and exits.

`call FILE FOLDER` puts the call of a tool through a service and prints what became of it;
`approve FILE` and `deny FILE` answer every open question; `spend FILE` uses a standing approval up
and prints a line for each use.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from policy.approvals import ApprovalGate, Person, SqliteApprovals
from policy.model import PermissionDenied
from tests.fakes import FakeClock
from tests.service.asking.stage import Stage

RULES = 'pay-out: allow pay with approval by "finance"\n'
ANN = Person(id="ann", groups=("finance",))
NOW = FakeClock()()


def stage(folder: Path, desk: SqliteApprovals) -> tuple[Stage, ApprovalGate]:
    """Return a service whose questions wait on a desk."""
    made = Stage(folder, RULES, ledger=desk, asks_per_session=2_000)
    gate = ApprovalGate(desk, poll=0.005, clock=made.clock)
    made.service.set_approver(gate)
    return made, gate


async def call(desk: SqliteApprovals, folder: Path) -> str:
    s, gate = stage(folder, desk)
    gate.subscribe(lambda filed: print(filed.state, filed.request.id, flush=True))
    try:
        await s.call(amount=3)
    except PermissionDenied:
        return "denied"
    return f"ran {s.runs}"


async def answer(desk: SqliteApprovals, folder: Path, *, yes: bool) -> str:
    _, gate = stage(folder, desk)
    for filed in await gate.pending():
        if yes:
            await gate.approve(filed.request.id, ANN)
        else:
            await gate.deny(filed.request.id, ANN, "not today")
    return "answered"


async def spend(desk: SqliteApprovals) -> str:
    while await desk.spend(("g1",), now=NOW):
        print("used", flush=True)
    return "used up"


async def main(what: str, file: str, folder: str) -> None:
    async with SqliteApprovals(file) as desk:
        if what == "call":
            done = await call(desk, Path(folder))
        elif what == "spend":
            done = await spend(desk)
        else:
            done = await answer(desk, Path(folder), yes=what == "approve")
    print(done, flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
