"""How logs that outlive a process write calls, tools and times."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from policy.model import Amount, CalledTool, Caller, PastCall
from policy.values import JsonLimits, Unreadable, read_json

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
# What the log itself has written, however large.
_OWN = JsonLimits(bytes=2**31, digits=100_000, depth=200)


def caller_text(caller: Caller) -> str:
    """Return who calls: session, agent, user, and the agents of the chain."""
    chain = [each.agent for each in caller.chain()]
    return json.dumps((caller.session, caller.agent, caller.user, chain))


def call_of(row: tuple[Any, ...]) -> PastCall:
    """Return the call of a row: id, tool, caller, call, at, outcome, input and output."""
    _, tool, about, call, at, outcome, input, output = row
    called = tool_of(tool)
    session, agent, user, chain = json.loads(about)
    result, texts = (None, ()) if output is None else own_value(output)
    return PastCall(
        tool=called.name,
        origin=called.kind,
        server=called.server,
        input=own_value(input),
        result=result,
        texts=texts,
        outcome=outcome,
        at=moment(at),
        session=session,
        agent=agent,
        user=user,
        id=None if call is None else json.loads(call),
        chain=tuple(chain),
    )


def own_value(stored: bytes) -> Any:
    """Return a value that the log itself has written; raise ValueError if it is damaged."""
    found = read_json(stored, limits=_OWN)
    if isinstance(found, Unreadable):
        raise ValueError(f"a call in it cannot be read: {found.reason}")
    return found


def key_of_tool(tool: CalledTool) -> str:
    """Return a tool as a key; in ASCII, as a name may hold what is no valid Unicode."""
    return json.dumps((tool.name, tool.kind, tool.server))


def tool_of(key: str) -> CalledTool:
    """Return the tool of a key."""
    name, kind, server = json.loads(key)
    return CalledTool(name=name, kind=kind, server=server)


def microseconds(at: datetime | None) -> int | None:
    """Return a time as microseconds since 1970."""
    return None if at is None else (at - _EPOCH) // MICROSECOND


def moment(stored: int | None) -> datetime | None:
    """Return the time of so many microseconds since 1970."""
    return None if stored is None else _EPOCH + stored * MICROSECOND


def key_of_session(session: tuple[str | None, str]) -> str:
    """Return a session as a key; in ASCII, as a name may hold what is no valid Unicode."""
    return json.dumps(session)


def amount_of(text: str) -> Amount:
    """Return an amount that was written with all its digits."""
    return int(text) if text.lstrip("-").isdigit() else Decimal(text)
