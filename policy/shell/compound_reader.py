"""Parses compound commands: groups, loops and conditionals, with their redirections."""

from __future__ import annotations

import re
from dataclasses import replace

from policy.shell.double_brackets import read_test
from policy.shell.not_readable import NotReadable
from policy.shell.redirections import MAY_CONNECT, Redirected, read_redirection
from policy.shell.reserved_words import ListReader, reserved_word
from policy.shell.script import SimpleCommand
from policy.shell.stated_words import without_places
from policy.shell.tree import (
    Arm,
    CaseCommand,
    Command,
    CommandList,
    Compound,
    Computation,
    CountingFor,
    For,
    Group,
    If,
    Loop,
    Parts,
    Redirecting,
    Subshell,
    WithRedirections,
)
from policy.shell.word import Word
from policy.shell.word_pieces import to_words
from policy.shell.working_directories import (
    NOWHERE,
    UNKNOWN,
    Places,
    either_directory,
    possible_directories,
)

# A loop is analysed once per value, up to this many passes; nested loops share the number.
_MOST_PASSES = 16
_RANGE = re.compile(r"\{([0-9]{1,4})\.\.([0-9]{1,4})\}(?=[ \t;\n]|\Z)")
_NUMBER = re.compile(r"[0-9]+|\{[0-9]+\.\.[0-9]+\}")
# Some file of the current folder, as far as is known: without `/` and without blanks.
_ANY_NUMBER = Word("*", "glob")
CASE_END = re.compile(r";;&|;;|;&")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?=[\s;&|()<>]|\Z)")


