"""What a server asks of the client, as the SDK reads it: in either revision of the protocol.

With a handshake it is a request of the server within the session. Without one it is the answer to a
call, which is then repeated with what was asked for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, TypeAlias

from mcp.types import (
    INVALID_REQUEST,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestParams,
    ElicitResult,
    ErrorData,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
)
from pydantic import BaseModel, ValidationError

from policy.generation import McpServer
from policy.mcp.client_requests import call_of
from policy.mcp.errors import ProtocolError
from policy.mcp.open_calls import Asker, NotAnswered, OpenCalls

_MOST_AT_ONCE = 10  # requests in one answer
_ASKING_AGAIN = 1.0  # seconds for a server to ask for roots again
_METHODS = {
    CreateMessageRequest: "sampling/createMessage",
    ElicitRequest: "elicitation/create",
    ListRootsRequest: "roots/list",
}

Result: TypeAlias = CreateMessageResult | ElicitResult | ListRootsResult
_RESULTS: Mapping[str, type[Result]] = {
    "sampling/createMessage": CreateMessageResult,
    "elicitation/create": ElicitResult,
    "roots/list": ListRootsResult,
}


class InputRequests:
    """Answers what one server asks in one session."""

    def __init__(self, server: McpServer, calls: OpenCalls) -> None:
        self._server = server
        self._calls = calls
        self._owes_roots = False
        self._roots_answered = asyncio.Event()

    async def settle_roots(self, announce: Callable[[], Awaitable[None]]) -> None:
        """Have a server ask again for roots that it asked for while no call ran, as at its start.

        `announce` tells it that they have changed. It is given a moment: a server that asks after
        the call that runs now would get no answer again.
        """
        if not self._owes_roots:
            return
        self._owes_roots = False
        self._roots_answered.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(_ASKING_AGAIN):
                await announce()
                await self._roots_answered.wait()

    def callbacks(self) -> dict[str, Any]:
        """Return the SDK's callbacks: it tells the server what there are callbacks for."""
        offered: dict[str, dict[str, Any]] = {
            "sampling": {"sampling_callback": self._on_sampling},
            "elicitation": {"elicitation_callback": self._on_elicitation},
            "roots": {"list_roots_callback": self._on_roots},
        }
        named = self._server.client_features
        return {key: call for name in named for key, call in offered[name].items()}

    async def answered(self, result: InputRequiredResult, asker: Asker) -> dict[str, Result]:
        """Return the answers to all that a call needs, by their names; raise ProtocolError."""
        asked = result.input_requests or {}
        if len(asked) > _MOST_AT_ONCE:
            raise ProtocolError(f"the server asks for more than {_MOST_AT_ONCE} answers at once")
        try:
            async with asyncio.TaskGroup() as tasks:
                found = {
                    name: tasks.create_task(
                        self._needed(_METHODS[type(request)], request.params, asker)
                    )
                    for name, request in asked.items()
                }
        except ExceptionGroup as group:
            raise next(
                (e for e in group.exceptions if isinstance(e, ProtocolError)), group
            ) from group
        return {name: task.result() for name, task in found.items()}

    async def _needed(self, method: str, params: BaseModel | None, asker: Asker) -> Result:
        try:
            return await self._asked(method, params, asker)
        except (NotAnswered, ValidationError) as error:
            raise ProtocolError(f"the server asks for `{method}`: {_why(error)}") from error

    async def _asked(
        self, method: str, params: BaseModel | None, asker: Asker | None = None
    ) -> Result:
        given = {} if params is None else written(params)
        tool, input = call_of(self._server.name, self._server.client_features, method, given)
        answer = await self._calls.ask(tool, input, asker=asker)
        return _RESULTS[method].model_validate(answer, by_name=False)

    async def _answer(self, method: str, params: BaseModel | None) -> Any:
        try:
            return await self._asked(method, params)
        except (NotAnswered, ValidationError) as error:
            return ErrorData(code=INVALID_REQUEST, message=_why(error))

    async def _on_sampling(self, _: Any, params: CreateMessageRequestParams) -> Any:
        return await self._answer("sampling/createMessage", params)

    async def _on_elicitation(self, _: Any, params: ElicitRequestParams) -> Any:
        return await self._answer("elicitation/create", params)

    async def _on_roots(self, _: Any) -> Any:
        if not self._calls.any_open:
            self._owes_roots = True
        answer = await self._answer("roots/list", None)
        self._roots_answered.set()
        return answer


def _why(error: NotAnswered | ValidationError) -> str:
    return str(error) if isinstance(error, NotAnswered) else "the client's answer is not valid"


def written(model: BaseModel) -> dict[str, Any]:
    """Return a message of the SDK as JSON."""
    return model.model_dump(by_alias=True, mode="json", exclude_none=True)
