"""Parses redirections and here-documents."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from policy.shell.cursor import Cursor, PendingText
from policy.shell.expansions import ExpansionReader
from policy.shell.not_readable import NotReadable
from policy.shell.shell_state import ShellState
from policy.shell.tree import Part, Parts, Quoted, Raw, Redirecting, in_double_quotes
from policy.shell.word import Redirection, Word
from policy.shell.word_pieces import Piece, literal, to_word
from policy.shell.word_reader import WordReader, literal_dollar

_START = re.compile(
    r"(?:(?P<fd>[0-9]+)|\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)\})?"
    r"(?P<op><<<|<<-|<<|&>>|&>|<>|>>|>\||>&|<&|>|<)"
)
_JOINED_TO_CLOSING = re.compile(r"-[^\s;&|<>()]")
_TEXT = re.compile(r"[^\\$`]+")
_ESCAPED_IN_TEXT = frozenset("$`\\")
_UNKNOWN = Word("", "opaque")
# In a substitution bash prints a delimiter anew, and not always as it was.
_PLAIN_END = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_.!+-]*")
_NOTHING = (Raw("/dev/null"),)
_STANDARD_OUTPUT = 1
_CONNECTIONS = ("/dev/tcp/", "/dev/udp/")


@dataclass(slots=True)
class Redirected:
    """The redirections of one command, gathered while it is parsed."""

    redirections: list[Redirection] = field(default_factory=list)
    nodes: list[Redirecting] = field(default_factory=list)
    stdin: Word | None = None
    texts: list[PendingText] = field(default_factory=list)
    # How often its standard input was redirected.
    inputs: int = 0


def read_redirection(words: WordReader, redirected: Redirected, shell: ShellState) -> bool:
    """Parse a redirection, if there is one here."""
    cursor = words.cursor
    start = _START.match(cursor.text, cursor.position)
    if start is None:
        return False
    op, end = start["op"], start.end()
    if op in ("<", ">") and cursor.text.startswith("(", end):
        if start["fd"] or start["name"]:
            raise NotReadable("a descriptor before a process substitution")
        return False
    fd = _descriptor(start)
    if start["name"]:
        shell.set_number(start["name"])
    if cursor.text.startswith("\\\n", end):
        raise NotReadable("an operator that is split over two lines")
    cursor.position = end
    cursor.skip_blanks()
    cursor.findings.count_word()
    node = Redirecting(op, fd=fd, name=start["name"])
    redirected.nodes.append(node)
    if op in ("<<", "<<-"):
        node.op = "<<"
        _begin_text(cursor, redirected, node=node, strip_tabs=op == "<<-", standard_input=not fd)
        return True
    pieces = _target(words, op)
    node.target = words.parts
    if op == "<<<":
        _take_input(redirected, _text_of(pieces) if not fd and not start["name"] else _UNKNOWN)
        return True
    if not fd and "<" in op:
        redirected.inputs += 1
        if redirected.stdin is not None:
            redirected.stdin = _UNKNOWN
    redirection = _redirection(op, pieces, fd=fd, cursor=cursor)
    if redirection.target.known:
        # `>&file` redirects both outputs; whether an unknown target is a file depends on its value.
        node.op = redirection.op
    redirected.redirections.append(redirection)
    return True


def _target(words: WordReader, op: str) -> list[Piece]:
    cursor = words.cursor
    before = cursor.position
    if op in ("<&", ">&") and _JOINED_TO_CLOSING.match(cursor.text, before):
        # bash takes the `-` for the whole target, and the text joined to it for the next word.
        raise NotReadable("a word that is joined to a closed descriptor")
    pieces = words.pieces()
    if cursor.position == before:
        raise NotReadable("a redirection without a target")
    return pieces


def leaves_output(redirections: Sequence[Redirection]) -> bool:
    """Return whether a command's standard output is unchanged in spite of these redirections."""
    return all(one.fd == 2 and one.op in (">", ">>") for one in redirections)


def _descriptor(start: re.Match[str]) -> int | None:
    if start["op"].startswith("&") and (start["fd"] or start["name"]):
        raise NotReadable("a digit before `&>` that shells read differently")
    if not start["fd"]:
        return None
    if len(start["fd"]) > 3:
        raise NotReadable("a descriptor that is too large")
    return int(start["fd"])


def _text_of(pieces: list[Piece]) -> Word:
    """Return the text of a here-string, in which neither braces nor globs are expanded."""
    word = to_word(literal(pieces))
    if word.known:
        return replace(word, text=word.text + "\n", many=False)
    tail = word.tail + "\n" if word.shape == "opaque" else word.tail
    return replace(word, tail=tail, many=False)


def _take_input(redirected: Redirected, text: Word) -> None:
    """Make `text` the standard input, if there is no other."""
    redirected.inputs += 1
    redirected.stdin = text if redirected.inputs == 1 else _UNKNOWN


MAY_CONNECT = "a redirection that may open a network connection"


def _redirection(op: str, pieces: list[Piece], *, fd: int | None, cursor: Cursor) -> Redirection:
    if any(kind == "brace" for kind, _ in pieces):
        pieces = [("text", text) if kind == "brace" else (kind, text) for kind, text in pieces]
        if any("," in text or ".." in text for _, text in pieces):
            pieces = [("many", "")]
    target = to_word(pieces)
    if op in (">&", "<&"):
        op = _copy(op, target, fd=fd, quoted=any(kind == "quoted" for kind, _ in pieces))
        if op == "&>" and not target.known:
            # bash expands the resulting target once more, and runs substitutions in it.
            cursor.findings.gap("an unknown file after `>&`, which the shell expands again")
    if op not in (">&", "<&") and target.below_start is None and _may_connect(target):
        cursor.findings.gap(MAY_CONNECT)
    return Redirection(op, target, fd)


