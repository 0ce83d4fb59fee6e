"""Sed scripts: the files that they read and write, and whether they may run commands.

Implementations read a script differently: a label ends at white space for one and at the line's end
for another. Where the text after it may be commands, it counts as both.
"""

from __future__ import annotations

import re

from policy.programs.embedded.embedded_program import (
    AccessedResource,
    ProgramEffects,
    unknown_effects,
)

_ALONE = frozenset("=dDgGhHnNpPxzF")
_LABELLED = frozenset("btT:v")
_TEXT = frozenset("aic")
_NUMBERED = frozenset("lqQL")
# What ends a label, or the version of `v`: GNU sed and busybox go on behind it, others do not.
_LABEL_ENDS = (" \t\v\f\r\n;}", " \t\v\f\r\n;", "\n")
# A text without an open bracket, as POSIX finds the end of brackets, or others do: those that know
# no classes, or take a backslash in brackets for an escape.
_POSIX, *_OTHERS = (
    re.compile(rf"(?:[^\\\[]|\\.|\[\^?+\]?+(?:{item})*+\])*+", re.DOTALL)
    for item in (r"\[([:.=]).{0,40}?\1\]|[^\]]", r"[^\]]", r"\\.|[^\]\\]")
)
_MOST_IN_BRACKETS = 8
_OPENS = re.compile(r"[gpiImMe0-9 \t]*w")
_FILES = {"r": "reads", "R": "reads", "w": "writes", "W": "writes"}
_NOT_KNOWN = "a sed script that cannot be read"
_RUNS = "a sed script that runs commands"
_STREAMS = frozenset({"/dev/stdout", "/dev/stderr", "/dev/stdin"})


class _Unclear(Exception):
    """The script has a command that is not known."""


def read_sed(script: str) -> ProgramEffects:
    """Return the effects of a sed script; a script with an unknown command may do anything."""
    accesses: dict[AccessedResource, None] = {}
    gap = ""
    try:
        for label_ends in _LABEL_ENDS:
            reader = _SedReader(script, label_ends)
            reader.read()
            accesses.update(dict.fromkeys(reader.accesses))
            gap = gap or reader.gap
            if not reader.has_labels:
                break
    except _Unclear:
        return unknown_effects(_NOT_KNOWN)
    return ProgramEffects(accesses=tuple(accesses), gap=gap)