class CompoundReader:
    """Parses compound commands; `reader` parses the lists in them."""

    def __init__(self, reader: ListReader) -> None:
        self.reader = reader

    def read(self, kind: str) -> Command:
        """Parse a compound command and its redirections."""
        findings, cursor, shell = self.reader.findings, self.reader.cursor, self.reader.shell
        findings.enter()
        shell.fed_by = shell.fed_before = ()
        first, start, outside = len(findings.commands), cursor.position, shell.positions
        cursor.position += len(kind)
        node: Compound
        if kind == "(":
            before, drops, findings.drops = shell.fork(), findings.drops, []
            node = Subshell(self.reader.read_list())
            self.reader.close(")")
            shell.restore(before)
            findings.drops = drops
            shell.stay()
        elif kind == "{":
            node = Group(self.reader.read_list())
            self.reader.close("}")
        elif kind == "((":
            node = Computation(self.reader.expansions.arithmetic("))"))
        elif kind == "[[":
            node = read_test(self.reader, start)
        else:
            node = self._conditional(kind)
        findings.leave()
        redirections = self._redirections(first, outside=outside)
        if not redirections:
            return node
        # If a redirection fails, nothing runs.
        shell.failed = either_directory(shell.failed, outside)
        return WithRedirections(node, tuple(redirections))

    def _redirections(self, first: int, *, outside: Places) -> list[Redirecting]:
        """Parse the redirections of a compound command, recorded as a command without words."""
        cursor, findings = self.reader.cursor, self.reader.findings
        given = Redirected()
        start = cursor.position
        while True:
            cursor.skip_blanks()
            char = cursor.peek()
            if not char or not read_redirection(self.reader.words, given, self.reader.shell):
                break
        if not given.redirections and not given.inputs:
            return []
        if given.inputs:
            for position in range(first, len(findings.commands)):
                if findings.commands[position].stdin is None:
                    findings.commands[position] = replace(findings.commands[position], piped=True)
        number = len(findings.commands) + 1
        findings.commands += [
            SimpleCommand(
                redirections=tuple(given.redirections),
                folders=folders,
                stdin=given.stdin,
                text=cursor.text[start : cursor.position].strip(),
                number=number,
                inside=self.reader.inside,
            )
            for folders in possible_directories(outside)
        ]
        for document in given.texts:
            document.commands += range(number - 1, len(findings.commands))
        return given.nodes

    def _conditional(self, kind: str) -> Compound:
        """Parse a compound command whose parts may run once, not at all or many times."""
        shell, commands = self.reader.shell, self.reader.findings.commands
        first, moves, carried = len(commands), shell.moves, shell.carried
        outside = shell.positions
        shell.conditional += 1
        loops = kind not in ("if", "case")
        if loops:
            self.reader.findings.repeats = True
        node: Compound | None
        if kind == "if":
            node = self._if()
        elif kind == "case":
            node = self._case()
        elif (node := self._leaving_values(kind)) is None:
            shell.forget_values()
            node = self._loop(kind)
            shell.forget_values()
        shell.conditional -= 1
        if not loops:
            return node
        shell.positions = shell.failed = UNKNOWN if shell.moves != moves else outside
        later = shell.carried[len(carried) :]
        for position in range(first, len(commands)):
            command = commands[position]
            if shell.moves != moves:
                # In a later pass `$PWD` is another folder.
                command = replace(without_places(command), folders=None)
                if command.redirections != commands[position].redirections:
                    self.reader.findings.gap(MAY_CONNECT)
            if later and command.words:
                command = replace(command, assignments=(*later, *command.assignments))
            commands[position] = command
        return node

    def _loop(self, kind: str) -> Compound:
        if kind in ("while", "until"):
            return Loop(kind, self.reader.read_list(), self._group("do", "done"))
        return self._for(kind)

    def _leaving_values(self, kind: str) -> Compound | None:
        """Parse a loop with the values that variables have before it.

        None where it changes one of them, so that it has to be parsed without these values.
        """
        cursor, findings, shell = self.reader.cursor, self.reader.findings, self.reader.shell
        values = shell.values
        if not values or cursor.pending or not findings.attempts:
            return None
        findings.attempts -= 1
        start, shell_before, before = cursor.position, shell.fork(), findings.copy()
        node = self._loop(kind)
        after = shell.values
        if after is not None and all(after.get(name) == value for name, value in values.items()):
            shell.values = values
            return node
        cursor.position = start
        cursor.pending.clear()
        findings.restore(before)
        shell.restore(shell_before)
        return None

    def _group(self, first: str, last: str) -> CommandList:
        self.reader.close(first)
        body = self.reader.read_list()
        self.reader.close(last)
        return body

    def _if(self) -> If:
        shell = self.reader.shell
        worked = failed = NOWHERE
        word = "if"
        branches: list[tuple[CommandList, CommandList]] = []
        alternative: CommandList | None = None
        while word in ("if", "elif"):
            condition = self.reader.read_list()
            self.reader.close("then")
            otherwise, shell.failed = shell.failed, shell.positions
            branches.append((condition, self.reader.read_list()))
            worked, failed = (
                either_directory(worked, shell.positions),
                either_directory(failed, shell.failed),
            )
            word = reserved_word(self.reader.cursor)
            if word in ("elif", "else"):
                self.reader.cursor.position += len(word)
            shell.positions = shell.failed = otherwise
        if word == "else":
            alternative = self.reader.read_list()
            failed = either_directory(failed, shell.failed)
        # Without an `else` it succeeds if no condition does.
        shell.positions, shell.failed = either_directory(worked, shell.positions), failed
        self.reader.close("fi")
        return If(tuple(branches), alternative)

    def _case(self) -> CaseCommand:
        cursor, shell = self.reader.cursor, self.reader.shell
        outside = worked = shell.positions
        failed = NOWHERE
        cursor.skip_blanks()
        self._word()
        subject, arms = self.reader.words.parts, []
        self.reader.new_lines()
        self.reader.close("in")
        while True:
            self.reader.new_lines()
            word = reserved_word(cursor)
            if word == "esac":
                cursor.position += len(word)
                break
            if cursor.looking_at("("):
                cursor.position += 1
            patterns: list[Parts] = []
            while True:
                cursor.skip_blanks()
                self._word()
                patterns.append(self.reader.words.parts)
                cursor.skip_blanks()
                if not cursor.looking_at("|"):
                    break
                cursor.position += 1
            self.reader.close(")")
            body = self.reader.read_list()
            worked, failed = (
                either_directory(worked, shell.positions),
                either_directory(failed, shell.failed),
            )
            shell.settle()
            end = CASE_END.match(cursor.text, cursor.position)
            arms.append(Arm(tuple(patterns), body, ";;" if end is None else end[0]))
            if end is None:
                self.reader.close("esac")
                break
            cursor.position = end.end()
            # The next arm may run after this one.
            shell.positions = (
                outside if end[0] == ";;" else either_directory(outside, shell.positions)
            )
        shell.positions, shell.failed = worked, failed
        return CaseCommand(subject, tuple(arms))

    def _for(self, kind: str) -> Compound:
        cursor = self.reader.cursor
        cursor.skip_blanks()
        if kind == "for" and cursor.looking_at("(("):
            cursor.position += 2
            parts = tuple(self.reader.expansions.arithmetic(end) for end in (";", ";", "))"))
            cursor.skip_blanks()
            if cursor.looking_at(";"):
                cursor.position += 1
            self.reader.new_lines()
            return CountingFor(parts, self._body())
        name, values, nodes = self._named_for()
        self.reader.new_lines()
        body = self._passes(name, values) if kind == "for" and values else None
        return For(kind, name, nodes, self._body() if body is None else body)

    def _body(self) -> CommandList:
        if self.reader.cursor.looking_at("{"):
            return self._group("{", "}")
        return self._group("do", "done")

    def _passes(self, name: str, values: list[Word]) -> CommandList | None:
        """Parse the body once for each value, in order; None where that is not possible.

        A glob stands for any one of its files.
        """
        cursor, findings, shell = self.reader.cursor, self.reader.findings, self.reader.shell
        many = findings.passes * len(values) > _MOST_PASSES
        if many or cursor.pending or shell.values is None or not findings.attempts:
            return None
        findings.attempts -= 1
        start, first, passes = cursor.position, len(findings.commands), findings.passes
        shell_before, before = shell.fork(), findings.copy()
        findings.passes *= len(values)
        body: CommandList | None = None
        try:
            for value in values:
                cursor.position = start
                shell.set_value(name, value.text if value.known else value)
                body = self._body()
                if cursor.pending:
                    raise NotReadable("a here-document that does not end in its loop")
                shell.settle()
                shell.forget(name)
        except NotReadable:
            # Parse it as any other loop, which may take less work or give a better reason.
            cursor.position = start
            cursor.pending.clear()
            findings.restore(before)
            shell.restore(shell_before)
            return None
        findings.passes = passes
        if len(findings.bodies) == len(before.bodies):
            findings.commands[first:] = dict.fromkeys(findings.commands[first:])
        return body

    def _named_for(self) -> tuple[str, list[Word], tuple[Parts, ...] | None]:
        """Parse `NAME in …;`; return the name, the values if all are known, and the words."""
        cursor, shell = self.reader.cursor, self.reader.shell
        name = _NAME.match(cursor.text, cursor.position)
        if name is None:
            raise NotReadable("a loop that could not be read")
        cursor.position = name.end()
        self.reader.new_lines()
        values: list[Word] = []
        nodes: list[Parts] | None = None
        start = cursor.position
        if reserved_word(cursor) == "in":
            cursor.position += len("in")
            start, nodes = cursor.position, []
            while True:
                cursor.skip_blanks()
                if cursor.peek() in ("", ";", "\n", "#"):
                    break
                values += self._value()
                nodes.append(self.reader.words.parts)
            if not cursor.peek():
                raise NotReadable("a loop that could not be read")
        spelled = cursor.spelled(start, cursor.position).split()
        if cursor.looking_at(";"):
            cursor.position += 1
        if values and all(map(_NUMBER.fullmatch, spelled)):
            shell.set_number(name[0])
            shell.set_value(name[0], _ANY_NUMBER)
        elif len(values) == 1 and values[0].shape == "glob" and not values[0].home:
            shell.set_file(name[0], values[0])
        elif len(values) == 1 and values[0].printed:
            shell.set_unknown(name[0])
            shell.set_value(name[0], replace(values[0], many=False))
        else:
            shell.set_unknown(name[0])
        plain = all(each.shape != "opaque" and not each.home for each in values)
        listed = None if nodes is None else tuple(nodes)
        return name[0], values if plain else [], listed

    def _value(self) -> list[Word]:
        """Parse one word of a loop's list, in which `{1..5}` expands to numbers."""
        cursor = self.reader.cursor
        start = cursor.position
        words = self._word()
        counted = _RANGE.fullmatch(cursor.text, start, cursor.position)
        if counted is None:
            return words
        first, last = sorted((int(counted[1]), int(counted[2])))
        # Some shells treat it as any other word.
        numbers = [*map(Word, map(str, range(first, min(last, first + _MOST_PASSES) + 1)))]
        return [*numbers, Word(counted[0])]

    def _word(self) -> list[Word]:
        """Parse one word, which is required here."""
        start = self.reader.cursor.position
        pieces = self.reader.words.pieces()
        if self.reader.cursor.position == start:
            raise NotReadable("a word is missing")
        self.reader.findings.count_word()
        return to_words(pieces)
