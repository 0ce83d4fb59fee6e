"""Answers a message that cannot be read, under the id of its request where that can be found.

A client waits for an answer with the id of its request. An error without one, as JSON-RPC wants it
for what is no message at all, would leave it waiting until it gives up.
"""

from __future__ import annotations

import json
import re

from mcp.types import PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

_TOO_DEEP = "recursion limit exceeded"  # as pydantic says it
_WINDOW = 300  # characters at either end of a message in which its id may be
_ID = r'(-?\d{1,18}|"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]){0,200}")'
# Of the message itself, and not of something in it: the first or second key, or the last.
_AT_START = re.compile(rf'\s*\{{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*{_ID}\s*[,}}]')
_AT_END = re.compile(rf'[,{{]\s*"id"\s*:\s*{_ID}\s*\}}\s*\Z')


def stand_in(line: bytes | bytearray, *, why: str) -> str:
    """Return what is passed on in place of a line that must not be read: no message, and short."""
    text = (bytes(line[:_WINDOW]), bytes(line[-_WINDOW:]))
    start, end = (part.decode("utf-8", "replace") for part in text)
    return f"{why}: {start}\n{end}" if len(line) > _WINDOW else f"{why}: {start}"


def reply_to(error: Exception) -> JSONRPCError:
    """Return the answer to a message, by the error of reading it."""
    why, id = "this line is not a JSON-RPC message", None
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        text = first.get("input")
        if isinstance(text, str):
            stated, _, rest = text.partition(": ")
            if stated in STATED:
                why, text = STATED[stated], rest
            elif _TOO_DEEP in first["msg"]:
                why = "this message is nested too deeply"
            id = id_in(text[:_WINDOW], text[-_WINDOW:])
    return JSONRPCError(jsonrpc="2.0", id=id, error=ErrorData(code=PARSE_ERROR, message=why))


TOO_LONG, NOT_UTF8, TOO_MANY_VALUES = "too-long", "not-utf-8", "too-many-values"
STATED = {
    TOO_LONG: "this message is longer than `[serve] message_bytes` allows",
    NOT_UTF8: "this message is not UTF-8",
    TOO_MANY_VALUES: (
        "this message has more values than are read, one for 200 bytes of `[serve] message_bytes`; "
        "send large data as one text, or in parts"
    ),
}


def id_in(start: str, end: str) -> str | int | None:
    """Return the id of a message by its first and last characters, None if they do not show it."""
    found = _AT_START.match(start) or _AT_END.search(end)
    return None if found is None else json.loads(found.group(1))