class _SedReader:
    """One pass over the script."""

    def __init__(self, script: str, label_ends: str) -> None:
        self.script = script
        self.label_ends = label_ends
        self.at = 0
        self.accesses: list[AccessedResource] = []
        self.gap = ""
        self.has_labels = False

    def read(self) -> None:
        """Parse all commands."""
        while self.at < len(self.script):
            if self.script[self.at] in " \t\n;":
                self.at += 1
                continue
            self._addresses()
            self._blanks()
            self._command()

    def _take(self) -> str:
        if self.at >= len(self.script):
            raise _Unclear
        self.at += 1
        return self.script[self.at - 1]

    def _peek(self) -> str:
        return self.script[self.at : self.at + 1]

    def _blanks(self) -> None:
        while self._peek() in (" ", "\t"):
            self.at += 1

    def _line(self) -> str:
        """Take the rest of the line, the name of a file."""
        self._blanks()
        return self._until("\n")

    def _until(self, ends: str) -> str:
        """Take the text before any of these characters."""
        start = self.at
        while self._peek() and self._peek() not in ends:
            self.at += 1
        return self.script[start : self.at]

    def _addresses(self) -> None:
        self._address()
        self._blanks()
        if self._peek() == ",":
            self.at += 1
            self._blanks()
            if self._peek() in ("+", "~"):
                self.at += 1
            self._address()
        self._blanks()
        while self._peek() == "!":
            self.at += 1
            self._blanks()

    def _address(self) -> None:
        char = self._peek()
        if char.isdigit():
            while self._peek().isdigit() or self._peek() == "~":
                self.at += 1
        elif char == "$":
            self.at += 1
        elif char in ("/", "\\") and char:
            self.at += 1
            delimiter = self._take() if char == "\\" else "/"
            self._regex(delimiter)
            while self._peek() in ("I", "M", " ", "\t"):
                self.at += 1

    def _regex(self, delimiter: str) -> None:
        """Take a regular expression up to its delimiter, which is a character in brackets.

        An implementation to which it is none there finds a bracket that is not closed, and ends;
        before that it may open the file of a flag `w`.
        """
        regex = self._delimited(delimiter)
        for _ in range(_MOST_IN_BRACKETS):
            if _POSIX.fullmatch(regex):
                break
            self._check_flags(delimiter)
            regex += delimiter + self._delimited(delimiter)
        else:
            raise _Unclear
        self._check_brackets(regex)

    def _check_flags(self, delimiter: str) -> None:
        """Check that no file is opened if a replacement begins here."""
        start = self.at
        self._delimited(delimiter)
        if _OPENS.match(self.script, self.at):
            raise _Unclear
        self.at = start

    def _check_brackets(self, text: str) -> None:
        """Check that all implementations find the end of the brackets before a delimiter."""
        if all(pattern.fullmatch(text) for pattern in _OTHERS):
            return
        end = self.script.find("\n", self.at)
        if self.script.find("]", self.at, end if end >= 0 else len(self.script)) >= 0:
            raise _Unclear

    def _delimited(self, delimiter: str) -> str:
        """Take a text up to its delimiter."""
        if delimiter in "\\\n[]" or not delimiter.isascii():
            raise _Unclear
        start = self.at
        while (char := self._take()) != delimiter:
            if char == "\\":
                self._take()
            elif char == "\n":
                raise _Unclear
        return self.script[start : self.at - 1]

    def _command(self) -> None:
        char = self._take()
        if char in _FILES:
            self._file(char)
        elif char in _TEXT:
            self._text()
        elif char in _LABELLED:
            self._label()
        elif char in "#e":
            self._line()
            self.gap = _RUNS if char == "e" else self.gap
        elif char == "s":
            self._substitute()
        elif char not in "{}":
            self._plain(char)

    def _plain(self, char: str) -> None:
        """Take the rest of a command that only works on the text."""
        if char in _NUMBERED:
            self._blanks()
            while self._peek().isdigit():
                self.at += 1
        elif char == "y":
            delimiter = self._take()
            self._check_brackets(self._delimited(delimiter))
            self._delimited(delimiter)
        elif char not in _ALONE:
            raise _Unclear
        self._end()

    def _end(self) -> None:
        """Check that a command ends: at the line's end, `;`, `}` or `#`."""
        self._blanks()
        if self._peek() not in ("", "\n", ";", "}", "#"):
            raise _Unclear

    def _label(self) -> None:
        self.has_labels = True
        self._blanks()
        self._until(self.label_ends)

    def _text(self) -> None:
        """Take the text of `a`, `i` or `c`: lines continue where they end in a backslash."""
        while self.at < len(self.script):
            char = self._take()
            if char == "\\" and self.at < len(self.script):
                self.at += 1
            elif char == "\n":
                return

    def _file(self, command: str) -> None:
        name = self._line()
        if not name.strip() or name[0].isspace():
            raise _Unclear
        if name not in _STREAMS:
            verb = _FILES[command]
            self.accesses.append(AccessedResource("reads" if verb == "reads" else "writes", name))

    def _substitute(self) -> None:
        delimiter = self._take()
        self._regex(delimiter)
        self._delimited(delimiter)
        while (flag := self._peek()) and flag in "gpiImMe0123456789 \t":
            self.at += 1
            if flag == "e":
                self.gap = _RUNS
        if self._peek() == "w":
            self.at += 1
            self._file("w")
        else:
            self._end()
