"""Policy text and positions in it: `Source` holds one file's text, `Span` is a range of it."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field

_LINE_END = re.compile("\n")


@dataclass(frozen=True, slots=True)
class _Places:
    """The file and the positions of a span without its text."""

    name: str
    first: tuple[int, int]
    last: tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Span:
    """A half-open range of one file; lines and columns count from 1, in characters.

    A rule has about fifteen, so lines are counted only when they are needed.
    """

    _of: Source | _Places
    start: int
    end: int

    @property
    def file(self) -> str:
        """The name of the file."""
        return self._of.name

    @property
    def text(self) -> str:
        """The text it covers; empty where the text of the file is not available."""
        of = self._of
        return of.text[self.start : self.end] if isinstance(of, Source) else ""

    @property
    def line(self) -> int:
        """The line it starts in."""
        return self._first()[0]

    @property
    def column(self) -> int:
        """The column it starts in."""
        return self._first()[1]

    @property
    def end_line(self) -> int:
        """The line it ends in."""
        return self._last()[0]

    @property
    def end_column(self) -> int:
        """The column after its last character."""
        return self._last()[1]

    def _first(self) -> tuple[int, int]:
        of = self._of
        return of.first if isinstance(of, _Places) else of.place(self.start)

    def _last(self) -> tuple[int, int]:
        of = self._of
        return of.last if isinstance(of, _Places) else of.place(self.end)

    def _all(self) -> tuple[object, ...]:
        return self._of.name, self.start, self.end, self._first(), self._last()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Span):
            return NotImplemented
        if self._of is other._of:
            return self.start == other.start and self.end == other.end
        return self._all() == other._all()

    def __hash__(self) -> int:
        return hash((self._of.name, self.start, self.end))

    def __repr__(self) -> str:
        return (
            f"Span(file={self.file!r}, start={self.start}, end={self.end}, line={self.line}, "
            f"column={self.column}, end_line={self.end_line}, end_column={self.end_column})"
        )

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


def span_in(source: Source, start: int, end: int) -> Span:
    """Return the span of a source from offset `start` up to, not including, `end`."""
    return Span(source, start, end)


def span_at(
    file: str, start: int, end: int, *, first: tuple[int, int], last: tuple[int, int]
) -> Span:
    """Return the span of a file without its text; `first` and `last` are (line, column)."""
    return Span(_Places(file, first, last), start, end)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The text of one policy file, under the name by which reasons and diagnostics know it.

    `name` is relative to the policy folder, with forward slashes (`agents/writer.policy`).
    """

    name: str
    text: str
    # Offsets at which lines start; None until a position is needed.
    _lines: tuple[int, ...] | None = field(init=False, repr=False, compare=False, default=None)

    def place(self, offset: int) -> tuple[int, int]:
        """Return the line and column, both from 1, of a character offset."""
        starts = self._starts()
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def span(self, start: int, end: int) -> Span:
        """Return the span from offset `start` up to, not including, `end`."""
        return span_in(self, start, end)

    def line(self, number: int) -> str:
        """Return the text of line `number` (from 1) without its line ending."""
        starts = self._starts()
        start = starts[number - 1]
        stop = starts[number] if number < len(starts) else len(self.text)
        return self.text[start:stop].rstrip("\r\n")

    def _starts(self) -> tuple[int, ...]:
        starts = self._lines
        if starts is None:
            starts = (0, *(found.end() for found in _LINE_END.finditer(self.text)))
            object.__setattr__(self, "_lines", starts)
        return starts
