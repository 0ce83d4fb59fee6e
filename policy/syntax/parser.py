"""Parse policy text into a tree of all valid statements, with a diagnostic for every error.

The file is split into statements first and each is parsed alone, so that an error in one does not
affect the others. Nothing here raises, and nothing recurses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from types import MappingProxyType
from typing import TypeAlias

from policy.diagnostics import Diagnostic, diagnose, in_order
from policy.model import Source, span_in
from policy.syntax.broken_statements import broken_statement, likely_header
from policy.syntax.grammar import Start
from policy.syntax.statement import parse_statement
from policy.syntax.statement_splitter import (
    BYTE_ORDER_MARK,
    MAX_DEPTH,
    SplitFile,
    StatementText,
    invisible_characters,
    split_statements,
)
from policy.syntax.tree import (
    BrokenStatement,
    Engine,
    Header,
    KnownRule,
    PackHeader,
    Param,
    PolicyFile,
    PolicyHeader,
    Statement,
)

# The most diagnostics of a file up to which mistyped keywords are searched for, and the errors of a
# test behind its first one.
_MOST_THOROUGH = 100

# The most invisible characters reported; a file full of them is one mistake many times.
_MAX_UNSEEN = 20

# Levels around a condition: the clause, the rule, and the list that holds it.
_ABOVE = 4

# Lines at the margin that probably belong to a broken statement above them.
_TABLE_KEY = re.compile(r'["\w*./-]+[ \t]*=')
_ITEM = re.compile(r'(?:"[^"\n]*"|[\w.*?]+)[ \t]*,?')
_CASE = re.compile(r"[^\s{]+[ \t]*\{[^\n]*->")
_HEADER = re.compile(r"(?:policy|pack)(?![A-Za-z0-9_-])(?![ \t]*:)")
# Nesting needs one of these, so the depth of a statement with few of them is not measured. Counting
# each one takes a tenth of the time of a regular expression that finds them all.
_NESTING = ("(", "[", "{", ".", "+", "*", "-", "not", "any", "all")


_NONE_KNOWN: Mapping[str, KnownRule] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """One file's tree and the diagnostics of parsing it, in the order of the text."""

    tree: PolicyFile
    diagnostics: tuple[Diagnostic, ...]


_Node: TypeAlias = Header | Statement


def parse(
    source: Source,
    *,
    known: Mapping[str, KnownRule] = _NONE_KNOWN,
    engine: Engine = "tables",
) -> Parsed:
    """Parse one policy file; any text gives a tree and diagnostics.

    Rules whose text is in `known` are not parsed again; they become the tree's `known`. With
    `engine="lark"` Lark parses every statement, with the same result, but slower.
    """
    cuts = split_statements(source, quick=engine != "lark")
    unseen_at = invisible_characters(source.text)
    marked = frozenset(unseen_at)
    diagnostics = [*_marks(source, unseen_at), *_stray(source, cuts)]
    header: Header | None = None
    statements: list[Statement] = []
    broken: list[BrokenStatement] = []
    if cuts.stray is not None:
        start, end = cuts.stray
        broken.append(broken_statement(cuts.code[start:end], source.span(start, end)))
    unchanged: list[KnownRule] = []
    for number, piece in enumerate(cuts.pieces):
        text = piece.text
        if broken and _is_rest_of(broken[-1], text):
            continue
        before = known.get(source.text[piece.start : piece.end])
        if before is not None:
            span = span_in(source, piece.start, piece.end)
            unchanged.append(replace(before, source=source, span=span, engine=engine))
            continue
        is_header = _is_header(text)
        node, problems = _parse_piece(
            source,
            piece=piece,
            is_header=is_header,
            engine=engine,
            thorough=len(diagnostics) < _MOST_THOROUGH,
        )
        diagnostics += [d for d in problems if d.span is None or d.span.start not in marked]
        if is_header:
            diagnostics += _misplaced(source, piece, number=number, header=header)
            if header is None and isinstance(node, PolicyHeader | PackHeader):
                header = node
        elif node is None:
            broken.append(broken_statement(text, source.span(piece.start, piece.end)))
        elif not isinstance(node, PolicyHeader | PackHeader):
            statements.append(node)
    if not (statements or unchanged) and _is_foreign(cuts, broken):
        diagnostics = [*_marks(source, unseen_at), _foreign(source, broken[0])]
    elif not _may_have_header(cuts, broken):
        diagnostics.append(_missing(source, cuts))
    tree = PolicyFile(
        source=source,
        header=header,
        statements=tuple(statements),
        known=tuple(unchanged),
        broken=tuple(broken),
        likely_header=None if header else _likely_header(source, cuts, statements),
        comments=cuts.comments,
    )
    return Parsed(tree=tree, diagnostics=in_order(diagnostics))