def _copy(op: str, target: Word, *, fd: int | None, quoted: bool) -> str:
    """Distinguish the copy of a descriptor from bash's `>&file`."""
    text = target.text
    digits = text.removesuffix("-")
    if target.known and (text == "-" or (digits.isascii() and digits.isdigit())):
        return op
    if not target.known:
        return op if op == "<&" or fd not in (None, _STANDARD_OUTPUT) else "&>"
    if op == "<&" or fd is not None or text[:1].isdigit() or text[:1] == "-":
        raise NotReadable("a copy of an invalid descriptor")
    if quoted:
        # bash removes quotes twice here, so that another file is written.
        raise NotReadable("a quoted file after `>&`")
    return "&>"


def _may_connect(target: Word) -> bool:
    text = target.text
    return text.startswith(_CONNECTIONS) or (
        not target.known and any(each.startswith(text) for each in _CONNECTIONS)
    )


def _begin_text(
    cursor: Cursor,
    redirected: Redirected,
    *,
    node: Redirecting,
    strip_tabs: bool,
    standard_input: bool,
) -> None:
    """Parse the delimiter of a here-document, whose text begins on the next line."""
    delimiter = re.compile(r"(?:[^\s'\"\\$`;&|<>()]+|'[^'\n]*'|\"[^\"\\$`\n]*\"|\\[^\n])+").match(
        cursor.text, cursor.position
    )
    if delimiter is None or cursor.text[delimiter.end() : delimiter.end() + 1] in (*"'\"\\$`(",):
        raise NotReadable("a here-document whose end could not be read")
    cursor.position = delimiter.end()
    spelled = delimiter[0]
    quoted = any(char in spelled for char in "'\"\\")
    pending = PendingText(
        end=re.sub(r"'([^']*)'|\"([^\"]*)\"|\\(.)", r"\1\2\3", spelled),
        quoted=quoted,
        strip_tabs=strip_tabs,
        node=node,
        standard_input=standard_input,
    )
    _take_input(redirected, _UNKNOWN)
    cursor.pending.append(pending)
    redirected.texts.append(pending)


def read_pending(cursor: Cursor, expansions: ExpansionReader, *, substituted: bool) -> None:
    """Read the here-documents whose text begins here, and attach it to their commands.

    `substituted`: they are inside a substitution.
    """
    pending, cursor.pending = cursor.pending, []
    for document in pending:
        if substituted and not _PLAIN_END.fullmatch(document.end):
            raise NotReadable("a here-document whose end shells spell differently")
        body = _lines(cursor, document, substituted=substituted)
        text, parts = _read_body(body, cursor, expansions if not document.quoted else None)
        document.node.op = "<<<" if body else "<"
        document.node.target = _here_string(parts) if body else _NOTHING
        commands = cursor.findings.commands
        for position in document.commands:
            if document.standard_input:
                commands[position] = replace(commands[position], stdin=text)


def _lines(cursor: Cursor, document: PendingText, *, substituted: bool) -> str:
    """Take the lines up to the delimiter.

    Inside a substitution bash also ends it before a line that only begins with the delimiter, if a
    `)` follows there, and continues with the rest of that line.
    """
    text = cursor.text
    lines: list[str] = []
    while cursor.position < len(text):
        line = _line(cursor)
        if not document.quoted:
            while _continues(line) and cursor.position < len(text):
                line = line[:-1] + _line(cursor)
        if document.strip_tabs:
            line = line.lstrip("\t")
        if line == document.end:
            return "".join(lines)
        if substituted and line.startswith(document.end) and ")" in line[len(document.end) :]:
            raise NotReadable("a here-document that shells end at different lines")
        lines.append(line + "\n")
    raise NotReadable("a here-document without its end")


def _line(cursor: Cursor) -> str:
    end = cursor.text.find("\n", cursor.position)
    end = len(cursor.text) if end < 0 else end
    line = cursor.text[cursor.position : end]
    cursor.position = min(end + 1, len(cursor.text))
    return line


def _continues(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _here_string(parts: list[Part]) -> Parts:
    """Return the word of a here-string for a text; a here-string always ends with a new line."""
    last = parts[-1]
    assert isinstance(last, Quoted)
    return (in_double_quotes([*parts[:-1], Quoted(last.text.removesuffix("\n"))]),)


def _read_body(
    body: str, outer: Cursor, expansions: ExpansionReader | None
) -> tuple[Word, list[Part]]:
    """Parse the text of a here-document, expanding it as in double quotes unless it is literal."""
    if expansions is None or not any(char in body for char in "\\$`"):
        return Word(body), [Quoted(body)]
    cursor = Cursor(body, outer.findings)
    inner = ExpansionReader(cursor, expansions.shell, read_inside=expansions.read_inside, text=True)
    reader = WordReader(cursor, inner)
    pieces: list[Piece] = [("quoted", "")]
    parts: list[Part] = []
    while cursor.position < len(body):
        cursor.findings.count_part()
        plain = _TEXT.match(body, cursor.position)
        if plain is not None:
            cursor.position = plain.end()
            pieces.append(("quoted", plain[0]))
            parts.append(Quoted(plain[0]))
        elif body[cursor.position] == "\\":
            escaped = reader.escaped(_ESCAPED_IN_TEXT)
            pieces.append(("quoted", escaped))
            parts.append(Quoted(escaped))
        else:
            piece, part = inner.read(quoted=True)
            pieces.append(piece)
            parts.append(literal_dollar(piece, part))
    return to_word(pieces), parts
