"""An approver that asks the person at the client that made a call, and people in the queue."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from mcp.shared.exceptions import MCPError
from mcp.types import ElicitRequest, ElicitRequestFormParams, ElicitResult
from pydantic import ValidationError

from policy.approvals import (
    ApprovalOutcome,
    ApprovalRequest,
    Approved,
    Approver,
    Denied,
    TimedOut,
    request_text,
)
from policy.generation import ApprovalSettings
from policy.proxy.conversation import Conversation, NotAskable, conversation_here

_SCHEMA = {
    "type": "object",
    "properties": {
        "approve": {"type": "boolean", "title": "Allow this one call"},
        "reason": {"type": "string", "title": "If not: why (the agent reads it)"},
    },
    "required": ["approve"],
}


class ClientApprover:
    """Asks the client's user where the configuration lets that user answer, else the queue.

    A question that names who may answer it, or wants two people, is never the client's: the
    program that asks for the call would show it, and might answer it.
    """

    def __init__(self, queue: Approver, settings: Callable[[], ApprovalSettings | None]) -> None:
        self._queue = queue
        self._settings = settings

    async def ask(self, request: ApprovalRequest) -> ApprovalOutcome:
        """Return the answer that comes first."""
        settings, conversation = self._settings(), conversation_here()
        where = "queue" if settings is None else settings.ask
        if (
            where == "queue"
            or conversation is None
            or not conversation.takes(_question(request))
            or not _may_be_answered_by_anybody(request)
        ):
            return await self._queue.ask(request)
        if where == "client":
            try:
                return await _answer(conversation, request)
            except NotAskable:
                return await self._queue.ask(request)
        return await self._first(conversation, request)

    async def _first(self, conversation: Conversation, request: ApprovalRequest) -> ApprovalOutcome:
        """Ask in both places; of two answers at the same moment a refusal counts."""
        asked = [
            asyncio.ensure_future(_answer(conversation, request)),
            asyncio.ensure_future(self._queue.ask(request)),
        ]
        try:
            found: list[ApprovalOutcome] = []
            open = set(asked)
            while open and not found:
                done, open = await asyncio.wait(open, return_when=asyncio.FIRST_COMPLETED)
                found = [
                    one.result()
                    for one in done
                    if one.exception() is None and not isinstance(one.result(), TimedOut)
                ]
        finally:
            for one in asked:
                one.cancel()
            await asyncio.gather(*asked, return_exceptions=True)
        refusals = [one for one in found if not isinstance(one, Approved)]
        return (*refusals, *found, TimedOut())[0]


def _may_be_answered_by_anybody(request: ApprovalRequest) -> bool:
    terms = [reason.terms for reason in request.reasons if reason.terms is not None]
    return not any(each.groups or each.two_people for each in terms)


async def _answer(conversation: Conversation, request: ApprovalRequest) -> ApprovalOutcome:
    """Return the answer of the client's user; raise NotAskable if the client gave none."""
    try:
        result = await conversation.ask(_question(request))
    except (MCPError, ValidationError) as error:
        raise NotAskable from error
    if not isinstance(result, ElicitResult):
        raise NotAskable
    return _outcome(result, by=request.caller.user or f"the user of {request.caller.agent}")


def _question(request: ApprovalRequest) -> ElicitRequest:
    message = f"Placet asks, and no server behind it.\n{request_text(request)}"
    params = ElicitRequestFormParams(message=message, requested_schema=_SCHEMA)
    return ElicitRequest(params=params)


def _outcome(result: ElicitResult, *, by: str) -> ApprovalOutcome:
    """Return what an answer means; only an explicit yes is one."""
    content = result.content or {}
    match result.action:
        case "accept" if content.get("approve") is True:
            return Approved(by=by)
        case "cancel":
            return TimedOut()
        case _:
            reason = content.get("reason")
            return Denied(by=by, reason=reason if isinstance(reason, str) and reason else None)
