"""Policy text, and places in it: `Source` holds one file's text, `Span` points into it."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

from policy import later
from policy.records import dataclass, field, refuse_assignment, refuse_deletion

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from policy.tuples import NamedTuple

_LINE_END = later.pattern("\n")


class _Told(NamedTuple):
    """The file and the places of a span that was made of them, not of a source."""

    name: str
    first: tuple[int, int]
    last: tuple[int, int]


class Span:
    """A half-open range of one file; lines and columns count from 1, in characters.

    A record that nothing changes, written out because there are fifteen in every rule: one that a
    source makes holds the source and two offsets, and counts lines when somebody asks for them.
    """

    __slots__ = ("_of", "end", "start")

    _of: Source | _Told
    start: int
    end: int

    def __init__(
        self,
        *,
        file: str,
        start: int,
        end: int,
        line: int,
        column: int,
        end_line: int,
        end_column: int,
    ) -> None:
        put = object.__setattr__
        put(self, "_of", _Told(file, (line, column), (end_line, end_column)))
        put(self, "start", start)
        put(self, "end", end)

    @property
    def file(self) -> str:
        """The name of the file."""
        return self._of.name

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
        """The column behind its last character."""
        return self._last()[1]

    def _first(self) -> tuple[int, int]:
        of = self._of
        return of.first if isinstance(of, _Told) else of.place(self.start)

    def _last(self) -> tuple[int, int]:
        of = self._of
        return of.last if isinstance(of, _Told) else of.place(self.end)

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

    __setattr__ = refuse_assignment
    __delattr__ = refuse_deletion

    def __reduce__(self) -> tuple[Any, ...]:
        return _told, self._all()


class _Unfinished:
    """A span that is being made: the same slots, and nothing that forbids to fill them."""

    __slots__ = ("_of", "end", "start")

    _of: Source
    start: int
    end: int


def span_in(source: Source, start: int, end: int) -> Span:
    """Return the span of a source from offset `start` up to, not including, `end`."""
    made: Any = _new(_Unfinished)
    made._of = source
    made.start = start
    made.end = end
    made.__class__ = Span
    return made  # type: ignore[no-any-return]


_new = object.__new__


def _told(name: str, start: int, end: int, first: tuple[int, int], last: tuple[int, int]) -> Span:
    return Span(
        file=name,
        start=start,
        end=end,
        line=first[0],
        column=first[1],
        end_line=last[0],
        end_column=last[1],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The text of one policy file, under the name by which reasons and diagnostics know it.

    `name` is relative to the policy folder, with forward slashes (`agents/writer.policy`).
    """

    name: str
    text: str
    # Where lines start; None until somebody asks for a place.
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
