"""Lists of what servers offer besides tools, for one client: what its caller may ask for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias

from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
)
from pydantic import ValidationError

from policy.catalog import GET_PROMPT, READ_RESOURCE
from policy.decision import Visibility
from policy.model import Caller, thaw
from policy.proxy.context import Context
from policy.proxy.offered_names import shown_entry
from policy.proxy.relaying import relay_keys
from policy.runtime import Threads
from policy.service import GovernedService

# The lists, by the names that they have in answers.
ListName: TypeAlias = Literal["resources", "resourceTemplates", "prompts"]
_LISTING = Threads("lists of resources and prompts", most=1)
# How many entries are looked at for one page.
_PAGE = 200
_LONGEST_CURSOR = 8

_TOOL_OF: Mapping[ListName, str] = {
    "resources": READ_RESOURCE,
    "resourceTemplates": READ_RESOURCE,
    "prompts": GET_PROMPT,
}
_KEY_OF: Mapping[ListName, str] = {
    "resources": "uri",
    "resourceTemplates": "uriTemplate",
    "prompts": "name",
}
_FORM_OF: Mapping[ListName, Any] = {
    "resources": ListResourcesResult,
    "resourceTemplates": ListResourceTemplatesResult,
    "prompts": ListPromptsResult,
}


class OfferedBehind(Protocol):
    """What the servers behind a service offer besides tools."""

    def servers(self) -> Sequence[str]:
        """Return the names of the servers."""
        ...

    def missing(self, tool: str) -> str | None:
        """Return why no tool of this name is known, if that may not be for good."""
        ...

    async def lists(
        self, what: ListName, *, caller: Caller, servers: Iterable[str]
    ) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Return a list of each of these servers, as its caller's session sees it."""
        ...


class OfferedLists:
    """Answers requests for lists. `service_of` returns the service of a request's client."""

    def __init__(
        self, behind: OfferedBehind, service_of: Callable[[Context], Awaitable[GovernedService]]
    ) -> None:
        self._behind = behind
        self._service_of = service_of

    async def resources(self, ctx: Context, params: PaginatedRequestParams | None) -> Any:
        """Return a page of the resources."""
        return await self._page("resources", ctx, params)

    async def templates(self, ctx: Context, params: PaginatedRequestParams | None) -> Any:
        """Return a page of the templates of resources."""
        return await self._page("resourceTemplates", ctx, params)

    async def prompts(self, ctx: Context, params: PaginatedRequestParams | None) -> Any:
        """Return a page of the prompts."""
        return await self._page("prompts", ctx, params)

    async def _page(
        self, what: ListName, ctx: Context, params: PaginatedRequestParams | None
    ) -> Any:
        start = _start(None if params is None else params.cursor)
        service = await self._service_of(ctx)
        servers = await _LISTING.run(_visible_servers, service, what, self._behind.servers())
        lists = await self._behind.lists(what, caller=service.caller, servers=servers)
        every = [(server, entry) for server in servers for entry in lists.get(server, ())]
        shown = await _LISTING.run(_shown, service, what, every[start : start + _PAGE])
        further = str(start + _PAGE) if start + _PAGE < len(every) else None
        relay_keys({what: shown})
        return _FORM_OF[what].model_validate({what: shown, "nextCursor": further}, by_name=False)


def _start(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) <= _LONGEST_CURSOR):
        raise MCPError(INVALID_PARAMS, "the cursor is not one that this list has given")
    return int(cursor)


def _visible_servers(service: GovernedService, what: ListName, servers: Sequence[str]) -> list[str]:
    """Return the servers of which the caller may be allowed anything; no others are asked."""
    tool = _TOOL_OF[what]
    hidden = Visibility.HIDDEN
    return [name for name in servers if service.expected(tool, {"server": name}) is not hidden]


def _shown(
    service: GovernedService, what: ListName, entries: Iterable[tuple[str, Mapping[str, Any]]]
) -> list[dict[str, Any]]:
    """Return the entries that the caller may be allowed to ask for, as clients see them."""
    shown = []
    for server, entry in entries:
        visibility = _visibility(service, what, server, entry)
        if visibility is Visibility.HIDDEN or not _is_valid(what, entry):
            continue
        one = shown_entry(server, thaw(entry), _KEY_OF[what])
        if visibility is Visibility.ASKS:
            one["_meta"] = {**(one.get("_meta") or {}), "placet": {"may_ask": True}}
        shown.append(one)
    return shown


def _visibility(
    service: GovernedService, what: ListName, server: str, entry: Mapping[str, Any]
) -> Visibility:
    key = entry[_KEY_OF[what]]
    match what:
        case "resources":
            return service.foreseen(READ_RESOURCE, {"server": server, "uri": key})
        case "prompts":
            return service.expected(GET_PROMPT, {"server": server, "name": key})
        case _:
            return service.expected(READ_RESOURCE, {"server": server})


def _is_valid(what: ListName, entry: Mapping[str, Any]) -> bool:
    """Return whether clients can read an entry: one that they cannot would cost them the list."""
    try:
        _FORM_OF[what].model_validate({what: [thaw(entry)]}, by_name=False)
    except ValidationError:
        return False
    return True
