"""A fast parser for simple scripts; None for any that needs the full parser.

Most commands of agents are literal words, joined by operators. For these it gives the same result
as the full parser.
"""

from __future__ import annotations

import re
from functools import lru_cache

from policy.shell.builtins import is_builtin
from policy.shell.control_flow import cd_target
from policy.shell.redirections import leaves_output
from policy.shell.script import Script, SimpleCommand
from policy.shell.word import Redirection, Word
from policy.shell.working_directories import Folders, directories_after

_END = r"(?=[ \t\n;&|]|\Z)"
_TOKEN = re.compile(
    r"[ \t]*(?:(?:"
    r"([A-Za-z0-9_./:,@%+^-][A-Za-z0-9_./:,@%+^=-]*)"
    r"|'([^'\n]*)'"
    r'|"([^"\\$`\n]*)"'
    r"|([0-9]?)(>>|>|<)[ \t]*([A-Za-z0-9_.][A-Za-z0-9_./-]*|/dev/null)"
    r"|([0-9]?)>&([0-9])"
    rf"){_END}"
    r"|(&&|\|\||\|(?![|&])|;(?![;&|])|\n)[ \t\n]*)"
)
_WORD, _SINGLE, _DOUBLE, _FILE, _COPY, _OPERATOR = 1, 2, 3, 6, 8, 9
# Longer words are not cached: they come from callers, and may be as long as a script.
_SHORT = 200
_RESERVED = frozenset(
    "if then elif else fi for while until do done case esac select function time coproc in".split()
)


# One command of only words, separated by single blanks.
_WORDS = re.compile(
    r"[A-Za-z0-9_./:,@%+^-][A-Za-z0-9_./:,@%+^=-]*"
    r"(?: [A-Za-z0-9_./:,@%+^-][A-Za-z0-9_./:,@%+^=-]*)*"
)


def read_literal_command(text: str) -> SimpleCommand | None:
    """Parse a script that is one command of literal words; None for any other."""
    if _WORDS.fullmatch(text) is None:
        return None
    spelled = text.split(" ")
    if len(spelled) > _MOST_WORDS or not _is_plain(spelled[0]):
        return None
    words = tuple([_word(word) if len(word) <= _SHORT else Word(word) for word in spelled])
    return SimpleCommand(words=words, text=text)


def read_simple_script(text: str) -> Script | None:
    """Parse a script of literal words, plain redirections and operators."""
    reader = _PlainReader(text)
    place = 0
    while (token := _TOKEN.match(text, place)) is not None:
        if not reader.take(token):
            return None
        place = token.end()
    if text[place:].strip(" \t") or not reader.end("\n"):
        return None
    if reader.after in _JOINING:
        return None
    return Script(commands=tuple(reader.commands), concurrent=reader.joined)


class _PlainReader:
    """One walk over the tokens; wherever it returns False, the script needs the full parser."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.commands: list[SimpleCommand] = []
        self.after = "\n"
        self.folders: Folders = ()
        self.moved = False
        # Whether some commands are joined by `|`.
        self.joined = False
        self.begin()

    def begin(self) -> None:
        self.words: list[Word] = []
        self.redirections: list[Redirection] = []
        self.inputs = self.first = self.last = 0

    def take(self, token: re.Match[str]) -> bool:
        """Process the next token."""
        kind = token.lastindex
        assert kind is not None
        if kind == _OPERATOR:
            return self.end(token[_OPERATOR])
        if not self.last:
            self.first = token.start()
        self.last = token.end()
        if kind <= _DOUBLE:
            text = token[kind]
            self.words.append(_word(text) if len(text) <= _SHORT else Word(text))
            return len(self.words) <= _MOST_WORDS
        if kind == _COPY:
            self.redirections.append(Redirection(">&", Word(token[_COPY]), _number(token[7])))
            return True
        if token[5] == "<":
            self.inputs += 1
        self.redirections.append(Redirection(token[5], Word(token[_FILE]), _number(token[4])))
        if len(self.redirections) > _MOST_WORDS:
            return False
        return not token[4] or token[5] != "<"

    def end(self, operator: str) -> bool:
        """End a command at an operator, or at the end of the script."""
        if not self.last:
            return operator == "\n" and self.after not in _JOINING
        if not self.words or not _is_plain(self.words[0].text):
            return False
        before, self.after = self.after, operator
        self.joined = self.joined or operator == "|"
        if self.moved and (before == ";" or before == "\n"):
            # An earlier change of the folder may have failed.
            return False
        piped = before == "|" and not self.inputs
        feeding = self.commands[-1] if piped else None
        self.commands.append(
            SimpleCommand(
                words=tuple(self.words),
                redirections=tuple(self.redirections),
                folders=self.folders,
                piped=piped,
                fed_by=feeding.words if feeding and leaves_output(feeding.redirections) else (),
                text=self.text[self.first : self.last].strip(),
                number=len(self.commands) + 1,
            )
        )
        if self.words[0].text == "cd":
            if "|" in (before, operator) or "||" in self.text:
                return False
            self.folders = directories_after(self.folders, cd_target(tuple(self.words)))
            self.moved = True
        self.begin()
        return len(self.commands) <= _MOST_COMMANDS


def _is_plain(program: str) -> bool:
    """Return whether a program changes no state of the shell except its folder."""
    if not program or "=" in program or program in _RESERVED:
        return False
    return program == "cd" or not is_builtin(program)


@lru_cache(maxsize=4096)
def _word(text: str) -> Word:
    return Word(text)


def _number(digits: str) -> int | None:
    return int(digits) if digits else None


_JOINING = ("&&", "||", "|")
_MOST_WORDS = 100
_MOST_COMMANDS = 20
