"""Diagnostics as text for people: the message, the source line, what to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from policy.diagnostics.codes import explaining
from policy.diagnostics.diagnostic import Diagnostic, Severity
from policy.diagnostics.display_path import display_name
from policy.diagnostics.visible_text import visible, width
from policy.model import Source, Span

_TAB = 4
# How much of a long line is shown: characters before the mistake, and in all.
_BEFORE = 60
_SHOWN = 140


def to_text(
    diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source], *, root: str = ""
) -> str:
    """Return the diagnostics, a blank line after each, and one line that counts them."""
    blocks = ["\n".join(_block(d, sources, root=root)) + "\n" for d in diagnostics]
    return "\n".join([*blocks, summary(diagnostics)]) + "\n"


def summary(diagnostics: Sequence[Diagnostic]) -> str:
    """Return a line such as `2 errors, 1 warning`; `no problems found` when there are none."""
    counts = [
        f"{count} {severity}{'' if count == 1 else 's'}"
        for severity in Severity
        if (count := sum(d.severity is severity for d in diagnostics))
    ]
    return ", ".join(counts) or "no problems found"


def _block(diagnostic: Diagnostic, sources: Mapping[str, Source], *, root: str) -> Iterator[str]:
    spans = [*([diagnostic.span] if diagnostic.span else []), *(x.span for x in diagnostic.labels)]
    gutter = max((len(str(span.line)) for span in spans), default=1)
    yield f"{diagnostic.severity}[{diagnostic.code}]: {visible(diagnostic.message)}"
    if diagnostic.span is not None:
        yield f"{' ' * gutter}--> {_place(diagnostic.span, root=root)}"
        yield from _excerpts(diagnostic, sources, gutter=gutter, root=root)
    elif diagnostic.file:
        yield f"{' ' * gutter}--> {visible(display_name(diagnostic.file, root=root))}"
    margin = " " * (gutter + 1)
    if diagnostic.help:
        yield f"{margin}= help: {visible(diagnostic.help)}"
    yield f"{margin}= page: {explaining(diagnostic.code)}"


def _excerpts(
    diagnostic: Diagnostic, sources: Mapping[str, Source], *, gutter: int, root: str
) -> Iterator[str]:
    """Yield the marked lines: that of the diagnostic, then those of its labels, each line once."""
    assert diagnostic.span is not None
    marks = [(diagnostic.span, diagnostic.label, "^")]
    home = (diagnostic.span.file, diagnostic.span.line)
    labels = sorted(diagnostic.labels, key=lambda x: (x.span.file, x.span.line) != home)
    marks += [(label.span, label.text, "-") for label in labels]
    file = diagnostic.span.file
    above: tuple[str, int, str] | None = None
    for span, text, mark in marks:
        line = _line(span, sources)
        if line is None:
            yield from _unseen(span, text, main=span is diagnostic.span, gutter=gutter, root=root)
            continue
        if span.file != file:
            yield f"{' ' * gutter}::: {_place(span, root=root)}"
            file = span.file
        drawn, under = _drawn(line, span, mark=mark)
        if above != (above := (span.file, span.line, drawn)):
            yield f"{span.line:>{gutter}} | {drawn}"
        yield f"{' ' * gutter} | {under} {visible(text)}".rstrip()


def _unseen(span: Span, text: str, *, main: bool, gutter: int, root: str) -> Iterator[str]:
    """Yield the lines for a span whose text is not available."""
    if not main:
        yield f"{' ' * gutter}::: {_place(span, root=root)}"
    if text:
        yield f"{' ' * (gutter + 1)}= {visible(text)}"


def _drawn(line: str, span: Span, *, mark: str) -> tuple[str, str]:
    """Return the line as it is shown and the marks under it, cut to a window if it is long."""
    start = span.column - 1
    end = span.end_column - 1 if span.end_line == span.line else len(line)
    first = max(0, start - _BEFORE) if len(line) > _SHOWN else 0
    last = min(len(line), first + _SHOWN)
    head = "…" if first > 0 else ""
    text, columns = head, len(head)
    marked: list[int] = []
    for index in range(first, last):
        piece, size = _cell(line[index], columns)
        if start <= index < end:
            marked.extend(range(columns, columns + size))
        elif index == start:
            marked.append(columns)
        text, columns = text + piece, columns + size
    first_mark, last_mark = (marked[0], marked[-1]) if marked else (columns, columns)
    tail = "…" if last < len(line) else ""
    return text + tail, " " * first_mark + mark * (last_mark - first_mark + 1)


def _cell(char: str, column: int) -> tuple[str, int]:
    """Return how one character is drawn at a column, and how many columns it takes."""
    if char == "\t":
        size = _TAB - column % _TAB
        return " " * size, size
    shown = visible(char)
    return (char, width(char)) if shown == char else (shown, len(shown))


def _line(span: Span, sources: Mapping[str, Source]) -> str | None:
    source = sources.get(span.file)
    if source is None or span.start > len(source.text):
        return None
    return source.line(span.line)


def _place(span: Span, *, root: str) -> str:
    return f"{visible(display_name(span.file, root=root))}:{span.line}:{span.column}"
