"""What clients ask of servers besides their tools: each request becomes a call of the service."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, Final, Protocol, TypeAlias

from mcp.shared.exceptions import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CompleteRequestParams,
    CompleteResult,
    EmptyResult,
    GetPromptRequestParams,
    GetPromptResult,
    PromptReference,
    ReadResourceRequestParams,
    ReadResourceResult,
)

from policy.catalog import COMPLETE, GET_PROMPT, READ_RESOURCE
from policy.model import NotFound, PermissionDenied, ToolError, ValidationFailed
from policy.proxy.context import Context
from policy.proxy.finished_calls import record_of_call
from policy.proxy.offered_names import Named, named_prompt, named_uri, shown_block, shown_contents
from policy.proxy.relaying import relay_keys
from policy.proxy.results import plain, reported, said_of
from policy.service import GovernedService
from policy.tools import Watch

_LOG = logging.getLogger(__name__)
# The code of an answer that refuses a request. The protocol has none for it.
REFUSED: Final = -32010
# Of this hop, and not of the answer.
_OF_THE_HOP = ("_meta", "resultType", "ttlMs", "cacheScope")
_NO_RESOURCE = "there is no resource of this name: their URIs begin with `placet://SERVER/`"
_NO_PROMPT = "there is no prompt of this name: their names begin with `SERVER__`"

Made: TypeAlias = Callable[[GovernedService], Coroutine[Any, Any, Any]]


class Converse(Protocol):
    """Makes a call for the client of a request, which may be asked something before it ends."""

    def __call__(
        self, ctx: Context, params: Any, made: Made, *, watch: Watch | None = None
    ) -> Awaitable[Any]:
        """Return what `made` returns for the service of this client, or a question."""
        ...


class ServerRequests:
    """Answers requests that read a resource, get a prompt or ask for completions."""

    def __init__(self, converse: Converse) -> None:
        self._converse = converse

    async def read(self, ctx: Context, params: ReadResourceRequestParams) -> Any:
        """Return the contents of a resource."""
        named = named_uri(params.uri)

        async def read(service: GovernedService) -> Any:
            if named is None:
                raise await _unknown(service, READ_RESOURCE, {"uri": params.uri}, _NO_RESOURCE)
            input = {"server": named.server, "uri": named.name}
            answer = await _asked(service, READ_RESOURCE, input)
            contents = [shown_contents(named.server, each) for each in answer["contents"]]
            return _relayed(ReadResourceResult, {**answer, "contents": contents})

        return await self._converse(ctx, params, read)

    async def subscribe(self, ctx: Context, params: Any, *, uri: str, watch: Watch) -> None:
        """Let `watch` hear of changes of a resource from now on; raise MCPError."""

        async def begin(service: GovernedService) -> EmptyResult:
            await begin_watching(service, uri)
            return EmptyResult()

        await self._converse(ctx, params, begin, watch=watch)

    async def prompt(self, ctx: Context, params: GetPromptRequestParams) -> Any:
        """Return the messages of a prompt."""
        named = named_prompt(params.name)

        async def get(service: GovernedService) -> Any:
            if named is None:
                raise await _unknown(service, GET_PROMPT, {"name": params.name}, _NO_PROMPT)
            input: dict[str, Any] = {"server": named.server, "name": named.name}
            if params.arguments is not None:
                input["arguments"] = params.arguments
            answer = await _asked(service, GET_PROMPT, input)
            messages = [_message(named.server, each) for each in answer["messages"]]
            return _relayed(GetPromptResult, {**answer, "messages": messages})

        return await self._converse(ctx, params, get)

    async def complete(self, ctx: Context, params: CompleteRequestParams) -> Any:
        """Return the values that an argument may have."""
        by_name = isinstance(params.ref, PromptReference)
        shown = params.ref.name if isinstance(params.ref, PromptReference) else params.ref.uri
        named = named_prompt(shown) if by_name else named_uri(shown)

        async def complete(service: GovernedService) -> Any:
            input = _completion(params, named)
            if named is None:
                missing = _NO_PROMPT if by_name else _NO_RESOURCE
                raise await _unknown(service, COMPLETE, input, missing)
            return _relayed(CompleteResult, await _asked(service, COMPLETE, input))

        return await self._converse(ctx, params, complete)


async def begin_watching(service: GovernedService, uri: str) -> None:
    """Make the call that lets a client hear of changes of a resource; raise MCPError."""
    named = named_uri(uri)
    if named is None:
        raise await _unknown(service, READ_RESOURCE, {"uri": uri}, _NO_RESOURCE)
    await _asked(service, READ_RESOURCE, watched(named))


def watched(named: Named) -> dict[str, Any]:
    """Return the input of the call that a subscription is."""
    return {"server": named.server, "uri": named.name, "subscribe": True}


def _completion(params: CompleteRequestParams, named: Named | None) -> dict[str, Any]:
    key = "name" if isinstance(params.ref, PromptReference) else "uri"
    input: dict[str, Any] = {
        "server": "" if named is None else named.server,
        "ref": {"type": params.ref.type, key: "" if named is None else named.name},
        "argument": {"name": params.argument.name, "value": params.argument.value},
    }
    if params.context is not None and params.context.arguments is not None:
        input["context"] = params.context.arguments
    return input


def _message(server: str, message: Any) -> Any:
    if not isinstance(message, Mapping):
        return message
    return {**message, "content": shown_block(server, message.get("content"))}


def _relayed(form: Any, answer: Mapping[str, Any]) -> Any:
    """Return an answer as the SDK takes it, and have all of its keys put back afterwards."""
    own = {key: value for key, value in answer.items() if key not in _OF_THE_HOP}
    relay_keys(own)
    return form.model_validate({**own, "_meta": answer.get("_meta")}, by_name=False)


async def _asked(service: GovernedService, tool: str, input: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a server answers, with what is reported of the call in its `_meta`.

    Raises MCPError if the call is refused or fails: these answers can report no error.
    """
    with record_of_call() as ended:
        try:
            output = await service.execute(tool, dict(input))
        except ToolError as error:
            raise MCPError(
                _code_of(error), f"{error.code}: {said_of(error)}", reported(error, ended.record)
            ) from error
        except Exception as error:
            _LOG.exception("a call of %s failed inside Placet", plain(tool)[:120])
            raise MCPError(INTERNAL_ERROR, "the request failed inside Placet") from error
        meta = output.value.get("_meta")
        own = meta if isinstance(meta, Mapping) else {}
        return {**output.value, "_meta": {**own, **reported(None, ended.record)}}


async def _unknown(
    service: GovernedService, tool: str, input: Mapping[str, Any], why: str
) -> MCPError:
    """Return the error of a request that names no server; it is on record as any other."""
    try:
        await _asked(service, tool, {"server": "", **input})
    except MCPError as error:
        return MCPError(INVALID_PARAMS, f"not-found: {why}", error.error.data)
    raise AssertionError("an input without a server is not valid")


def _code_of(error: ToolError) -> int:
    match error:
        case NotFound() | ValidationFailed():
            return INVALID_PARAMS
        case PermissionDenied():
            return REFUSED
        case _:
            return INTERNAL_ERROR
