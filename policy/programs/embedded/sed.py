"""Sed scripts: the files that they read and write, and whether they may run commands."""

from __future__ import annotations

from policy.programs.embedded.embedded_program import (
    AccessedResource,
    ProgramEffects,
    unknown_effects,
)

_ALONE = frozenset("=dDgGhHnNpPxzF")
# These take a text, label or number up to the end of the line or a `;`.
_LABELLED = frozenset("btT:v")
_TEXT = frozenset("aic")
_NUMBERED = frozenset("lqQL")
_FILES = {"r": "reads", "R": "reads", "w": "writes", "W": "writes"}
_NOT_KNOWN = "a sed script that cannot be read"
_RUNS = "a sed script that runs commands"
_STREAMS = frozenset({"/dev/stdout", "/dev/stderr", "/dev/stdin"})


class _Unclear(Exception):
    """The script has a command that is not known."""


def read_sed(script: str) -> ProgramEffects:
    """Return the effects of a sed script; a script with an unknown command may do anything."""
    reader = _SedReader(script)
    try:
        reader.read()
    except _Unclear:
        return unknown_effects(_NOT_KNOWN)
    return ProgramEffects(accesses=tuple(reader.accesses), gap=reader.gap)


class _SedReader:
    """One pass over the script."""

    def __init__(self, script: str) -> None:
        self.script = script
        self.at = 0
        self.accesses: list[AccessedResource] = []
        self.gap = ""

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
        end = self.script.find("\n", self.at)
        end = len(self.script) if end < 0 else end
        rest = self.script[self.at : end]
        self.at = end
        return rest.strip(" \t")

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
            self._delimited(delimiter)
            while self._peek() in ("I", "M"):
                self.at += 1

    def _delimited(self, delimiter: str) -> str:
        """Take a text up to its delimiter."""
        if delimiter in "\\\n":
            raise _Unclear
        start = self.at
        bracket = False
        while (char := self._take()) != delimiter:
            if char == "\\":
                self._take()
            elif char == "[":
                bracket = True
            elif char == "]":
                bracket = False
        if bracket and "]" in self.script[self.at :].partition("\n")[0]:
            raise _Unclear  # implementations differ on a delimiter in brackets
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
            self._delimited(delimiter)
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
        while self._peek() not in ("", "\n", ";", "}"):
            self.at += 1

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
        if not name:
            raise _Unclear
        if name not in _STREAMS:
            verb = _FILES[command]
            self.accesses.append(AccessedResource("reads" if verb == "reads" else "writes", name))

    def _substitute(self) -> None:
        delimiter = self._take()
        self._delimited(delimiter)
        self._delimited(delimiter)
        while (flag := self._peek()) and flag in "gpiImMe0123456789":
            self.at += 1
            if flag == "e":
                self.gap = _RUNS
        if self._peek() == "w":
            self.at += 1
            self._file("w")
        else:
            self._end()
