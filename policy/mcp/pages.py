"""Lists of a server that come in pages: bounded in number, entries and bytes, all together."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol

from policy.mcp.errors import McpFailure
from policy.mcp.streams import LARGEST

MOST_PAGES = 100
MOST_ENTRIES = 10_000


class AskForPage(Protocol):
    """Asks a server for one page of a list."""

    async def __call__(self, cursor: str | None) -> Mapping[str, Any]:
        """Return the page as the server sends it; raise McpFailure."""
        ...


class Pages:
    """What a server may still send of its lists."""

    def __init__(self) -> None:
        self._bytes = LARGEST
        self._entries = MOST_ENTRIES

    async def of(self, what: str, page: AskForPage) -> list[Any]:
        """Return all entries of a list, `what` in a page, as they were sent; raise McpFailure.

        Time is not limited.
        """
        found: list[Any] = []
        cursor, cursors = None, set[str]()
        for _ in range(MOST_PAGES):
            sent = await page(cursor)
            entries = sent.get(what, ())
            if not isinstance(entries, list | tuple):
                raise McpFailure(f"the server's list of {what} is not a list")
            self._take(what, entries)
            found += entries
            cursor = sent.get("nextCursor")
            if cursor is None:
                return found
            if not isinstance(cursor, str):
                raise McpFailure("the server's list continues at something that is not a string")
            if cursor in cursors:
                raise McpFailure("the server's list leads back to a page before")
            cursors.add(cursor)
        raise McpFailure(f"the server's list has more than {MOST_PAGES} pages")

    def _take(self, what: str, entries: Any) -> None:
        self._bytes -= sum(len(json.dumps(entry)) for entry in entries)
        self._entries -= len(entries)
        if self._bytes < 0:
            raise McpFailure(f"the server's list has more than {LARGEST:,} bytes")
        if self._entries < 0:
            raise McpFailure(f"the server lists more than {MOST_ENTRIES:,} {what}")
