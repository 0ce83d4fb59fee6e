"""The words of a condition in; its place, and its node when somebody asks for it, out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from policy.source import Source, Span, span_in
from policy.syntax import tree

# A file, a condition's text and where it begins in; the node out.
ReadTest: TypeAlias = Callable[[Source, str, int], tree.Expr]


class Phrase:
    """A condition of which the words are known; `text` is all that it means.

    It stands where a node could, and is none: see `KnownRule.quick`.
    """

    __slots__ = ("_read", "_source", "_whole", "span", "text")

    def __init__(
        self,
        source: Source,
        text: str,
        start: int,
        *,
        read: ReadTest,
        whole: tree.Expr | None = None,
    ) -> None:
        self._source = source
        self._read = read
        self._whole = whole
        self.text = text
        self.span: Span = span_in(source, start, start + len(text))

    def whole(self) -> tree.Expr:
        """Return the node, read anew unless these are the words that were read."""
        return self._whole or self._read(self._source, self.text, self.span.start)
