"""Lists of a server that come in pages: bounded in number, entries and bytes, all together.

A list that goes on beyond a bound, or leads back to a page before, ends where it was read to.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from policy.mcp.errors import McpFailure, ProtocolError
from policy.mcp.streams import LARGEST

MOST_PAGES = 100
MOST_ENTRIES = 10_000


class AskForPage(Protocol):
    """Asks a server for one page of a list."""

    async def __call__(self, cursor: str | None) -> Mapping[str, Any]:
        """Return the page as the server sends it; raise McpFailure."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadList:
    """The entries of a list, as they were sent; `cut` is why they are not all, or empty."""

    entries: tuple[Any, ...]
    cut: str = ""


class Pages:
    """What a server may still send of its lists."""

    def __init__(self) -> None:
        self._bytes = LARGEST
        self._entries = MOST_ENTRIES

    async def of(self, what: str, page: AskForPage) -> ReadList:
        """Return the entries of a list, `what` in a page; raise McpFailure.

        An entry that a page before has had is the same one. Time is not limited.
        """
        found: list[Any] = []
        cursor, cursors, seen = None, set[str](), set[str]()
        for _ in range(MOST_PAGES):
            try:
                sent = await page(cursor)
            except ProtocolError:
                if cursor == "":  # some servers mean by it that there is no further page
                    return ReadList(entries=tuple(found))
                raise
            entries = sent.get(what)
            if not isinstance(entries, list | tuple):
                raise McpFailure(f"the server's list of {what} is not a list")
            texts = [_text(entry) or f"{cursor} {number}" for number, entry in enumerate(entries)]
            for entry, text in zip(entries, texts, strict=True):
                full = self._full(what, text)
                if full is not None:
                    return ReadList(entries=tuple(found), cut=full)
                if text not in seen:
                    found.append(entry)
            seen.update(texts)
            cursor = sent.get("nextCursor")
            if cursor is None:
                return ReadList(entries=tuple(found))
            cut = _no_way_on(cursor, cursors)
            if cut is not None:
                return ReadList(entries=tuple(found), cut=cut)
            cursors.add(cursor)
        return ReadList(
            entries=tuple(found), cut=f"the server's list has more than {MOST_PAGES} pages"
        )

    def _full(self, what: str, text: str) -> str | None:
        """Take the room of an entry; return why there is none."""
        self._bytes -= len(text)
        self._entries -= 1
        if self._bytes < 0:
            return f"the server's list has more than {LARGEST:,} bytes"
        if self._entries < 0:
            return f"the server lists more than {MOST_ENTRIES:,} {what}"
        return None


def _text(entry: Any) -> str | None:
    """Return an entry as JSON, to compare it; None if it has too many levels for that."""
    try:
        return json.dumps(entry, sort_keys=True)
    except RecursionError:
        return None


def _no_way_on(cursor: object, before: set[str]) -> str | None:
    if not isinstance(cursor, str):
        return "the server's list continues at something that is not a string"
    if cursor in before:
        return "the server's list leads back to a page before"
    return None
