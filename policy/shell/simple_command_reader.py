"""Parses one simple command, and applies its effects to the state of the shell."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from policy.shell.builtins import SpelledCommand, apply_builtin, declares, is_builtin
from policy.shell.cursor import Cursor
from policy.shell.double_evaluation import note_joined
from policy.shell.expansions import ExpansionReader
from policy.shell.not_readable import NotReadable
from policy.shell.redirections import Redirected, read_redirection
from policy.shell.reserved_words import BEGINNING, reserved_word
from policy.shell.script import SimpleCommand
from policy.shell.shell_state import ShellState
from policy.shell.traps import sets_trap
from policy.shell.tree import Assigning, FunctionDefinition, Parts, Quoted, Raw, Simple, Values
from policy.shell.word import Assignment, Word
from policy.shell.word_pieces import Kind, Piece, joined, to_word, to_words
from policy.shell.word_reader import WordReader

# Words that every shell parses alike, with the blanks before them.
_PLAIN_WORD = re.compile(
    r"""[ \t]*(?:([A-Za-z0-9_./:,@%+^-][A-Za-z0-9_./:,@%+^=-]*)|'([^'\n]*)'|"([^"\\$`\n]*)")"""
    r"(?=[ \t\n;&|)]|\Z)"
)
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:(\+?)=|\[)")
_ASSIGNS = re.compile(r"(\+?)=")
_FUNCTION = re.compile(r"[ \t]*\([ \t]*\)")
_NUMERIC = re.compile(r"\$\(\(.*\)\)|\$[#?$!]|\$\{#[A-Za-z0-9_]+(?:\[[@*]\])?\}", re.DOTALL)
_COUNTED = re.compile(r'[0-9]+|"[0-9]+"')
_SUBSCRIPT = re.compile(
    r"""\[(?:[^\s\[\]'"\\$`(){}<>;&|]|\$[A-Za-z_]\w*+|\$\{[A-Za-z_]\w*+\}|\[:[a-z]+:\]"""
    r"""|'[^'"\\$`\[\]]*'|"(?:[^'"\\$`\[\]]|\$[A-Za-z_]\w*+|\$\{[A-Za-z_]\w*+\})*")*+\]"""
)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# An assigned value is not split into words.
_ASSIGNED: dict[Kind, Kind] = {"many": "opaque", "numbers": "number", "starts": "start"}
_UNKNOWN = Word("", "opaque")
_ELEMENT = re.compile(r"\{[A-Za-z_][A-Za-z0-9_]*\[")
_ENDS = frozenset("\n;&|)")
_ARRAY_END = re.compile(r"[ \t\n;&|)]|[<>](?!\()|\Z")
_BEGINS_REDIRECTION = frozenset("<>&0123456789{")

ReadFunction = Callable[[str], FunctionDefinition]
ReadAlias = Callable[[str, str], None]


