"""Parses expansions, which begin with `$` or a backquote: parameters, substitutions, arithmetic.

Commands in them are parsed by `read_inside`. Text that bash evaluates as arithmetic is recorded,
since that runs the substitutions in the values of its variables.
"""

from __future__ import annotations

import re

from policy.shell.cursor import Cursor, ReadInside
from policy.shell.double_evaluation import note_arithmetic_spelling
from policy.shell.not_readable import NotReadable
from policy.shell.numeric_output import number_printing_program, process_printing_program
from policy.shell.shell_state import ShellState
from policy.shell.tree import (
    ArithmeticExpansion,
    CommandList,
    DoubleQuoted,
    Escaped,
    Parameter,
    Part,
    Parts,
    ProcessSubstitution,
    Quoted,
    Raw,
    Substitution,
    merged,
    pipeline_programs,
)
from policy.shell.word import Word
from policy.shell.word_pieces import Piece

# How the insides of a substitution are named, and those that are still in backquotes.
SUBSTITUTION = "$(…)"
BACKQUOTES = "`…`"

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLAIN_PARAMETER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])\}")
_PARAMETER = re.compile(r"[!#]?(?:[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])|[!#](?=[:}])")
_IDENTIFIER = re.compile(r"(?<![A-Za-z0-9_#])[A-Za-z_][A-Za-z0-9_]*")
_SIGNS = re.compile(r"[^()\[\]\"'\\$`;{}]+")
_QUOTED_NUMBER = re.compile(r'"(?:[A-Za-z0-9_.-]*|\$[A-Za-z0-9_]+|\$\{[A-Za-z0-9_]+\})"')
_UNQUOTED_VALUE = re.compile(r"[A-Za-z0-9_./:@%+,{}-]+")
_SETTING = re.compile(r"[^=!<>]=(?!=)|<<=|>>=|\+\+|--")
# Of an everyday search.
_CONTINUED = "\\\n"  # a line that goes on in the next one
_LONGEST_LISTING = 400
# The process of the last job, that of the shell, the last status and the number of arguments.
_NUMBERS = frozenset("!$?#")
# Those that are never empty, and so one word.
_ONE_NUMBER = frozenset("$?#")
_ARGUMENT = re.compile(r"[0-9]+|[@*]")
_BACKTICKED = re.compile(r"(?:[^`\\]|\\.)*`", re.DOTALL)
_ESCAPED = re.compile(r"\\([$`\\])")
_ESCAPED_QUOTED = re.compile(r'\\([$`\\"])')
_HARMLESS_QUOTED = re.compile(r"'[^'}$`\"\\]*'")
_OPERATOR = re.compile(r":?[-=?+]|##?|%%?|/[/#%]?|\^\^?|,,?|~~?")
_PARTED = re.compile(r"\((?:\\\n)+\(")
# Operators that no further character turns into another one.
_WHOLE_OPERATORS = frozenset((":-", ":=", ":?", ":+", "-", "=", "?", "+", "##", "%%", "^^", ",,"))


