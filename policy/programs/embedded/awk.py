"""Awk programs: the files that they read and write, and whether they may run commands.

Only the ends of strings, regular expressions and comments are parsed: a possible pipe, call of
`system` or redirection counts as one.
"""

from __future__ import annotations

import re

from policy.programs.embedded.embedded_program import (
    AccessedResource,
    ProgramEffects,
    unknown_effects,
)

_TOKEN = re.compile(
    r"""
      (?P<blank>[ \t\r]+|\\\n)
    | (?P<comment>\#[^\n]*)
    | (?P<string>"(?:[^"\\\n]|\\.)*+")
    | (?P<number>(?:\d++\.?\d*+|\.\d++)(?:[eE][-+]?\d++)?)
    | (?P<name>[A-Za-z_]\w*)
    | (?P<sign>\|\||\|&|>>|>=|\+\+|--|\n|[^\s\w"#])
    """,
    re.VERBOSE | re.DOTALL,
)
_REGEX = re.compile(r"/(?:[^/\\\n\[]|\\.|\[\^?+\]?+(?:[^\]\\\n]|\\.)*+\])*+/")
# After these a `/` divides; after anything else it begins a regular expression.
_VALUE_SIGNS = frozenset({")", "]", "++", "--"})
# Words after which a value begins; after others that are not names, either may follow.
_BEFORE_VALUES = frozenset("print printf return in case do else exit delete".split())
_BEFORE_EITHER = frozenset({")", "getline", "length"})
_LONGEST = 2_000
_NOT_KNOWN = "an awk program that cannot be read"
_RUNS = "an awk program that may run commands"
_STREAMS = frozenset({"/dev/stdout", "/dev/stderr", "/dev/stdin", "-"})
_PRINTS = frozenset({"print", "printf"})


class _Unclear(Exception):
    """The program has a token that awk does not know."""


def read_awk(program: str) -> ProgramEffects:
    """Return the effects of an awk program."""
    try:
        tokens = _tokens(program)
    except _Unclear:
        return unknown_effects(_NOT_KNOWN)
    reader = _AwkReader(tokens)
    reader.read()
    return ProgramEffects(accesses=tuple(reader.accesses), gap=reader.gap)


def reads_socket(name: str) -> bool:
    """Return whether gawk takes the name of a file for a socket: `/inet/tcp/0/db.example/80`."""
    return name.startswith(("/inet/", "/inet4/", "/inet6/"))


def host_of(name: str) -> str | None:
    """Return the host of a socket: `/inet/tcp/0/db.example/80`."""
    parts = name.split("/")
    return f"{parts[4]}:{parts[5]}" if len(parts) == 6 else None


def _tokens(program: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    at = 0
    while at < len(program):
        if program[at] == "/" and not _ends_value(found):
            match = _REGEX.match(program, at)
            kind = "string"
        elif program[at] == "/" and _is_doubtful(program, at, before=found[-1][1]):
            raise _Unclear
        else:
            match = _TOKEN.match(program, at)
            kind = match.lastgroup or "" if match else ""
        if match is None:
            raise _Unclear
        at = match.end()
        if kind not in ("blank", "comment"):
            found.append((kind, match[0]))
    return found


def _ends_value(tokens: list[tuple[str, str]]) -> bool:
    if not tokens:
        return False
    kind, text = tokens[-1]
    if text in _BEFORE_VALUES:
        return False
    return kind in ("name", "number", "string") or text in _VALUE_SIGNS


def _is_doubtful(program: str, at: int, *, before: str) -> bool:
    """Return whether a `/` taken as division would hide a quote or `#` if it began a regex."""
    if before not in _BEFORE_EITHER:
        return False
    match = _REGEX.match(program, at, at + _LONGEST)
    if match is None:
        return program.find("\n", at, at + _LONGEST) < 0 and len(program) > at + _LONGEST
    return '"' in match[0] or "#" in match[0]


class _AwkReader:
    """One pass over the tokens."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.tokens = tokens
        self.accesses: list[AccessedResource] = []
        self.gap = ""
        self._prints = False
        self._gets = False
        self._depth = 0

    def read(self) -> None:
        """Examine each token and its neighbours."""
        for place, (kind, text) in enumerate(self.tokens):
            if kind == "name":
                self._name(text, place)
            elif kind == "sign":
                self._sign(text, place)

    def _name(self, name: str, place: int) -> None:
        if name in _PRINTS:
            self._prints, self._depth = True, 0
        elif name == "getline":
            self._gets, self._depth = True, 0
        elif name == "system":
            self.gap = _RUNS
        elif name in ("ARGV", "ARGC", "SYMTAB"):
            # `SYMTAB` contains all variables, `ARGV` among them.
            self.accesses.append(AccessedResource("reads", None))
        elif name == "ENVIRON" and not self._is_of_one(place):
            self.accesses.append(AccessedResource("reads", "/proc/self/environ"))

    def _is_of_one(self, place: int) -> bool:
        """Return whether a single array element is named by a string: `ENVIRON["HOME"]`."""
        after = self.tokens[place + 1 : place + 4]
        return [text for _, text in after[::2]] == ["[", "]"] and after[1][0] == "string"

    def _sign(self, sign: str, place: int) -> None:
        if sign in ("|", "|&", "@"):
            self.gap = _RUNS
        elif sign in ("(", "["):
            self._depth += 1
        elif sign in (")", "]"):
            self._depth -= 1
            # `(getline line < "a") > 0`: outside the parentheses `>` compares.
            self._gets = self._gets and self._depth >= 0
        elif sign == "\n" and self._goes_on(place):
            return
        elif sign in (";", "\n", "}", "{"):
            self._prints = self._gets = False
        elif sign == "<" and self._gets and self._depth <= 0:
            self._add_access("reads", place + 1)
        elif sign in (">", ">>") and self._prints and self._depth <= 0:
            self._add_access("writes", place + 1)

    def _goes_on(self, place: int) -> bool:
        """Return whether a statement continues after the line end before a position."""
        return self.tokens[place - 1][1] in (",", "&", "||", "do", "else") if place else False

    def _add_access(self, verb: str, place: int) -> None:
        """Record the file at a position; its name is known if it is a single string."""
        kind, text = self.tokens[place] if place < len(self.tokens) else ("", "")
        after = self.tokens[place + 1][1] if place + 1 < len(self.tokens) else ";"
        plain = kind == "string" and "\\" not in text and text.startswith('"')
        known = plain and after in (";", "\n", "}", ")")
        name = text[1:-1] if known else None
        if name is not None and reads_socket(name):
            self.accesses.append(AccessedResource("connects", host_of(name)))
            return
        if name not in _STREAMS:
            self.accesses.append(AccessedResource("reads" if verb == "reads" else "writes", name))
        if name is None:
            self.accesses.append(AccessedResource("connects", None))
