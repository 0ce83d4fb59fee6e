"""Parses lists and pipelines of a script, and gathers the findings."""

from __future__ import annotations

import re
from dataclasses import replace

from policy.shell.compound_reader import CASE_END, CompoundReader
from policy.shell.cursor import Cursor
from policy.shell.definitions import DefinitionReader
from policy.shell.expansions import (
    BACKQUOTES,
    SUBSTITUTION,
    ExpansionReader,
    not_arithmetic,
)
from policy.shell.not_readable import NotReadable
from policy.shell.redirections import leaves_output, read_pending
from policy.shell.reserved_words import CLOSING, COMPOUND, reserved_word
from policy.shell.script import SimpleCommand
from policy.shell.shell_state import ShellState
from policy.shell.simple_command_reader import SimpleReader
from policy.shell.tree import Chain, Command, CommandList, Pipeline, Simple
from policy.shell.word import Word
from policy.shell.word_reader import WordReader
from policy.shell.working_directories import NOWHERE, either_directory

_TIME_OPTIONS = re.compile(r"(?:-p(?=\s)|--(?=\s)|[ \t])*")


class ScriptReader:
    """Parses all commands at a cursor, in one shell."""

    def __init__(self, cursor: Cursor, shell: ShellState, inside: tuple[str, ...]) -> None:
        self.cursor = cursor
        self.shell = shell
        self.findings = cursor.findings
        self.inside = inside
        self.depth = cursor.findings.depth
        # Whether this substitution has contained a here-document.
        self.documented = False
        self.expansions = ExpansionReader(cursor, shell, read_inside=self._read_inside)
        self.words = WordReader(cursor, self.expansions)
        self.simple = SimpleReader(self.words, self.expansions, inside)
        self.compound = CompoundReader(self)
        self.definitions = DefinitionReader(self, read_text=self._read_alias)

    def read(self) -> CommandList:
        """Parse all of the text."""
        commands = self.read_list()
        if self.cursor.position < len(self.cursor.text):
            raise NotReadable("something is closed that was not opened")
        if self.cursor.pending:
            raise NotReadable("a here-document without its end")
        return commands

    def _read_inside(self, cursor: Cursor, inside: str) -> CommandList:
        """Parse the inside of a substitution; backquotes have a cursor of their own."""
        self.findings.enter()
        self.findings.concurrent = True
        shell = self.shell.fork()
        shell.piped = shell.piped or inside.startswith(">")
        # An error in it ends only the subshell.
        drops, self.findings.drops = self.findings.drops, []
        backquoted = inside == BACKQUOTES
        # Both spellings of a substitution are one, and the printed script has only this one.
        label = SUBSTITUTION if backquoted else inside
        reader = ScriptReader(cursor, shell, (*self.inside, label))
        if backquoted:
            commands = reader.read()
        else:
            commands = reader.read_list()
            reader.close(")")
        self.findings.drops = drops
        self.findings.leave()
        return commands

    def read_list(self) -> CommandList:
        """Parse commands up to the end, a `)` or a word that closes a compound command."""
        self.shell.stay()
        chains: list[Chain] = []
        while True:
            start = self.cursor.position
            self.new_lines()
            if chains and "\n" in self.cursor.text[start : self.cursor.position]:
                chains[-1] = replace(chains[-1], ends_line=True)
                if self.findings.depth == self.depth:
                    self.shell.end_line()
            if self._at_end():
                break
            self.shell.settle()
            if self.findings.failing:
                self.shell.may_drop()
            before = self.shell.fork()
            chains.append(self._chain(before))
            self.cursor.skip_blanks()
            char = self.cursor.peek()
            if char == "&":
                self._operator("&")
                self.findings.concurrent = True
                chains[-1] = replace(chains[-1], background=True)
                self.shell.restore(before)
            elif char == ";" and not CASE_END.match(self.cursor.text, self.cursor.position):
                if self.documented or (
                    self.inside and self.cursor.pending and not _is_simple(chains[-1])
                ):
                    # bash prints a substitution anew, and loses a `;` that follows one.
                    raise NotReadable("a `;` after a here-document in a substitution")
                self._operator(";")
            elif char == "#" or char == "\n":
                continue
            else:
                break
        if chains and chains[-1].ends_line:
            chains[-1] = replace(chains[-1], ends_line=False)
        return CommandList(tuple(chains))

    def _at_end(self) -> bool:
        cursor = self.cursor
        char = cursor.peek()
        if not char or char in ");":
            return True
        return reserved_word(cursor) in CLOSING

    def new_lines(self) -> None:
        """Skip blanks, comments and new lines, and read the here-documents that begin at one."""
        cursor = self.cursor
        while True:
            cursor.skip_blanks()
            char = cursor.peek()
            if char == "#":
                end = cursor.text.find("\n", cursor.position)
                cursor.position = len(cursor.text) if end < 0 else end
            elif char == "\n":
                cursor.position += 1
                if cursor.pending:
                    self.documented = bool(self.inside)
                    read_pending(cursor, self.expansions, substituted=bool(self.inside))
            else:
                return

    def _chain(self, before: ShellState) -> Chain:
        """Parse pipelines joined by `&&` and `||`."""
        shell, cursor = self.shell, self.cursor
        conditional = shell.conditional
        earlier = NOWHERE
        pipeline, plain = self._pipeline(before)
        pipelines, operators = [pipeline], []
        worked, failed = shell.positions, shell.failed
        while True:
            cursor.skip_blanks()
            operator = cursor.text[cursor.position : cursor.position + 2]
            if operator not in ("&&", "||"):
                break
            self._operator(operator)
            shell.conditional = conditional + 1
            shell.positions = worked if operator == "&&" else failed
            shell.stay()
            before = shell.fork()
            self.new_lines()
            if self._at_end():
                raise NotReadable("nothing follows the last `&&` or `||`")
            pipeline, plain = self._pipeline(before)
            pipelines.append(pipeline)
            operators.append(operator)
            if operator == "&&":
                earlier = failed
                worked, failed = shell.positions, either_directory(failed, shell.failed)
            else:
                earlier = NOWHERE
                worked, failed = either_directory(worked, shell.positions), shell.failed
        if plain and self._stops():
            # The shell ends where the last of them fails, and continues where an earlier one does.
            failed = earlier
        shell.positions, shell.failed, shell.conditional = worked, failed, conditional
        return Chain(tuple(pipelines), tuple(operators))

    def _stops(self) -> bool:
        """Return whether the failure of a plain command here surely ends the shell (`set -e`)."""
        # A compound command may be part of a condition, in which failures are ignored.
        return self.shell.stops and not (self.findings.depth or self.findings.forgiving)

    def _operator(self, operator: str) -> None:
        cursor = self.cursor
        cursor.position += len(operator)
        if cursor.looking_at("\\\n"):
            cursor.skip_blanks()
            if cursor.peek() and cursor.peek() in "&|;>":
                raise NotReadable("an operator that is split over two lines")

    def _pipeline(self, before: ShellState) -> tuple[Pipeline, bool]:
        """Parse commands joined by `|`: each runs in a subshell.

        The second result: whether it is one simple command, whose failure is that of the pipeline.
        """
        shell, cursor = self.shell, self.cursor
        outside = shell.positions
        prefixes = self._prefixes()
        negated = "!" in prefixes
        first = len(cursor.findings.commands)
        command, simple = self.command()
        commands, operators = [command], []
        if any(each != "!" for each in prefixes):
            # Some shells treat it as a program, which changes nothing about them.
            shell.positions, shell.failed = (
                either_directory(outside, each) for each in (shell.positions, shell.failed)
            )
        if negated:
            shell.positions, shell.failed = shell.failed, shell.positions
        joined = False
        line: tuple[tuple[Word, ...], ...] = ()
        while True:
            cursor.skip_blanks()
            if cursor.peek() != "|" or cursor.peek(1) == "|":
                break
            # `|&` adds a copy of a descriptor, which accesses no file.
            fed_by: tuple[Word, ...] = ()
            if simple and cursor.peek(1) != "&":
                fed_by = _plain_words(cursor.findings.commands[first:])
                cursor.findings.feeding |= {word.text for word in fed_by[:1]}
            line = (fed_by, *line) if fed_by else ()
            operators.append("|&" if cursor.peek(1) == "&" else "|")
            self._operator(operators[-1])
            self.new_lines()
            if self._at_end():
                raise NotReadable("nothing follows the last `|`")
            conditional = shell.conditional
            shell.restore(before)
            shell.conditional = conditional
            shell.piped, shell.stdin = True, None
            joined = cursor.findings.concurrent = True
            first = len(cursor.findings.commands)
            shell.fed_by, shell.fed_before = fed_by, line[1:]
            command, simple = self.command()
            commands.append(command)
            shell.fed_by = shell.fed_before = ()
        if joined:
            conditional = shell.conditional
            shell.restore(before)
            shell.conditional = conditional
        node = Pipeline(prefixes, tuple(commands), tuple(operators))
        return node, simple and not (prefixes or joined)

    def _prefixes(self) -> tuple[str, ...]:
        """Skip `!`, `time` and `time -p`, and return them."""
        cursor = self.cursor
        found: list[str] = []
        while True:
            word = reserved_word(cursor)
            if word not in ("!", "time"):
                return tuple(found)
            cursor.findings.count_part()
            cursor.position += len(word)
            found.append(word)
            cursor.skip_blanks()
            if word == "time":
                options = _TIME_OPTIONS.match(cursor.text, cursor.position)
                assert options is not None
                cursor.position = options.end()
                if "-p" in options[0]:
                    found[-1] = "time -p"
                if cursor.peek() in ("-", "", "\n", ";"):
                    raise NotReadable("a `time` that could not be read")

    def command(self) -> tuple[Command, bool]:
        """Parse one command of any type; the second result: whether it is a simple one."""
        cursor = self.cursor
        self.shell.stay()
        if cursor.peek() == "(":
            not_arithmetic(cursor)
            return self.compound.read("((" if cursor.looking_at("((") else "("), False
        word = reserved_word(cursor)
        if word in COMPOUND:
            return self.compound.read(word), False
        if word == "function":
            return self.definitions.read_function(), False
        if word == "coproc":
            return self.definitions.read_coprocess(), False
        read = self.simple.read
        return read(function=self.definitions.body, alias=self.definitions.alias), True

    def _read_alias(self, text: str, shell: ShellState) -> None:
        ScriptReader(Cursor(text, self.findings), shell, self.inside).read()

    def close(self, word: str) -> None:
        """Take the reserved word that is required here."""
        cursor = self.cursor
        cursor.skip_blanks()
        if not (cursor.looking_at(")") if word == ")" else reserved_word(cursor) == word):
            raise NotReadable(f"a `{word}` is missing")
        cursor.position += len(word)


def _is_simple(chain: Chain) -> bool:
    """Return whether a chain is one simple command."""
    pipeline = chain.pipelines[0]
    return (
        not chain.operators and not pipeline.operators and isinstance(pipeline.commands[0], Simple)
    )


def _plain_words(commands: list[SimpleCommand]) -> tuple[Word, ...]:
    """Return the words if the result is one command without redirections.

    It may be listed several times, for several folders.
    """
    words = commands[0].words if commands else ()
    same = all(each.words == words and leaves_output(each.redirections) for each in commands)
    return words if same else ()