class ExpansionReader:
    """Parses parameters, substitutions and arithmetic at a cursor.

    In a `text` that is not a word (a here-document's) quotes have another meaning.
    """

    def __init__(
        self, cursor: Cursor, shell: ShellState, *, read_inside: ReadInside, text: bool = False
    ) -> None:
        self.cursor = cursor
        self.shell = shell
        self.read_inside = read_inside
        self.text = text
        # Whether nested quotes or braces confuse bash's search for brace alternatives, which comes
        # before it parses the word.
        self.nested = False

    def read(self, *, quoted: bool) -> tuple[Piece, Part]:
        """Parse the expansion here; a `$` that begins none stands for itself."""
        cursor, text = self.cursor, self.cursor.text
        if cursor.peek() == "`":
            commands = self._backticks(quoted=quoted)
            return _unknown(quoted=quoted), Substitution(commands)
        cursor.position += 1
        name = _NAME.match(text, cursor.position)
        after = cursor.position if name is None else name.end()
        if text.startswith("\\\n", after):
            raise NotReadable("a `$` that is split over two lines")
        char = text[after : after + 1]
        if char and not quoted and char in (",}" if name is None else ",{}"):
            # Brace expansion comes first: `$x{a,b}` is `$xa $xb`.
            cursor.position = after
            bare = Raw("$") if name is None else Parameter((Raw(name[0]),), bare=True)
            return ("many", ""), bare
        if name is not None:
            cursor.position = after
            return self._variable(name[0], quoted=quoted)
        if text.startswith("((", cursor.position):
            cursor.position += 2
            return ("opaque", ""), ArithmeticExpansion(self.arithmetic("))"))
        if char == "(":
            return self._substitution(quoted=quoted)
        if char == "{":
            plain = _PLAIN_PARAMETER.match(text, cursor.position)
            if plain is None:
                return self._braced(quoted=quoted)
            cursor.position = plain.end()
            return self._variable(plain[1], quoted=quoted)
        if char == "[":
            raise NotReadable("arithmetic in the old form `$[…]`")
        if char and char in "0123456789@*#?$!-":
            cursor.position += 1
            return self._variable(char, quoted=quoted)
        return ("quoted", "$"), Raw("$")

    def _substitution(self, *, quoted: bool) -> tuple[Piece, Part]:
        """Parse `$(…)`, and record whether it prints a number."""
        cursor = self.cursor
        start = cursor.position
        not_arithmetic(cursor)
        commands = self.commands_in(1, SUBSTITUTION)
        spelled = cursor.text[start + 1 : cursor.position - 1]
        counted = number_printing_program(spelled)
        if counted:
            cursor.numbers[start - 1] = cursor.position
        program = counted or process_printing_program(spelled)
        if not program:
            return self._text_of(spelled, commands, quoted=quoted), Substitution(commands)
        cursor.findings.counting.add(program)
        return _number(quoted=quoted), Substitution(commands)

    def _text_of(self, spelled: str, commands: CommandList, *, quoted: bool) -> Piece:
        """Return what a substitution stands for: the folder here, or lines that it prints."""
        findings = self.cursor.findings
        programs = pipeline_programs(commands)
        if not programs or not self.shell.is_at_start or self.text:
            return _unknown(quoted=quoted)
        if spelled.split() == ["pwd"]:
            findings.printing.add("pwd")
            return _start(quoted=quoted)
        if quoted or len(spelled) > _LONGEST_LISTING:
            return _unknown(quoted=quoted)
        if _CONTINUED in spelled:
            if "'" in spelled or "#" in spelled:  # there a backslash may mean itself
                return _unknown(quoted=quoted)
            spelled = spelled.replace(_CONTINUED, "")
        findings.printing |= programs
        return ("printed", spelled)

    def commands_in(self, opening: int, inside: str) -> CommandList:
        """Parse the commands of a substitution after an opening of this length, and its `)`."""
        cursor = self.cursor
        outer, cursor.pending = cursor.pending, []
        start = cursor.position
        cursor.position += opening
        commands = self.read_inside(cursor, inside)
        if cursor.pending:
            raise NotReadable("a here-document that does not end in its substitution")
        if outer and "\n" in cursor.text[start : cursor.position]:
            raise NotReadable("a here-document that begins inside of a substitution")
        cursor.pending = outer
        return commands

    def arithmetic(self, end: str) -> Parts:
        """Parse arithmetic up to `end`, recording the variables that it reads and sets."""
        cursor, text = self.cursor, self.cursor.text
        cursor.findings.enter()
        self.shell.may_drop()
        start, depth = cursor.position, 0
        parts: list[Part] = []
        while depth or not cursor.looking_at(end):
            cursor.findings.count_part()
            signs = _SIGNS.match(text, cursor.position) or _QUOTED_NUMBER.match(
                text, cursor.position
            )
            char = cursor.peek()
            if signs is not None:
                cursor.position = signs.end()
                parts.append(Raw(signs[0]))
            elif char == "$" or char == "`":
                parts.append(self.read(quoted=True)[1])
            elif char == "(" or char == "[":
                depth += 1
                cursor.position += 1
                parts.append(Raw(char))
            elif (char == ")" or char == "]") and depth:
                depth -= 1
                cursor.position += 1
                parts.append(Raw(char))
            else:
                raise NotReadable("arithmetic that could not be read")
        self._compute(cursor.spelled(start, cursor.position))
        cursor.position += len(end)
        cursor.findings.leave()
        return merged(parts)

    def _compute(self, spelled: str) -> None:
        """Record the variables of arithmetic, whose values are evaluated too or assigned."""
        if "\n" in spelled and self.cursor.pending:
            raise NotReadable("a here-document that begins inside of arithmetic")
        note_arithmetic_spelling(spelled, self.cursor.findings)
        if _SETTING.search(spelled):
            for name in _IDENTIFIER.findall(spelled):
                self.shell.set_number(name)

    def _variable(self, name: str, *, quoted: bool) -> tuple[Piece, Part]:
        return self._value(name, quoted=quoted), Parameter((Raw(name),))

    def _value(self, name: str, *, quoted: bool) -> Piece:
        if name == "HOME":
            return ("home", "")
        if name == "PWD" and self.shell.is_at_start:
            return _start(quoted=quoted)
        value = self.shell.values.get(name) if self.shell.values else None
        if name in _ONE_NUMBER and not self.cursor.findings.splitting:
            return _number(quoted=True)
        if name in _NUMBERS or (isinstance(value, Word) and value.number):
            return _number(quoted=quoted)
        if isinstance(value, Word) and value.home and value.known:
            self.cursor.findings.count_replaced(value.text)
            return ("home", value.text[1:])
        if isinstance(value, Word) and value.below_start is not None:
            return ("start" if quoted else "starts"), value.below_start.removeprefix(".")
        if isinstance(value, Word) and value.printed:
            if not value.many:
                return ("line", value.printed)
            return _unknown(quoted=True) if quoted else ("printed", value.printed)
        if isinstance(value, Word):
            # Unquoted, a file name is split at its blanks.
            return ("file", value.text) if quoted or not value.many else ("many", "")
        if value is not None and (quoted or _UNQUOTED_VALUE.fullmatch(value)):
            self.cursor.findings.count_replaced(value)
            return ("quoted", value)
        # In a text the words of `$@` are joined.
        return ("many", "") if name == "@" and not self.text else _unknown(quoted=quoted)

    def _braced(self, *, quoted: bool) -> tuple[Piece, Part]:
        """Parse `${…}`."""
        cursor, text = self.cursor, self.cursor.text
        cursor.findings.enter()
        start = cursor.position
        cursor.position += 1
        parameter = self._parameter()
        parts: list[Part] = [Raw(parameter)]
        name = parameter.lstrip("!#")
        subscripted = cursor.peek() == "["
        if subscripted:
            parts += self._subscript()
            self._on_one_line()
        if cursor.peek() == "@" and cursor.peek(1) != "}":
            parts.append(self._transformed())
        elif cursor.peek() == ":" and cursor.peek(1) not in tuple("-=?+"):
            cursor.position += 1
            parts += (Raw(":"), *self.arithmetic("}"))
            cursor.position -= 1
        else:
            operator = _OPERATOR.match(text, cursor.position)
            if operator is not None:
                if "=" in operator[0] and name:
                    self._assigned(name, element=subscripted)
                cursor.position = operator.end()
                parts.append(Raw(operator[0]))
                if operator[0] not in _WHOLE_OPERATORS:
                    self._on_one_line()
            elif cursor.peek() == "@":
                cursor.position += 1
                parts.append(Raw("@"))
            parts += self._alternative(quoted=quoted)
        if cursor.peek() != "}":
            raise NotReadable("a `${` that could not be read")
        cursor.position += 1
        cursor.findings.leave()
        spelled = text[start : cursor.position]
        if "\n" in spelled and cursor.pending:
            raise NotReadable("a here-document that begins inside of a `${`")
        many = "@" in spelled
        piece: Piece = ("many", "") if many else _unknown(quoted=quoted)
        return piece, Parameter(merged(parts))

    def _parameter(self) -> str:
        """Parse the part before all operators: a name, with the `!` or `#` before it."""
        cursor = self.cursor
        parameter = _PARAMETER.match(cursor.text, cursor.position)
        if parameter is None:
            raise NotReadable("a `${` that could not be read")
        cursor.position = parameter.end()
        self._on_one_line()
        if parameter[0].startswith("!"):
            # `${!x}` evaluates a subscript in the value of `x`.
            self.shell.may_drop()
            name = parameter[0].lstrip("!#")
            if _ARGUMENT.fullmatch(name):
                cursor.findings.gap("a variable that an argument names, with its subscript")
            cursor.findings.computed.add(name)
        return parameter[0]

    def _on_one_line(self) -> None:
        """Refuse a line continuation in the part that determines what the `${…}` does."""
        if self.cursor.looking_at("\\\n"):
            raise NotReadable("a `${` that is split over two lines")

    def _assigned(self, name: str, *, element: bool) -> None:
        """Apply `${x:=…}`."""
        self.shell.set_unknown(name)
        if element:
            self.cursor.findings.computed.add(f"{name}()")

    def _subscript(self) -> Parts:
        cursor = self.cursor
        cursor.position += 1
        sign = cursor.peek()
        if sign in ("@", "*") and cursor.peek(1) == "]":
            cursor.position += 2
            return (Raw(f"[{sign}]"),)
        return (Raw("["), *self.arithmetic("]"), Raw("]"))

    def _transformed(self) -> Part:
        cursor = self.cursor
        if cursor.peek(1) == "P":
            cursor.findings.gap("`@P`, which runs the substitutions in the text of a variable")
        elif cursor.peek(1) not in tuple("UuLQEAKak"):
            raise NotReadable("a `${` that could not be read")
        cursor.position += 2
        return Raw(cursor.text[cursor.position - 2 : cursor.position])

    def _alternative(self, *, quoted: bool) -> list[Part]:
        """Parse the word after the operator of `${x:-…}` up to the `}`."""
        cursor, text = self.cursor, self.cursor.text
        parts: list[Part] = []
        while cursor.peek() != "}":
            cursor.findings.count_part()
            char = cursor.peek()
            if not char:
                raise NotReadable("a `${` that is not closed")
            if char == "$" and cursor.peek(1) in ("'", '"'):
                raise NotReadable("quotes in a `${` that shells read differently")
            if char == "$" or char == "`":
                parts.append(self.read(quoted=quoted)[1])
            elif char == "\\":
                parts.append(_escaped(cursor))
            elif char in "'\"":
                parts.append(self._quotes(char, quoted=quoted))
            elif char in "<>" and text.startswith("(", cursor.position + 1):
                # In quotes too: `"${x#<(a)}"` runs `a`, though `"${x:-<(a)}"` does not.
                if self.text:
                    raise NotReadable("a process substitution in a here-document")
                start = cursor.position
                parts.append(ProcessSubstitution(char, self.commands_in(2, f"{char}(…)")))
                self._nest(quoted and '"' in text[start : cursor.position])
            else:
                self._nest(not quoted and char == "{")
                cursor.position += 1
                parts.append(Raw(char))
                if char in "<>":
                    self._on_one_line()
        return parts

    def _nest(self, nests: bool) -> None:  # noqa: FBT001 — what is asked
        self.nested = self.nested or nests

    def _quotes(self, mark: str, *, quoted: bool) -> Part:
        """Parse quotes after the operator; their meaning in bash depends on the quotes around."""
        cursor, text = self.cursor, self.cursor.text
        plain = _HARMLESS_QUOTED.match(text, cursor.position)
        if mark == "'" and plain is not None:
            cursor.position = plain.end()
            return Quoted(plain[0][1:-1])
        if mark == "'" and not quoted:
            start, end = cursor.position + 1, text.find("'", cursor.position + 1)
            cursor.position = end + 1
            if end >= 0:
                return Quoted(text[start:end])
        if mark == "'" or self.text:
            raise NotReadable("quotes in a `${` that shells read differently")
        self._nest(quoted)
        cursor.position += 1
        parts: list[Part] = []
        while cursor.peek() != '"':
            cursor.findings.count_part()
            char = cursor.peek()
            if not char:
                raise NotReadable("a quote that is not closed")
            if char == "$" or char == "`":
                parts.append(self.read(quoted=True)[1])
            elif char == "\\":
                parts.append(_escaped(cursor))
            else:
                cursor.position += 1
                parts.append(Raw(char))
        cursor.position += 1
        return DoubleQuoted(merged(parts))

    def _backticks(self, *, quoted: bool) -> CommandList:
        cursor = self.cursor
        found = _BACKTICKED.match(cursor.text, cursor.position + 1)
        if found is None:
            raise NotReadable("a back-tick that is not closed")
        content = found[0][:-1]
        # In backquotes a backslash continues the line, in any quotes.
        differ = (self.text and '\\"' in content) or "\\\n" in content
        if differ or (cursor.pending and "\n" in content):
            raise NotReadable("back-ticks that shells read differently")
        self._nest(quoted and '"' in content)
        escaped = _ESCAPED_QUOTED if quoted else _ESCAPED
        inner = Cursor(escaped.sub(r"\1", content), cursor.findings)
        commands = self.read_inside(inner, BACKQUOTES)
        if inner.pending:
            raise NotReadable("a here-document that does not end in its substitution")
        cursor.position = found.end()
        return commands


def not_arithmetic(cursor: Cursor) -> None:
    """Refuse a `(` here that begins arithmetic whose second `(` is on a continued line."""
    if _PARTED.match(cursor.text, cursor.position):
        raise NotReadable("a `((` that is split over two lines")


def _escaped(cursor: Cursor) -> Part:
    """Take an escaped character; a line continuation leaves nothing."""
    char = cursor.peek(1)
    cursor.position += 2
    return Raw("") if char == "\n" else Escaped(char)


def _number(*, quoted: bool) -> Piece:
    return ("number", "") if quoted else ("numbers", "")


def _start(*, quoted: bool) -> Piece:
    return ("start", "") if quoted else ("starts", "")


def _unknown(*, quoted: bool) -> Piece:
    return ("opaque", "") if quoted else ("many", "")
