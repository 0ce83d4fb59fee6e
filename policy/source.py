"""Policy text, and places in it: `Source` holds one file's text, `Span` points into it."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import field

from policy.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A half-open range of one file; lines and columns count from 1, in characters."""

    file: str
    start: int
    end: int
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The text of one policy file, under the name by which reasons and diagnostics know it.

    `name` is relative to the policy folder, with forward slashes (`agents/writer.policy`).
    """

    name: str
    text: str
    _starts: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        starts = [0]
        starts.extend(i + 1 for i, char in enumerate(self.text) if char == "\n")
        object.__setattr__(self, "_starts", tuple(starts))

    def place(self, offset: int) -> tuple[int, int]:
        """Return the line and column, both from 1, of a character offset."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def span(self, start: int, end: int) -> Span:
        """Return the span from offset `start` up to, not including, `end`."""
        line, column = self.place(start)
        end_line, end_column = self.place(end)
        return Span(
            file=self.name,
            start=start,
            end=end,
            line=line,
            column=column,
            end_line=end_line,
            end_column=end_column,
        )

    def line(self, number: int) -> str:
        """Return the text of line `number` (from 1) without its line ending."""
        start = self._starts[number - 1]
        stop = self._starts[number] if number < len(self._starts) else len(self.text)
        return self.text[start:stop].rstrip("\r\n")