def _likely_header(source: Source, cuts: SplitFile, statements: list[Statement]) -> Header | None:
    """Return the header of a file that has no valid one, from its first statement."""
    if cuts.stray is not None:
        start, end = cuts.stray
        return likely_header(cuts.code[start:end], source.span(start, end), has_parameters=False)
    if not cuts.pieces:
        return likely_header("", source.span(0, 0), has_parameters=False)
    first = next((piece for piece in cuts.pieces if _is_header(piece.text)), cuts.pieces[0])
    has_parameters = any(isinstance(statement, Param) for statement in statements)
    span = source.span(first.start, first.end)
    return likely_header(first.text, span, has_parameters=has_parameters)


def _is_header(text: str) -> bool:
    # The usual case needs no regular expression.
    is_usual = text.startswith(("policy for ", 'pack "'))
    return is_usual or (text[0] == "p" and _HEADER.match(text) is not None)


def _parse_piece(
    source: Source,
    *,
    piece: StatementText,
    is_header: bool,
    engine: Engine,
    thorough: bool,
) -> tuple[_Node | None, list[Diagnostic]]:
    if piece.too_deep is not None:
        return None, [_too_deep(source, piece.too_deep, piece.too_deep + 1)]
    text = piece.text
    start_rule: Start = "header" if is_header else "statement"
    may_be_deep = _may_be_deep(text)
    node, problems, error = parse_statement(
        source,
        text,
        piece.start,
        start_rule=start_rule,
        engine=engine,
    )
    if error is not None:
        # Its table of mistakes is not needed for a valid policy.
        from policy.syntax import error_messages

        said = error_messages.describe(
            source, piece=piece, error=error, start_rule=start_rule, typos=thorough
        )
        if not thorough or not text.startswith("test"):
            return None, [*problems, said]
        from policy.syntax.broken_tests import later_errors

        more = later_errors(source, piece, error=error, engine=engine)
        return None, [*problems, said, *more]
    deep = _deepest_beyond(piece, node) if may_be_deep else None
    if deep is not None:
        return None, [_too_deep(source, *deep)]
    return node, problems


def _may_be_deep(text: str) -> bool:
    """Return whether a statement could nest beyond the limit.

    A level takes at least two characters, except for a minus, which may precede another one.
    """
    if len(text) <= MAX_DEPTH or (len(text) <= 2 * MAX_DEPTH and "-" not in text):
        return False
    return sum(map(text.count, _NESTING)) > MAX_DEPTH


def _deepest_beyond(piece: StatementText, root: _Node | None) -> tuple[int, int] | None:
    """Return the range of a node that is nested beyond the limit, if there is one."""
    stack: list[tuple[object, int]] = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        if depth > MAX_DEPTH + _ABOVE:
            span = getattr(node, "span", None)
            return (span.start, span.end) if span is not None else (piece.start, piece.end)
        stack.extend((child, depth + 1) for child in _children(node))
    return None


def _children(node: object) -> Iterator[object]:
    if not is_dataclass(node):
        return
    waiting: list[object] = [getattr(node, f.name) for f in fields(node) if f.compare]
    while waiting:
        value = waiting.pop()
        if isinstance(value, tuple):
            waiting.extend(value)
        elif is_dataclass(value):
            yield value


