"""`Offers`: what a server offers in one session besides tools: resources, templates, prompts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from mcp.types import (
    ListPromptsRequest,
    ListResourcesRequest,
    ListResourceTemplatesRequest,
    PaginatedRequestParams,
    Request,
    ServerCapabilities,
)

from policy.mcp.offered import Entries, Feature, Offered, OfferedKind
from policy.mcp.pages import Pages
from policy.model import freeze

SendPage: TypeAlias = Callable[[Request[Any, Any]], Awaitable[Mapping[str, Any]]]

_REQUESTS: Mapping[Offered, Callable[..., Request[Any, Any]]] = {
    "resources": ListResourcesRequest,
    "resourceTemplates": ListResourceTemplatesRequest,
    "prompts": ListPromptsRequest,
}


class Offers:
    """The lists of one session, each as it was got last.

    `send` asks for a page, and `fresh_for` is how many seconds a list counts.
    """

    def __init__(
        self, send: SendPage, capabilities: Callable[[], ServerCapabilities], *, fresh_for: float
    ) -> None:
        self._send = send
        self._capabilities = capabilities
        self._fresh_for = fresh_for
        self._listing = asyncio.Lock()
        self._lists: dict[Offered, tuple[float, Entries]] = {}

    def has(self, what: Feature) -> bool:
        """Return whether the server declares that it has such."""
        return getattr(self._capabilities(), what) is not None

    def changed(self, what: OfferedKind) -> None:
        """Forget a list that is not the last one any more."""
        if what == "prompts":
            self._lists.pop("prompts", None)
        else:
            self._lists.pop("resources", None)
            self._lists.pop("resourceTemplates", None)

    async def current(self, what: Offered) -> Entries:
        """Return a list, empty if the server has none; raise McpFailure.

        Pages, entries and bytes are bounded, time is not.
        """
        if not self.has("prompts" if what == "prompts" else "resources"):
            return ()
        async with self._listing:
            known = self._lists.get(what)
            if known is not None and time.monotonic() - known[0] <= self._fresh_for:
                return known[1]
            began = time.monotonic()
            found = await self._list(what)
            self._lists[what] = (began, found)
            return found

    async def _list(self, what: Offered) -> Entries:
        request = _REQUESTS[what]

        async def page(cursor: str | None) -> Mapping[str, Any]:
            params = None if cursor is None else PaginatedRequestParams(cursor=cursor)
            return await self._send(request(params=params))

        return tuple(map(freeze, (await Pages().of(what, page)).entries))
