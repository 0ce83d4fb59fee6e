"""Format a parsed file canonically, keeping every comment and the author's groups.

A comment above a statement or a clause stays above it, a trailing comment stays trailing. Text that
did not parse is left unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass

from policy.model import Source
from policy.syntax.layout import Layout, Part, lay_out
from policy.syntax.parser import Parsed
from policy.syntax.statement_splitter import split_statements
from policy.syntax.tree import Comment, Header, Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    """Lines that belong together, and the range of the source that they represent."""

    start: int
    end: int
    lines: list[str]


def format_source(parsed: Parsed) -> str:
    """Return the file in canonical form: at most one blank line, every comment in its place."""
    source = parsed.tree.source
    blocks = sorted(_blocks(parsed), key=lambda block: block.start)
    lines: list[str] = []
    end = 0
    for block in blocks:
        if lines and source.text.count("\n", end, block.start) > 1:
            lines.append("")
        lines += block.lines
        end = block.end
    return "".join(f"{line}\n" for line in lines)


def _blocks(parsed: Parsed) -> list[_Block]:
    source = parsed.tree.source
    cuts = split_statements(source)
    nodes: dict[int, Header | Statement] = {s.span.start: s for s in parsed.tree.statements}
    if parsed.tree.header is not None:
        nodes[parsed.tree.header.span.start] = parsed.tree.header
    ranges = [(piece.start, piece.end) for piece in cuts.pieces]
    if cuts.stray is not None:
        ranges.insert(0, cuts.stray)
    comments = list(cuts.comments)
    blocks: list[_Block] = []
    position = 0
    for start, end in ranges:
        while position < len(comments) and comments[position].span.start < start:
            blocks.append(_comment_block(comments[position]))
            position += 1
        inside: list[Comment] = []
        while position < len(comments) and comments[position].span.start < end:
            inside.append(comments[position])
            position += 1
        node = nodes.get(start)
        trailing = comments[position : position + 1]
        if not trailing or not _same_line(source, end, trailing[0]):
            block = _statement_block(source, (start, end), node=node, inside=inside)
        elif inside and node is not None:
            position += 1
            block = _statement_block(source, (start, end), node=node, inside=[*inside, *trailing])
        else:
            position += 1
            block = _statement_block(source, (start, end), node=node, inside=inside)
            block = _with_comment(block, trailing[0])
        blocks.append(block)
    return blocks + [_comment_block(comment) for comment in comments[position:]]


def _same_line(source: Source, end: int, comment: Comment) -> bool:
    return source.text.find("\n", end, comment.span.start) < 0


def _comment_block(comment: Comment) -> _Block:
    return _Block(start=comment.span.start, end=comment.span.end, lines=[comment.text])


def _with_comment(block: _Block, comment: Comment) -> _Block:
    *lines, last = block.lines
    return _Block(
        start=block.start, end=comment.span.end, lines=[*lines, f"{last}  {comment.text}"]
    )


def _statement_block(
    source: Source,
    place: tuple[int, int],
    *,
    node: Header | Statement | None,
    inside: list[Comment],
) -> _Block:
    start, end = place
    if node is None:
        lines = [line.rstrip("\r") for line in _lines_of(source, start, end)]
    elif inside:
        lines = _commented(lay_out(node), inside)
    else:
        lines = lay_out(node).lines()
    return _Block(start=start, end=end, lines=lines)


def _lines_of(source: Source, start: int, end: int) -> list[str]:
    """Return the unchanged lines of a range, from the start of its first line."""
    begin = start - source.place(start)[1] + 1
    return source.text[begin:end].lstrip("\ufeff").split("\n")


def _commented(layout: Layout, comments: list[Comment]) -> list[str]:
    """Return the lines of a statement with the comments inside it.

    Comments that end up above or after the whole statement do not force its parts onto separate
    lines: when parsed again, they are outside the statement.
    """
    parts = layout.apart
    above, trailing = _places(parts, comments)
    end = len(parts) - 1
    if not any(above[1:]) and not any(trailing[:-1]) and (end == 0 or len(trailing[end]) <= 1):
        *more, last = trailing[end] or [""]
        lines = [*above[0], *more, *layout.lines()]
        lines[-1] += f"  {last}" if last else ""
        return lines
    lines = []
    for part, over, after in zip(parts, above, trailing, strict=True):
        *more, last = after or [""]
        lines += [" " * part.indent + text for text in (*over, *more)]
        lines += part.lines()
        lines[-1] += f"  {last}" if last else ""
    return lines


def _places(
    parts: tuple[Part, ...], comments: list[Comment]
) -> tuple[list[list[str]], list[list[str]]]:
    """Return the comments above each part, and those after it."""
    above: list[list[str]] = [[] for _ in parts]
    trailing: list[list[str]] = [[] for _ in parts]
    starts = [part.start for part in parts]
    for comment in comments:
        later = [start for start in starts if start > comment.span.start]
        if comment.own_line:
            above[starts.index(min(later) if later else max(starts))].append(comment.text)
        else:
            earlier = [start for start in starts if start <= comment.span.start]
            trailing[starts.index(max(earlier))].append(comment.text)
    return above, trailing