class SimpleReader:
    """Parses simple commands at a cursor, and applies their effects to the shell."""

    def __init__(
        self, words: WordReader, expansions: ExpansionReader, inside: tuple[str, ...]
    ) -> None:
        self.words = words
        self.cursor: Cursor = words.cursor
        self.expansions = expansions
        self.shell: ShellState = expansions.shell
        self.inside = inside

    def read(self, *, function: ReadFunction, alias: ReadAlias) -> Simple | FunctionDefinition:
        """Parse the simple command here. A function definition is passed to `function`."""
        cursor, findings = self.cursor, self.cursor.findings
        start = end = cursor.position
        fed_by, self.shell.fed_by = self.shell.fed_by, ()
        fed_before, self.shell.fed_before = self.shell.fed_before, ()
        position = len(findings.commands)
        findings.commands.append(_READING)
        words: list[Word] = []
        assignments: list[tuple[Assignment, bool]] = []
        redirected = Redirected()
        lists: list[int] = []
        node = _Spelled()
        after_name = start
        while True:
            plain = None
            if redirected.nodes and not words:
                self._refuse_reserved()
            if words or not cursor.pending:
                plain = _PLAIN_WORD.match(cursor.text, cursor.position)
            if plain is not None and (words or not _ASSIGNMENT.match(plain[1] or "")):
                findings.count_word()
                cursor.position = plain.end()
                number = plain.lastindex
                assert number is not None
                words.append(Word(plain[number]))
                node.words.append((Raw(plain[1]) if number == 1 else Quoted(plain[number]),))
            elif not self._other(words, assignments, redirected=redirected, lists=lists, node=node):
                break
            end = cursor.position
            if len(words) == 1 and after_name == start:
                after_name = end
                named = _FUNCTION.match(cursor.text, end)
                if named is not None and not assignments and not redirected.redirections:
                    del findings.commands[position:]
                    cursor.position = named.end()
                    return function(cursor.text[start:end])
        self._finish(
            position,
            words,
            assignments=assignments,
            redirected=redirected,
            text=cursor.text[start:end],
            fed_by=fed_by,
            fed_before=fed_before,
        )
        if words:
            bare = not (assignments or redirected.redirections or redirected.inputs)
            spelled = SpelledCommand(cursor.spelled(start, end), tuple(lists), bare)
            self._effects(tuple(words), redirected=redirected, spelled=spelled)
            name = words[0].text
            if self.shell.aliases and name in self.shell.aliases:
                findings.aliased = True
                alias(name, cursor.text[after_name:end])
        return Simple(tuple(node.assignments), tuple(node.words), tuple(redirected.nodes))

    def _refuse_reserved(self) -> None:
        """Refuse a reserved word as the name of a command behind a redirection.

        In a substitution bash puts the redirection behind it and reads it again, as reserved.
        """
        self.cursor.skip_blanks()
        if reserved_word(self.cursor) in BEGINNING:
            raise NotReadable("a reserved word behind a redirection")

    def _other(
        self,
        words: list[Word],
        assignments: list[tuple[Assignment, bool]],
        *,
        redirected: Redirected,
        lists: list[int],
        node: _Spelled,
    ) -> bool:
        """Parse a word, assignment or redirection of any spelling; False at the command's end."""
        cursor, text = self.cursor, self.cursor.text
        cursor.skip_blanks()
        char = cursor.peek()
        if (not char or char in _ENDS) and not cursor.looking_at("&>"):
            return False
        if char == "#":
            end = text.find("\n", cursor.position)
            cursor.position = len(text) if end < 0 else end
            return False
        if char in _BEGINS_REDIRECTION and read_redirection(self.words, redirected, self.shell):
            return True
        cursor.findings.count_word()
        start = cursor.position
        if not words:
            assigned = _ASSIGNMENT.match(text, start)
            if assigned is not None:
                assignments.append(self._assignment(assigned, node.assignments))
                return True
        elif declares(words[0]):
            assigned = _ASSIGNMENT.match(text, start)
            if assigned is not None and "=" in assigned[0]:
                assignment, _ = self._assignment(assigned, node.words)
                if text.startswith("(", assigned.end()):
                    lists.append(len(words))
                words.append(_declared(assignment))
                return True
        pieces = self.words.pieces()
        if cursor.position == start:
            raise NotReadable("a `(` that could not be read")
        if not words and "\\\n" in text[start : cursor.position]:
            raise NotReadable("a command whose name is split over two lines")
        if char == "{" and cursor.peek() in ("<", ">") and _ELEMENT.match(text, start):
            raise NotReadable("a descriptor in an element of an array")
        words += to_words(pieces)
        node.words.append(self.words.parts)
        return True

    def _assignment(
        self, assigned: re.Match[str], nodes: list[Assigning] | list[Parts | Assigning]
    ) -> tuple[Assignment, bool]:
        """Parse an assignment; the second result: whether the value is surely a number."""
        cursor, text = self.cursor, self.cursor.text
        start = cursor.position = assigned.end()
        name, appends = assigned[1], assigned[2] == "+"
        subscript: Parts | None = None
        if assigned[2] is None:
            subscript = self.expansions.arithmetic("]")
            operator = _ASSIGNS.match(text, cursor.position)
            if operator is None:
                raise NotReadable("a subscript that could not be read")
            start = cursor.position = operator.end()
            appends = operator[0].startswith("+")
        if cursor.peek() == "(":
            cursor.position += 1
            self.cursor.findings.computed.add(f"{name}()")
            nodes.append(Assigning(name, self._array(), appends, subscript))
            return Assignment(name, _UNKNOWN, appends or subscript is not None), False
        if assigned[2] is None:
            cursor.findings.computed.add(f"{name}()")
        pieces = self.words.pieces()
        nodes.append(Assigning(name, self.words.parts, appends, subscript))
        value = self._value(pieces)
        number = len(pieces) == 1 and _NUMERIC.fullmatch(text, start, cursor.position) is not None
        number = number or _COUNTED.fullmatch(cursor.spelled(start, cursor.position)) is not None
        # Setting one element of an array leaves the others unchanged.
        element = subscript is not None
        return Assignment(name, _UNKNOWN if element else value, appends or element), number

    def _value(self, pieces: list[Piece]) -> Word:
        """Return the assigned value: one word, in which globs and braces are not expanded."""
        literal: list[Piece] = []
        for kind, text in pieces:
            if kind in ("glob", "bracket", "brace"):
                kind = "text"
            literal.append((_ASSIGNED.get(kind, kind), text))
        literal = joined(literal)
        if literal and literal[0][0] == "text" and literal[0][1].startswith("~:"):
            # A `~` after a colon is the home folder too.
            literal[0] = ("opaque", "")
        return to_word(literal)

    def _array(self) -> Values:
        """Parse the values of an array up to its `)`."""
        cursor, text = self.cursor, self.cursor.text
        values: list[Parts] = []
        while True:
            cursor.skip_blanks()
            char = cursor.peek()
            if char == ")":
                cursor.position += 1
                if _ARRAY_END.match(cursor.text, cursor.position) is None:
                    # bash takes it for a part of what is assigned.
                    raise NotReadable("a word that is joined to the values of an array")
                return Values(tuple(values))
            if char == "\n" and not cursor.pending:
                cursor.position += 1
            elif char == "#":
                end = text.find("\n", cursor.position)
                cursor.position = len(text) if end < 0 else end
            else:
                start = cursor.position
                pieces = self.words.pieces()
                if cursor.position == start:
                    raise NotReadable("an array that could not be read")
                values.append(self.words.parts)
                cursor.findings.count_word()
                if pieces[0][0] == "bracket":
                    self._element(text[start : cursor.position])

    def _element(self, spelled: str) -> None:
        """Record what bash evaluates in the subscript of `[…]=value`, after quote removal."""
        findings = self.cursor.findings
        self.shell.may_drop()
        subscript = _SUBSCRIPT.match(spelled)
        if subscript is not None:
            note_joined(subscript[0], findings)
            findings.computed |= set(_NAME.findall(subscript[0]))
        else:
            findings.gap("a subscript that is not simple, which the shell evaluates")

    def _finish(
        self,
        position: int,
        words: list[Word],
        *,
        assignments: list[tuple[Assignment, bool]],
        redirected: Redirected,
        text: str,
        fed_by: tuple[Word, ...],
        fed_before: tuple[tuple[Word, ...], ...],
    ) -> None:
        """Insert the record at the position where the command began."""
        shell = self.shell
        own = tuple(each for each, _ in assignments)
        if words and words[0].known and words[0].text == "read":
            # The shell uses it when it splits words into variables; no program sees it.
            own = tuple(each for each in own if each.name != "IFS")
        if not words:
            if not own and not redirected.redirections and not redirected.inputs:
                raise NotReadable("an operator without a command")
            for each, number in assignments:
                shell.assign(each, number=number)
        elif words[0].known and not words[0].text:
            raise NotReadable("a command without a name")
        else:
            for each, number in assignments:
                if not number:
                    shell.note_text(each)
        piped = shell.piped
        if redirected.inputs:
            piped = any(each.op == "<&" for each in redirected.redirections)
        carried = shell.carried
        folders = shell.folders
        if sets_trap(tuple(words)):
            shell.findings.failing = shell.findings.repeats = True
            # Its commands run later, in a folder that others change.
            folders = (None,)
            shell.findings.bodies.append(position)
        command = SimpleCommand(
            words=tuple(words),
            assignments=own if not (words and carried) else (*carried, *own),
            redirections=tuple(redirected.redirections),
            folders=folders[0],
            stdin=redirected.stdin if redirected.inputs else shell.stdin,
            piped=piped,
            fed_by=fed_by if piped and not redirected.inputs else (),
            fed_before=fed_before if piped and not redirected.inputs else (),
            is_function=bool(words) and words[0].known and words[0].text in shell.functions,
            text=text,
            number=position + 1,
            inside=self.inside,
        )
        commands = shell.findings.commands
        commands[position] = command
        positions = [position, *range(len(commands), len(commands) + len(folders) - 1)]
        commands += [replace(command, folders=each) for each in folders[1:]]
        for document in redirected.texts:
            if redirected.inputs == 1:
                document.commands += positions

    def _effects(
        self, words: tuple[Word, ...], *, redirected: Redirected, spelled: SpelledCommand
    ) -> None:
        if not words[0].known or is_builtin(words[0].text, self.shell.findings.defined):
            apply_builtin(words, self.shell, spelled=spelled)
        if redirected.inputs and words[0].text == "exec":
            # From here on the commands read from the file that this opened.
            self.shell.piped = True


def _declared(assignment: Assignment) -> Word:
    """Return the word of a declaration that also assigns."""
    value, sign = assignment.value, "+=" if assignment.appends else "="
    if value.home or not value.known:
        return Word(f"{assignment.name}{sign}{'' if value.home else value.text}", "opaque")
    return Word(f"{assignment.name}{sign}{value.text}")


@dataclass(slots=True)
class _Spelled:
    """The parts of a command parsed so far, for the tree."""

    assignments: list[Assigning] = field(default_factory=list)
    words: list[Parts | Assigning] = field(default_factory=list)


_READING = SimpleCommand()
