"""Decodes the bytes of a file as UTF-8 policy text, or reports why not."""

from __future__ import annotations

import codecs

from policy.diagnostics import Diagnostic, diagnose
from policy.model import Source, Span, span_at

_OTHER_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)


def decode(
    name: str, content: bytes, *, drop_mark: bool = False
) -> tuple[Source | None, tuple[Diagnostic, ...]]:
    """Return the text of a file; None with an error if it is not UTF-8.

    The policy parser reports a byte order mark itself; for other files it is dropped, with a
    warning.
    """
    notes: tuple[Diagnostic, ...] = ()
    if drop_mark and content.startswith(codecs.BOM_UTF8):
        content = content[len(codecs.BOM_UTF8) :]
        notes = (
            diagnose(
                "byte-order-mark",
                f"`{name}` begins with a byte order mark",
                span=_at(name, line=1, column=1),
                help="save the file as UTF-8 without a mark",
            ),
        )
    if b"\r" in content and b"\n" not in content:
        return None, (_carriage_returns(name, content),)
    try:
        return Source(name=name, text=content.decode()), notes
    except UnicodeDecodeError as error:
        return None, (_not_utf8(name, content, error.start),)


def _carriage_returns(name: str, content: bytes) -> Diagnostic:
    column = len(content[: content.index(b"\r")].decode("utf-8", "replace")) + 1
    return diagnose(
        "control-character",
        "the lines of the file end with a carriage return alone",
        span=_at(name, line=1, column=column),
        help="save it with line feeds, alone (LF) or after carriage returns (CRLF)",
    )


def _not_utf8(name: str, content: bytes, offset: int) -> Diagnostic:
    encoding = next((said for mark, said in _OTHER_MARKS if content.startswith(mark)), None)
    before = content[:offset]
    line = before.count(b"\n") + 1
    start = before.rfind(b"\n") + 1
    column = len(before[start:].decode("utf-8", "replace")) + 1
    seen = f"it looks like {encoding}; " if encoding else ""
    return diagnose(
        "not-utf8",
        f"byte 0x{content[offset]:02x} is not UTF-8 text",
        span=_at(name, line=line, column=column),
        help=f"{seen}save the file as UTF-8",
    )


def _at(name: str, *, line: int, column: int) -> Span:
    return span_at(name, 0, 0, first=(line, column), last=(line, column))
