"""Shell scripts: text in, its simple commands out, or the reason why it cannot be read.

A conservative reader: literal words, quotes, lists, pipes, redirections and leading assignments.
Whatever expands, groups, loops or depends on the shell is Unreadable.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

from policy.values.glob import escape_glob
from policy.values.reading import Unreadable
from policy.values.script import (
    Redirection,
    Script,
    SimpleCommand,
    cd_operand,
    is_harmless_name,
)
from policy.values.text import is_encodable, is_ordinary, quote

_LONGEST = 1_000_000
# Each word is looked at by every rule that speaks of resources; no command of an agent has more.
_MOST_WORDS = 2_000
# What is read again in one decision is remembered, if it is not large.
_SHORT = 2_048
_RESERVED_TEXT = """
    if then elif else fi for while until do done case esac select function time coproc in
    { } [[ ]] ! repeat foreach end nocorrect noglob
"""
_RESERVED = frozenset(_RESERVED_TEXT.split())
# Characters that mean nothing to any shell, wherever they stand in a word.
_PLAIN = re.compile(r"[A-Za-z0-9_./,:@%+-]+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OPERATORS = ("&&", "||", ";", "|", "&", "\n")
_REDIRECTIONS = ("&>>", "&>", "<>", ">>", ">|", ">&", "<&", ">", "<")
_QUOTED_TILDE = "a quoted `~`, which a tool may replace and the shell does not"


def read_script(text: str) -> Script | Unreadable:
    """Read a shell script conservatively."""
    return _remembered(text) if len(text) <= _SHORT else _read_script(text)


@lru_cache(maxsize=1024)
def _remembered(text: str) -> Script | Unreadable:
    return _read_script(text)


def _read_script(text: str) -> Script | Unreadable:
    if len(text) > _LONGEST:
        return Unreadable(reason="a script that is too long")
    try:
        return Script(commands=_Reader(text, wildcards=False).read())
    except _NotPlain as problem:
        return Unreadable(reason=str(problem))


def read_single_command(text: str, *, wildcards: bool) -> SimpleCommand | Unreadable:
    """Read exactly one command; with wildcards its words are globs, quoted ones literal."""
    if len(text) > _LONGEST:
        return Unreadable(reason="a command that is too long")
    try:
        commands = _Reader(text, wildcards=wildcards).read()
    except _NotPlain as problem:
        return Unreadable(reason=str(problem))
    if len(commands) != 1:
        return Unreadable(reason=f"one command is needed here: {quote(text)}")
    return commands[0]


class _NotPlain(Exception):
    """Carries the reason out of the reader."""


@dataclass(slots=True)
class _Word:
    text: str
    # Where in `text` the first quoted or escaped character stands; its length if none is.
    quoted_from: int


@dataclass(slots=True)
class _Parts:
    """One command being read."""

    start: int
    end: int = 0
    words: list[_Word] = field(default_factory=list)
    redirections: list[Redirection] = field(default_factory=list)

    def is_empty(self) -> bool:
        return not self.words and not self.redirections


class _Reader:
    """One walk over the text, each character looked at a bounded number of times."""

    def __init__(self, text: str, *, wildcards: bool) -> None:
        self.text = text
        self.wildcards = wildcards
        self.place = 0
        self.words = 0
        self.commands: list[SimpleCommand] = []
        self.separators: list[str] = []
        for line in text.split("\n"):
            if not line.replace("\t", " ").isprintable():
                raise _NotPlain("a script with characters that cannot be seen")
        if not is_encodable(text) or not is_ordinary(text):
            raise _NotPlain("a script with invisible characters")

    def read(self) -> tuple[SimpleCommand, ...]:
        parts = _Parts(start=0)
        while True:
            self._skip_blanks()
            if self.place >= len(self.text):
                break
            operator = self._operator()
            if operator is not None:
                parts = self._end(parts, operator)
            elif self.text[self.place] == "#":
                end = self.text.find("\n", self.place)
                self.place = len(self.text) if end < 0 else end
            else:
                if parts.is_empty():
                    parts.start = self.place
                self.words += 1
                if self.words > _MOST_WORDS:
                    raise _NotPlain("a script with too many words")
                if not self._redirection(parts):
                    parts.words.append(self._word())
                parts.end = self.place
        if not parts.is_empty():
            self._end(parts, "\n")
        elif self.separators and self.separators[-1] in ("&&", "||", "|"):
            raise _NotPlain(f"nothing follows the last `{self.separators[-1]}`")
        return _with_folders(self.commands, self.separators)

    def _skip_blanks(self) -> None:
        while True:
            while self.text[self.place : self.place + 1] in (" ", "\t"):
                self.place += 1
            if not self.text.startswith("\\\n", self.place):
                return
            self.place += 2

    def _operator(self) -> str | None:
        if self.text[self.place] not in ";&|\n" or self.text.startswith("&>", self.place):
            return None
        for operator in _OPERATORS:
            if self.text.startswith(operator, self.place):
                self.place += len(operator)
                if operator in (";", "|") and self.text[self.place : self.place + 1] in (";", "&"):
                    raise _NotPlain("an operator that only some shells have")
                return operator
        return None

    def _end(self, parts: _Parts, operator: str) -> _Parts:
        """Close a command at an operator."""
        if parts.is_empty():
            if operator != "\n":
                raise _NotPlain(f"no command stands before `{operator}`")
            return _Parts(start=self.place)
        self.commands.append(_command(parts, self.text[parts.start : parts.end]))
        self.separators.append(operator)
        return _Parts(start=self.place)

    def _redirection(self, parts: _Parts) -> bool:
        """Read a redirection, if one stands here."""
        start = place = self.place
        if self.text[place] not in "&<>0123456789":
            return False
        while self.text[place : place + 1].isdigit() and self.text[place].isascii():
            place += 1
        op = next((op for op in _REDIRECTIONS if self.text.startswith(op, place)), None)
        if op is None:
            return False
        if place - start > 3:
            raise _NotPlain("a descriptor that is too large")
        fd = int(self.text[start:place]) if place > start else None
        after = place + len(op)
        if self.text[after : after + 1] in ("<", ">", "(", "&", "|"):
            raise _NotPlain("a here-document, process substitution or unknown redirection")
        if op.startswith("&") and fd is not None:
            raise _NotPlain("a digit before `&>` that shells read differently")
        self.place = after
        self._skip_blanks()
        if self.place >= len(self.text) or self.text[self.place] in "\n;&|<>#":
            raise _NotPlain("a redirection without a target")
        word = self._word()
        target = word.text
        if target.startswith(("/dev/tcp/", "/dev/udp/")):
            raise _NotPlain("a redirection that the shell makes a connection of")
        if op in (">&", "<&") and not (target == "-" or _is_descriptor(target)):
            if op == "<&" or fd is not None or target[:1].isdigit() or target[:1] == "-":
                raise _NotPlain("a copied descriptor that is none")
            if word.quoted_from < len(target):
                # bash takes quotes away twice here, so that another file is written.
                raise _NotPlain("a quoted file after `>&`")
            op = "&>"
        parts.redirections.append(Redirection(op=op, target=target, fd=fd))
        return True

    def _word(self) -> _Word:
        """Read one word and take its quotes away."""
        pieces: list[str] = []
        quoted_from: int | None = None
        length = 0
        text = self.text
        while self.place < len(text):
            char = text[self.place]
            if char in " \t\n;&|<>":
                break
            plain = _PLAIN.match(text, self.place)
            if plain is not None:
                piece = plain[0]
                self.place = plain.end()
            elif char in "'\"\\":
                if text.startswith("\\\n", self.place):
                    self.place += 2
                    continue
                piece = self._quoted(char)
                if quoted_from is None:
                    quoted_from = length
                if length == 0 and piece.startswith("~"):
                    raise _NotPlain(_QUOTED_TILDE)
                piece = escape_glob(piece) if self.wildcards else piece
            else:
                if length == 0 and char == "~" and quoted_from is not None:
                    raise _NotPlain(_QUOTED_TILDE)
                piece = self._unquoted(char, pieces[-1][-1:] if length else "")
            if piece:
                pieces.append(piece)
                length += len(piece)
        word = "".join(pieces)
        return _Word(word, length if quoted_from is None else quoted_from)

    def _unquoted(self, char: str, before: str) -> str:
        """Take one unquoted character."""
        if char in "$`(){}!" or (char in "*?" and not self.wildcards) or char in "[]":
            raise _NotPlain(f"an unquoted `{char}`, which a shell expands or groups by")
        if char == "~":
            follows = self.text[self.place + 1 : self.place + 2]
            if before in ("=", ":") or (before == "" and follows not in ("/", "", *" \t\n;&|<>")):
                raise _NotPlain("a `~` other than the home folder's")
        after = self.text[self.place + 1 : self.place + 2]
        if char == "=" and before == "" and after not in ("", "=", " ", "\t", "\n"):
            raise _NotPlain("a word that begins with `=`, which some shells replace")
        self.place += 1
        return char

    def _quoted(self, mark: str) -> str:
        """Take a quoted part or an escaped character."""
        text = self.text
        if mark == "\\":
            if self.place + 1 >= len(text):
                raise _NotPlain("a backslash at the end")
            self.place += 2
            return text[self.place - 1]
        if mark == "'":
            end = text.find("'", self.place + 1)
            if end < 0:
                raise _NotPlain("a quote that is not closed")
            piece = text[self.place + 1 : end]
            self.place = end + 1
            return piece
        return self._double_quoted()

    def _double_quoted(self) -> str:
        pieces: list[str] = []
        place = self.place + 1
        while place < len(self.text):
            char = self.text[place]
            if char == '"':
                self.place = place + 1
                return "".join(pieces)
            if char in "$`":
                raise _NotPlain(f"a `{char}` in double quotes, which a shell expands")
            if char == "\\" and self.text[place + 1 : place + 2] in ("$", "`", '"', "\\", "\n"):
                place += 1
                char = "" if self.text[place] == "\n" else self.text[place]
            pieces.append(char)
            place += 1
        raise _NotPlain("a quote that is not closed")


def _is_descriptor(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 3


def _command(parts: _Parts, text: str) -> SimpleCommand:
    assignments: list[tuple[str, str]] = []
    words = parts.words
    for word in words:
        name, equals, value = word.text.partition("=")
        if not equals or len(name) >= word.quoted_from or not _NAME.fullmatch(name):
            break
        assignments.append((name, value))
    rest = words[len(assignments) :]
    if rest and rest[0].text in _RESERVED:
        raise _NotPlain(f"a compound command: {quote(rest[0].text)}")
    if rest and not rest[0].text:
        raise _NotPlain("a command without a name")
    first = rest[0].text.partition("=")[0] if rest else ""
    if rest and "=" in rest[0].text and first.endswith("+"):
        raise _NotPlain("an assignment that appends")
    if assignments and not rest and not all(is_harmless_name(name) for name, _ in assignments):
        # `HOME=/etc; cat ~/passwd`: the shell itself, or a command it starts, may read it.
        raise _NotPlain("an assignment that later commands may read")
    if assignments and rest and rest[0].text in ("cd", "pushd", "popd"):
        raise _NotPlain("a variable set for a change of folder")
    return SimpleCommand(
        words=tuple(word.text for word in rest),
        assignments=tuple(assignments),
        redirections=tuple(parts.redirections),
        text=text,
    )


def _with_folders(
    commands: list[SimpleCommand], separators: list[str]
) -> tuple[SimpleCommand, ...]:
    """Say for each command in which folder it runs.

    A `cd` surely ran before the commands that `&&` joins to it; after anything else that
    follows, whether it worked is not known.
    """
    placed: list[SimpleCommand] = []
    folders: tuple[str, ...] | None = ()
    moved, sure = False, True
    for place, command in enumerate(commands):
        before = separators[place - 1] if place else "\n"
        if before != "&&":
            sure = before in (";", "\n", "&")
            folders = None if moved else folders
        placed.append(
            SimpleCommand(
                words=command.words,
                assignments=command.assignments,
                redirections=command.redirections,
                folders=folders,
                text=command.text,
            )
        )
        if command.words[:1] in (("cd",), ("pushd",), ("popd",)):
            moved = True
            target = cd_operand(command)
            plain = target is not None and not command.assignments and sure
            joined = separators[place] == "&&"
            folders = _moved(folders, target) if plain and joined and target else None
    return tuple(placed)


def _moved(folders: tuple[str, ...] | None, target: str) -> tuple[str, ...] | None:
    if target.startswith(("/", "~")):
        return (target,)
    return None if folders is None else (*folders, target)
