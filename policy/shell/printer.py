"""Prints the tree of a script as text that every shell parses in the same way.

Text is printed in single quotes, every parameter in braces, every substitution as `$(…)`, and a
here-document as a here-string. So a shell runs the script that was judged, even where it would
parse the original text differently.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import assert_never

from policy.shell.tree import (
    ArithmeticExpansion,
    Arm,
    Assigning,
    CaseCommand,
    Chain,
    Command,
    CommandList,
    Compound,
    Computation,
    Condition,
    Coprocess,
    CountingFor,
    DoubleQuoted,
    Escaped,
    For,
    FunctionDefinition,
    Group,
    If,
    Loop,
    Parameter,
    Part,
    Parts,
    Pipeline,
    ProcessSubstitution,
    Quoted,
    Raw,
    Redirecting,
    Simple,
    Subshell,
    Substitution,
    Values,
    WithRedirections,
)
from policy.values import is_ordinary

_ESCAPED_IN_QUOTES = re.compile(r'["$`\\]')
_ESCAPED_IN_ANSI = re.compile(r"['\\]")


def print_tree(commands: CommandList) -> str:
    """Print a tree; raise NotReadable for a part that has no canonical form."""
    return _Printer().spell(commands)


class _Printer:
    """One walk over a tree."""

    def spell(self, commands: CommandList) -> str:
        """Print commands, without a terminator after the last."""
        spelled: list[str] = []
        last = len(commands.chains) - 1
        for position, chain in enumerate(commands.chains):
            text = self._chain(chain)
            if chain.ends_line:
                text += "\n"
            elif position < last:
                text += " " if chain.background else "; "
            spelled.append(text)
        return "".join(spelled)

    def _body(self, commands: CommandList) -> str:
        """Print commands that are followed by a reserved word."""
        text = self.spell(commands)
        ended = not text or commands.chains[-1].background
        return f"{text} " if ended else f"{text}; "

    def _chain(self, chain: Chain) -> str:
        spelled = [self._pipeline(chain.pipelines[0])]
        for operator, pipeline in zip(chain.operators, chain.pipelines[1:], strict=True):
            spelled += (f" {operator} ", self._pipeline(pipeline))
        return "".join(spelled) + (" &" if chain.background else "")

    def _pipeline(self, pipeline: Pipeline) -> str:
        spelled = [f"{prefix} " for prefix in pipeline.prefixes]
        spelled.append(self._command(pipeline.commands[0]))
        for operator, command in zip(pipeline.operators, pipeline.commands[1:], strict=True):
            spelled += (f" {operator} ", self._command(command))
        return "".join(spelled)

    def _command(self, command: Command) -> str:
        match command:
            case Simple():
                return self._simple(command)
            case WithRedirections():
                return self._command(command.command) + self._redirections(command.redirections)
            case FunctionDefinition():
                return f"function {command.name} () {self._command(command.body)}"
            case Coprocess():
                name = "" if command.name is None else f"{command.name} "
                return f"coproc {name}{self._command(command.body)}"
            case _:
                return self._compound(command)

    def _compound(self, command: Compound) -> str:
        match command:
            case Subshell():
                return f"( {self._body(command.body)})"
            case Group():
                return f"{{ {self._body(command.body)}}}"
            case Computation():
                return f"(({self._inner(command.parts)}))"
            case Condition():
                return f"[[ {self._words(command.words)} ]]"
            case If():
                return self._if(command)
            case Loop():
                condition = self._body(command.condition)
                return f"{command.kind} {condition}do {self._body(command.body)}done"
            case For():
                return self._for(command)
            case CountingFor():
                parts = ";".join(self._inner(each) for each in command.parts)
                return f"for (({parts})); do {self._body(command.body)}done"
            case CaseCommand():
                arms = "".join(map(self._arm, command.arms))
                return f"case {self._word(command.word)} in {arms}esac"
            case _:
                assert_never(command)

    def _simple(self, command: Simple) -> str:
        words = [*map(self._assigning, command.assignments)]
        words += (
            self._assigning(word) if isinstance(word, Assigning) else self._word(word)
            for word in command.words
        )
        return (" ".join(words) + self._redirections(command.redirections)).lstrip(" ")

    def _assigning(self, assigning: Assigning) -> str:
        subscript = "" if assigning.subscript is None else f"[{self._inner(assigning.subscript)}]"
        operator = "+=" if assigning.appends else "="
        if isinstance(assigning.value, Values):
            value = f"({self._words(assigning.value.words)})"
        else:
            value = self._word(assigning.value)
        return f"{assigning.name}{subscript}{operator}{value}"

    def _redirections(self, redirections: Iterable[Redirecting]) -> str:
        return "".join(map(self._redirection, redirections))

    def _redirection(self, redirecting: Redirecting) -> str:
        before = "" if redirecting.fd is None else str(redirecting.fd)
        if redirecting.name is not None:
            before = f"{{{redirecting.name}}}"
        # A descriptor is joined to its operator; a file is not, since its name may begin with a
        # sign.
        blank = "" if redirecting.op in (">&", "<&") else " "
        return f" {before}{redirecting.op}{blank}{self._word(redirecting.target)}"

    def _if(self, command: If) -> str:
        spelled: list[str] = []
        word = "if"
        for condition, body in command.branches:
            spelled.append(f"{word} {self._body(condition)}then {self._body(body)}")
            word = "elif"
        if command.otherwise is not None:
            spelled.append(f"else {self._body(command.otherwise)}")
        return "".join((*spelled, "fi"))

    def _for(self, command: For) -> str:
        values = ""
        if command.values is not None:
            values = "".join([" in", *(f" {self._word(each)}" for each in command.values)])
        return f"{command.kind} {command.name}{values}; do {self._body(command.body)}done"

    def _arm(self, arm: Arm) -> str:
        patterns = " | ".join(map(self._word, arm.patterns))
        body = self.spell(arm.body)
        blank = " " if body else ""
        return f"({patterns}) {body}{blank}{arm.end} "

    def _words(self, words: Iterable[Parts]) -> str:
        return " ".join(map(self._word, words))

    def _word(self, parts: Parts) -> str:
        return "".join(map(self._part, parts))

    def _inner(self, parts: Parts) -> str:
        """Print the inside of a `${…}` or of arithmetic, where quotes may be literal."""
        return "".join(
            f"'{part.text}'" if isinstance(part, Quoted) else self._part(part) for part in parts
        )

    def _part(self, part: Part) -> str:
        match part:
            case Raw():
                return part.text
            case Quoted():
                return quoted(part.text)
            case Escaped():
                return f"\\{part.char}"
            case DoubleQuoted():
                return f'"{"".join(map(self._in_quotes, part.parts))}"'
            case Parameter():
                return (
                    f"${self._inner(part.parts)}"
                    if part.bare
                    else f"${{{self._inner(part.parts)}}}"
                )
            case Substitution():
                return f"$({self._inside(part.commands)})"
            case ProcessSubstitution():
                return f"{part.sign}({self._inside(part.commands)})"
            case ArithmeticExpansion():
                return f"$(({self._inner(part.parts)}))"
            case _:
                assert_never(part)

    def _in_quotes(self, part: Part) -> str:
        if isinstance(part, Quoted):
            return _ESCAPED_IN_QUOTES.sub(r"\\\g<0>", part.text)
        return self._part(part)

    def _inside(self, commands: CommandList) -> str:
        """Print the commands of a substitution, whose here-documents end in it."""
        text = self.spell(commands)
        # `$((` would be arithmetic.
        return f" {text}" if text.startswith("(") else text


def quoted(text: str) -> str:
    """Return the quoted form of a literal string."""
    if all(char in "\n\t" or (char.isprintable() and is_ordinary(char)) for char in text):
        return "'" + text.replace("'", "'\\''") + "'"
    return "$'" + "".join(map(_ansi, text)) + "'"


def _ansi(char: str) -> str:
    if char.isprintable() and is_ordinary(char):
        return f"\\{char}" if char in "'\\" else char
    return "".join(f"\\{byte:03o}" for byte in char.encode())
