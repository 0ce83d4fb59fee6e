"""Parses one word into its pieces."""

from __future__ import annotations

import re

from policy.shell.ansi_quotes import read_ansi_quotes
from policy.shell.cursor import Cursor
from policy.shell.expansions import ExpansionReader
from policy.shell.not_readable import NotReadable
from policy.shell.tree import (
    Escaped,
    Part,
    Parts,
    ProcessSubstitution,
    Quoted,
    Raw,
    in_double_quotes,
    merged,
)
from policy.shell.word_pieces import Piece, joined

_PLAIN = re.compile(r"[^\s'\"\\$`*?\[{},~!=()<>;&|#@+]+")
_ENDS = frozenset(" \t\n;&|)")
_QUOTED = re.compile(r'[^"\\$`]+')
_HISTORY = re.compile(r"![A-Za-z0-9!?#$*^-]")
_JOINED = re.compile(r"[A-Za-z0-9_./:,@%+'\"-]")
_OPENING_BRACE = re.compile(r"(?<!(?<!\\)\$)\{")
_ESCAPED_IN_QUOTES = frozenset('$`"\\')


class WordReader:
    """Removes the quotes of a word, and keeps apart what a shell expands."""

    def __init__(self, cursor: Cursor, expansions: ExpansionReader) -> None:
        self.cursor = cursor
        self.expansions = expansions
        # The parts of the current word, or of the last one.
        self._parts: list[Part] = []
        self._pattern = False

    @property
    def parts(self) -> Parts:
        """The parts of the word that was parsed last."""
        return merged(self._parts)

    def pieces(self, *, pattern: bool = False) -> list[Piece]:
        """Parse the word here. In a `pattern` of `[[` parentheses and bars are part of the word."""
        cursor, text = self.cursor, self.cursor.text
        start, braces, parens = cursor.position, 0, 0
        pieces: list[Piece] = []
        parts = self._parts = []
        self._pattern = pattern
        self.expansions.nested = False
        while cursor.position < len(text):
            plain = _PLAIN.match(text, cursor.position)
            cursor.findings.count_part()
            if plain is not None:
                cursor.position = plain.end()
                pieces.append(("text", plain[0]))
                parts.append(Raw(plain[0]))
                continue
            char = text[cursor.position]
            runs = char in "<>" and text.startswith("(", cursor.position + 1)
            if pattern and not runs and (char in "(|" or (char in ")<>;&" and parens)):
                parens += {"(": 1, ")": -1}.get(char, 0)
                cursor.position += 1
                pieces.append(("glob", char))
                parts.append(Raw(char))
            elif char in _ENDS:
                break
            elif char in "<>(":
                if not self._joined(char, pieces):
                    break
            elif char in "'\"\\$`":
                self._quote_or_expansion(char, pieces)
            else:
                braces += self._special(char, pieces, start=start, braces=braces)
        if parens:
            # The apparent end of the word is part of it, and so may be the text after it.
            raise NotReadable("a pattern with a `(` that its word does not close")
        if self.expansions.nested and _may_have_alternatives(text[start : cursor.position]):
            raise NotReadable("braces in a word with nested quotes")
        return joined(pieces) if len(pieces) > 1 else pieces

    def _special(self, char: str, pieces: list[Piece], *, start: int, braces: int) -> int:
        """Process one special character; return how many braces it opens."""
        cursor = self.cursor
        position = cursor.position
        cursor.position += 1
        self._parts.append(Raw(char))
        if char in "*?":
            pieces.append(("glob", char))
        elif char == "[":
            pieces.append(("bracket", char))
        elif char in "{}" or (char == "," and braces > 0):
            pieces.append(("brace", char))
            return int(char == "{")
        elif char == "!" and _HISTORY.match(cursor.text, position):
            cursor.findings.gap("an unquoted `!`, which some shells replace by an earlier command")
            pieces.append(("text", char))
        elif char == "=" and position == start and cursor.peek().isalpha():
            cursor.findings.gap("a word that begins with `=`, which some shells replace")
            pieces.append(("text", char))
        elif char == "~" and position > start and cursor.text[position - 1] in "=:":
            pieces.append(("opaque", ""))
        else:
            pieces.append(("text", char))
        return 0

    def _joined(self, char: str, pieces: list[Piece]) -> bool:
        """Parse `<(…)`, `>(…)` or the rest of `@(…)` in a word; False where the word ends."""
        cursor = self.cursor
        if char == "(":
            if not pieces or pieces[-1][0] not in ("text", "glob"):
                return False
            if cursor.text[cursor.position - 1] not in "?*+@!":
                return False
            self._extended_glob(pieces)
            return True
        if not cursor.text.startswith("(", cursor.position + 1):
            return False
        commands = self.expansions.commands_in(2, f"{char}(…)")
        if not commands.chains:
            # For bash this is not a word.
            raise NotReadable("a process substitution without commands")
        self._parts.append(ProcessSubstitution(char, commands))
        pieces.append(("pipe", "/dev/fd/"))
        return True

    def _extended_glob(self, pieces: list[Piece]) -> None:
        """Parse `(a|b)` after one of `?*+@!`, of which only the end is known."""
        cursor = self.cursor
        pieces.pop()
        depth = 0
        while True:
            cursor.findings.count_part()
            char = cursor.peek()
            if char in "'\"\\$`":
                if not char:
                    raise NotReadable("a `(` in a word that is not closed")
                self._quote_or_expansion(char, [])
                continue
            if char in "\n;&<>":
                raise NotReadable("a `(` in a word that is not closed")
            depth += {"(": 1, ")": -1}.get(char, 0)
            self._parts.append(Raw(char))
            cursor.position += 1
            if depth == 0:
                break
        pieces.append(("many", ""))

    def _quote_or_expansion(self, char: str, pieces: list[Piece]) -> None:
        cursor, text = self.cursor, self.cursor.text
        if char == "'":
            end = text.find("'", cursor.position + 1)
            if end < 0:
                raise NotReadable("a quote that is not closed")
            pieces.append(("quoted", text[cursor.position + 1 : end]))
            self._parts.append(Quoted(text[cursor.position + 1 : end]))
            self._move(end + 1)
        elif char == '"':
            cursor.position += 1
            self.double_quoted(pieces)
        elif char == "\\":
            if cursor.position + 1 >= len(text):
                raise NotReadable("a backslash at the end")
            if text[cursor.position + 1] == "\n":
                self._continue_line()
            else:
                char = text[cursor.position + 1]
                pieces.append(("quoted", char))
                self._parts.append(Escaped(char) if self._pattern else Quoted(char))
                cursor.position += 2
        elif text.startswith("$'", cursor.position):
            value, end = read_ansi_quotes(text, cursor.position + 2)
            pieces.append(("quoted", value))
            self._parts.append(Quoted(value))
            self._move(end)
        elif text.startswith('$"', cursor.position):
            cursor.position += 2
            self.double_quoted(pieces)
        else:
            piece, part = self.expansions.read(quoted=False)
            pieces.append(piece)
            # At the end of a pattern a `$` is an operator.
            self._parts.append(part if self._pattern else literal_dollar(piece, part))

    def _continue_line(self) -> None:
        """Continue on the next line; only letters may be joined by that."""
        before = self.cursor.text[self.cursor.position - 1]
        after = self.cursor.peek(2)
        self.cursor.position += 2
        if after.strip() and not (_JOINED.fullmatch(before) and _JOINED.fullmatch(after)):
            raise NotReadable("a word that is split over two lines")

    def double_quoted(self, pieces: list[Piece]) -> None:
        """Parse up to the closing `\"`, which is taken too."""
        cursor, text = self.cursor, self.cursor.text
        start, first = cursor.position, len(pieces)
        parts: list[Part] = []
        pieces.append(("quoted", ""))
        while True:
            cursor.findings.count_part()
            plain = _QUOTED.match(text, cursor.position)
            if plain is not None:
                pieces.append(("quoted", plain[0]))
                parts.append(Quoted(plain[0]))
                cursor.position = plain.end()
            char = cursor.peek()
            if char == '"':
                break
            if not char:
                raise NotReadable("a quote that is not closed")
            if char == "\\":
                escaped = self.escaped(_ESCAPED_IN_QUOTES)
                pieces.append(("quoted", escaped))
                parts.append(Quoted(escaped))
            else:
                piece, part = self.expansions.read(quoted=True)
                pieces.append(piece)
                parts.append(literal_dollar(piece, part))
        if len(pieces) > first + 1:
            del pieces[first]
        self._parts.append(in_double_quotes(parts))
        end = cursor.position + 1
        cursor.position = start
        self._move(end)

    def escaped(self, special: frozenset[str]) -> str:
        """Parse an escaped character: the character itself if `special`."""
        follows = self.cursor.peek(1)
        self.cursor.position += 2
        if follows == "\n":
            return ""
        return follows if follows in special else f"\\{follows}"

    def _move(self, end: int) -> None:
        """Go to the end of a quote; no here-document may begin inside it."""
        cursor = self.cursor
        if cursor.pending and "\n" in cursor.text[cursor.position : end]:
            raise NotReadable("a here-document that begins inside of a quote")
        cursor.position = end


def _may_have_alternatives(spelled: str) -> bool:
    """Return whether bash may find brace alternatives in a word, even in quotes."""
    opening = _OPENING_BRACE.search(spelled)
    inside = "" if opening is None else spelled[opening.end() :]
    return "," in inside or ".." in inside


def literal_dollar(piece: Piece, part: Part) -> Part:
    """Return the part of an expansion; a `$` that begins nothing is a literal character."""
    return Quoted("$") if piece == ("quoted", "$") and part == Raw("$") else part
