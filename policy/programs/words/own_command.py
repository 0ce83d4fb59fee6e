"""Whether words that a program is given are a command of Placet itself.

Any program may run them: `viztracer -m policy freeze`, `python .venv/bin/placet freeze`. The
profile of `placet` tells which of its commands hide what they do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from policy.shell import SimpleCommand, Word

_PROGRAM = "placet"
_MODULES = frozenset({"policy", "policy.cli", "policy.__main__"})
# What stands between the words of a command line, and between the texts of code.
_BETWEEN = re.compile(r"[\s'\"`()\[\]{},;&|<>=]+")
_FILES = ("policy/__main__.py", "policy/cli/__init__.py")


def own_commands(command: SimpleCommand) -> Iterator[SimpleCommand]:
    """Yield the commands of Placet that the words after the program may be."""
    words = command.words
    for place in range(1, len(words)):
        if _names_placet(words[place]):
            yield SimpleCommand(words=(Word(_PROGRAM), *words[place + 1 :]), text=command.text)
        yield from _inside(words[place], command.text)


def _inside(word: Word, text: str) -> Iterator[SimpleCommand]:
    """Yield the commands of Placet that a word spells as a command line or in code."""
    pieces = tuple(map(Word, filter(None, _BETWEEN.split(word.text))))
    if not word.known or len(pieces) < 2:
        return
    for place, piece in enumerate(pieces):
        if _names_placet(piece):
            yield SimpleCommand(words=(Word(_PROGRAM), *pieces[place + 1 :]), text=text)


def _names_placet(word: Word) -> bool:
    if not word.known:
        return False
    text = word.text.rstrip("/")
    if text.removeprefix("-m") in _MODULES or text.rpartition("/")[2] in (_PROGRAM, "policy"):
        return True
    return f"/{text}".endswith(tuple(f"/{file}" for file in _FILES))
