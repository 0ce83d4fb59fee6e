"""Redaction of a string: every match of some expressions is replaced, all of them together.

Inputs and results are redacted by this one implementation.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from policy.values.regex.regex import Regex, compile_regex
from policy.values.shown_text import shown_text
from policy.values.text import is_encodable, is_ordinary

DEFAULT_REPLACEMENT = "[redacted]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Redaction:
    """What the rule `rule` redacts: each match of `regex` becomes `replacement`."""

    regex: Regex
    replacement: str
    rule: str


class Unsearchable(Exception):
    """A string that one of the redactions could not search."""

    def __init__(self, redaction: Redaction) -> None:
        super().__init__("a string that cannot be searched")
        self.redaction = redaction


@dataclass(frozen=True, slots=True)
class RedactedText:
    """A redacted string, and how many matches of each redaction were in the original."""

    text: str
    places: tuple[int, ...]


def redact_text(
    text: str, redactions: Sequence[Redaction], *, work: int | None = None
) -> RedactedText | None:
    """Replace the union of all matches on the original text, each stretch once.

    A match is looked for in the text as it is spelled, and as it is shown: in NFC and without
    invisible characters. Where matches of different replacements overlap, `[redacted]` replaces
    them. Returns None if nothing matches. Raises Unsearchable for text that is not valid Unicode,
    or where finding all matches of one is more than `work`.
    """
    found: list[tuple[int, int, str]] = []
    places: list[int] = []
    shown = shown_text(text) if is_encodable(text) else None
    for redaction in redactions:
        spans = _spans(redaction, text, work)
        if shown is not None:
            more = [shown.original(*span) for span in _spans(redaction, shown.text, work)]
            spans = _joined(sorted({*spans, *more}))
        places.append(len(spans))
        found.extend((start, end, redaction.replacement) for start, end in spans)
    if not found:
        return None
    pieces: list[str] = []
    done = 0
    for start, end, replacement in _united(sorted(found)):
        pieces += (text[done:start], replacement)
        done = end
    pieces.append(text[done:])
    return RedactedText("".join(pieces), tuple(places))


def _spans(redaction: Redaction, text: str, work: int | None) -> Sequence[tuple[int, int]]:
    regex = redaction.regex
    spans = () if regex.found_in(text) is False else regex.spans(text, work=work)
    if spans is None:
        raise Unsearchable(redaction)
    return spans


def _joined(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join spans that overlap: a match is found in both spellings of a text."""
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


# What depends on the very ends of a text, or may switch off that `^` and `$` match at lines.
_OF_WHOLE_TEXTS = re.compile(r"\\[Az]|\(\?[a-zA-Z]*-")


def texts_to_redact(texts: Sequence[str], redactions: Sequence[Redaction]) -> set[str]:
    """Return the strings in which some redaction may match; all others have no match.

    Strings that are shown differently from how they are spelled are among them.

    They are searched together, as lines of one text: a search costs far more than the text of a
    short string. What matches in a string then matches there too, or an earlier match reaches it.
    """
    joined = "\n".join(texts)
    starts = (0, *accumulate(len(text) + 1 for text in texts))
    found = {text for text in texts if not is_ordinary(text)}
    for redaction in redactions:
        source = redaction.regex.source
        lines = None if _OF_WHOLE_TEXTS.search(source) else compile_regex(f"(?m){source}")
        spans = lines.spans(joined) if isinstance(lines, Regex) else None
        if spans is None:
            return set(texts)
        for start, end in spans:
            first, last = bisect_right(starts, start) - 1, bisect_right(starts, end - 1)
            found.update(texts[first:last])
    return found


def _united(found: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Join overlapping matches; if their replacements differ, `[redacted]` replaces them all."""
    joined: list[tuple[int, int, str]] = []
    for start, end, replacement in found:
        if joined and start < joined[-1][1]:
            first, last, before = joined[-1]
            same = replacement if replacement == before else DEFAULT_REPLACEMENT
            joined[-1] = (first, max(last, end), same)
        else:
            joined.append((start, end, replacement))
    return joined