def _too_deep(source: Source, start: int, end: int) -> Diagnostic:
    return diagnose(
        "too-deep",
        f"this is nested more than {MAX_DEPTH} levels deep",
        span=source.span(start, end),
        help="name a part of the condition with `let`, or use a set instead of a chain",
    )


def _marks(source: Source, unseen_at: list[int]) -> Iterator[Diagnostic]:
    if source.text.startswith(BYTE_ORDER_MARK):
        yield diagnose(
            "byte-order-mark",
            "the file begins with a byte order mark",
            span=source.span(0, 1),
            help="save it as UTF-8 without one",
        )
    for offset in unseen_at[:_MAX_UNSEEN]:
        yield diagnose(
            "control-character",
            f"an invisible character: `U+{ord(source.text[offset]):04X}`",
            span=source.span(offset, offset + 1),
            help=f"remove it; in a string write `\\u{{{ord(source.text[offset]):x}}}`",
        )


def _stray(source: Source, cuts: SplitFile) -> Iterator[Diagnostic]:
    if cuts.stray is not None:
        yield diagnose(
            "syntax-error",
            "an indented line continues a statement, but none has begun",
            span=source.span(*cuts.stray),
            help="begin each statement at the margin, without a space before it",
        )


def _is_rest_of(broken: BrokenStatement, text: str) -> bool:
    """Return whether a statement is probably the rest of a broken one."""
    if not text.strip(")]};, "):
        return True
    if broken.text.startswith("["):
        return _TABLE_KEY.match(text) is not None
    if broken.text.endswith(("=", ",")):
        return _ITEM.fullmatch(text) is not None
    return broken.word == "test" and _CASE.match(text) is not None


def _may_have_header(cuts: SplitFile, broken: list[BrokenStatement]) -> bool:
    """Return whether a file has a header, perhaps one with an error that is reported by itself."""
    if cuts.stray is not None or any(_is_header(piece.text) for piece in cuts.pieces):
        return True
    return any(one.word in ("policy", "pack") for one in broken)


def _is_foreign(cuts: SplitFile, broken: list[BrokenStatement]) -> bool:
    """Return whether a file in which nothing parses is probably of another language."""
    if not broken or _may_have_header(cuts, broken):
        return False
    return len(broken) > 1 or not broken[0].word


def _foreign(source: Source, broken: BrokenStatement) -> Diagnostic:
    """Return the diagnostic of a file in another language, at its first statement."""
    first = broken.span
    end = source.text.find("\n", first.start, first.end)
    return diagnose(
        "missing-header",
        "this is not the policy language",
        span=source.span(first.start, first.end if end < 0 else end),
        help="begin with the line `policy for every agent`, then write `default deny` and rules "
        "such as `allow file_read when reads only workspace`",
    )


def _missing(source: Source, cuts: SplitFile) -> Diagnostic:
    start, end = (cuts.pieces[0].start, cuts.pieces[0].end) if cuts.pieces else (0, 0)
    first_line = source.text.find("\n", start, end)
    return diagnose(
        "missing-header",
        "the file does not declare which agents it applies to",
        span=source.span(start, end if first_line < 0 else first_line),
        help="begin with the line `policy for every agent`; a file for some agents begins with "
        '`policy for agent "…"`, `policy for agents "…"` or `policy for role "…"`, a pack with '
        '`pack "…"`',
    )


def _misplaced(
    source: Source, piece: StatementText, *, number: int, header: Header | None
) -> Iterator[Diagnostic]:
    if number == 0:
        return
    code, message, help = (
        ("header-not-first", "the header is not the first statement", "move it to the top")
        if header is None
        else (
            "duplicate-header",
            "a file has one header",
            "move the rules for other agents to a separate file",
        )
    )
    yield diagnose(code, message, span=source.span(piece.start, piece.end), help=help)
