"""Parses functions, aliases and coprocesses: commands that run when they are called."""

from __future__ import annotations

import re
from collections.abc import Callable

from policy.shell.builtins import is_relied_on
from policy.shell.not_readable import NotReadable
from policy.shell.reserved_words import COMPOUND, ListReader, reserved_word
from policy.shell.shell_state import ShellState
from policy.shell.tree import Coprocess, FunctionDefinition
from policy.shell.working_directories import NOWHERE, UNKNOWN

_FUNCTION_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:+@-]*(?=[\s(]|\Z)")
_PARENTHESES = re.compile(r"[ \t]*(?:\([ \t]*\))?")
# A coprocess has a name only before a compound command.
_COPROCESS = re.compile(
    r"([A-Za-z_][A-Za-z0-9_]*)"
    r"(?:[ \t]*(?=\()|[ \t]+(?=(?:\{|\[\[|if|case|for|while|until|select)[\s(]))"
)
_LONGEST_ALIAS = 2_000


class DefinitionReader:
    """Parses definitions; `read_text` parses the text of an alias."""

    def __init__(self, reader: ListReader, read_text: Callable[[str, ShellState], None]) -> None:
        self.reader = reader
        self.read_text = read_text

    def read_coprocess(self) -> Coprocess:
        """Parse the rest of `coproc`, which runs beside the script."""
        cursor, shell = self.reader.cursor, self.reader.shell
        cursor.position += len("coproc")
        cursor.skip_blanks()
        self.reader.findings.enter()
        self.reader.findings.concurrent = True
        named = _COPROCESS.match(cursor.text, cursor.position)
        name = named[1] if named is not None and named[1] not in COMPOUND else None
        if named is not None and name is not None:
            cursor.position = named.end()
            shell.set_unknown(name)
            shell.findings.computed.add(f"{name}()")
        before = shell.fork()
        shell.piped = True
        node, simple = self.reader.command()
        if simple and self.reader.inside:
            # bash spells a substitution anew, with a name that is then taken for the program.
            raise NotReadable("a coprocess of a simple command in a substitution")
        shell.restore(before)
        self.reader.findings.leave()
        return Coprocess(name, node)

    def read_function(self) -> FunctionDefinition:
        """Parse the rest of `function`."""
        cursor = self.reader.cursor
        cursor.position += len("function")
        cursor.skip_blanks()
        name = _FUNCTION_NAME.match(cursor.text, cursor.position)
        if name is None:
            raise NotReadable("a function whose name could not be read")
        after = _PARENTHESES.match(cursor.text, name.end())
        assert after is not None
        cursor.position = after.end()
        return self.body(name[0])

    def body(self, name: str) -> FunctionDefinition:
        """Parse the body of a function, which runs wherever it is called."""
        shell, findings = self.reader.shell, self.reader.findings
        findings.repeats = True
        if not _FUNCTION_NAME.fullmatch(name):
            raise NotReadable("a function whose name could not be read")
        if is_relied_on(name):
            findings.gap("a function with the name of a builtin")
        self.reader.new_lines()
        first, before = len(findings.commands), shell.fork()
        shell.conditional += 1
        shell.values, shell.positions, shell.piped = None, UNKNOWN, True
        if self.reader.cursor.peek() != "(" and reserved_word(self.reader.cursor) not in COMPOUND:
            raise NotReadable("a function whose body could not be read")
        jumps, drops = findings.jumps, findings.drops
        findings.drops = []
        node, _ = self.reader.command()
        # An error that aborts the function also aborts the line that calls it.
        findings.failing = findings.failing or bool(findings.drops)
        findings.drops = drops
        findings.bodies += range(first, len(findings.commands))
        ends = shell.positions == shell.failed == NOWHERE and findings.jumps == jumps
        moved, carried = shell.moves != before.moves, shell.carried
        shell.restore(before)
        shell.carried, shell.values = carried, None
        findings.defined[name] = findings.defined.get(name, 0) + 1
        if moved:
            shell.lose_folder()
            findings.wandering = True
        if not shell.conditional:
            shell.functions |= {name}
            shell.ending = shell.ending | {name} if ends else shell.ending
        return FunctionDefinition(name, node)

    def alias(self, name: str, rest: str) -> None:
        """Parse the value of an alias here, in case the shell expands it."""
        body = self.reader.shell.aliases[name]
        if len(body) > _LONGEST_ALIAS:
            raise NotReadable("an alias that is too long")
        findings = self.reader.findings
        findings.enter()
        first, depth = len(findings.commands), findings.depth
        shell = self.reader.shell.fork()
        shell.aliases = {each: text for each, text in shell.aliases.items() if each != name}
        try:
            self.read_text(f"{body} {rest}", shell)
            if shell.moves != self.reader.shell.moves:
                self.reader.shell.lose_folder()
        except NotReadable as problem:
            del findings.commands[first:]
            findings.bodies[:] = [position for position in findings.bodies if position < first]
            findings.depth = depth
            findings.gap(f"an alias that could not be read: {problem}")
        findings.leave()
