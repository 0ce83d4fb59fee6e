"""Sends requests to the client of the call that runs here, for tools that have to ask it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp.types import CreateMessageRequest, ElicitRequest, InputRequest, ListRootsRequest
from pydantic import ValidationError

from policy.diagnostics import visible
from policy.proxy.conversation import NotAskable, conversation_here
from policy.tools import CannotBeAsked

_REQUESTS: Mapping[str, type[InputRequest]] = {
    "elicitation/create": ElicitRequest,
    "sampling/createMessage": CreateMessageRequest,
    "roots/list": ListRootsRequest,
}
_LONGEST = 200  # characters of what a client says


class RequestsToClient:
    """Sends requests within the conversation of a call, in the revision of its client."""

    async def send(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the client's result; raise CannotBeAsked."""
        conversation = conversation_here()
        if conversation is None:
            raise CannotBeAsked("there is no client that could be asked")
        request = _REQUESTS[method].model_validate({"method": method, "params": {**params}})
        try:
            result = await conversation.ask(request)
        except NotAskable as error:
            raise CannotBeAsked(f"the client does not answer `{method}`") from error
        except MCPError as error:
            raise CannotBeAsked(f"the client refused: {visible(str(error), _LONGEST)}") from error
        except ValidationError as error:
            raise CannotBeAsked("the client's answer is not valid") from error
        return result.model_dump(by_alias=True, mode="json", exclude_none=True)
