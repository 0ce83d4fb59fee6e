"""Whether a word that a program is given may be a command line or code that it runs.

`nodemon -x 'git push'`, `gotestsum --post-run-command 'cp a b'`: which options of such programs run
their value is not known. A word in the form of a name, a path, a glob, a number or a setting is no
code; one with white space or the punctuation of a shell or a programming language may be.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from policy.programs.words.forwarded import names_command
from policy.shell import Word

_PUNCTUATION = re.compile(r"[\s;&|()<>`'\"]|\$[({]")
# What has such punctuation and is still no code.
_HARMLESS = (
    # An address, with a query.
    re.compile(r"https?://[^\s`'\"()<>;]*"),
    # A setting whose value is a quoted name: `--define:MODE="production"`.
    re.compile(r"[\w.:-]+=([\"'])[\w.-]*\1"),
    # Flags of a compiler: `CFLAGS=-O2 -g`, `-DCMAKE_CXX_FLAGS=-Wall -Wextra`.
    re.compile(r"(-D)?[A-Z][A-Z0-9_]*=-[\w=+-]+( +-[\w=+-]+)*"),
    # A version, or a range of versions.
    re.compile(r"(@?[\w./-]*@)?[\^~<>=v]*\d[\w.+-]*( *[ |<>=^~-]+ *\d[\w.+-]*)*"),
)
# Words of letters and digits with single blanks between, and the punctuation of a sentence.
_PROSE = re.compile(r"\w+(?:-\w+)*[,:]?(?: \w+(?:-\w+)*[,:]?)*[.!?]?")
# Folders of routes, `app/(shop)/page.tsx`, and groups of extended globs: `!(*.spec).ts`.
_GROUPS = re.compile(r"(^|/)\([\w.-]+\)(?=/|$)|[!@?+*]\([\w.*|-]+\)")
# Options, by their name, whose value is a text of people or selects tests, and is not run.
_TEXT = frozenset(
    """
    t k g m grep fgrep invert grep-invert message title name names match filter filter-expr tag tags
    test-name-pattern testnamepattern testpathpattern testpathpatterns run skip only
    description body label comment reason
    """.split()
)
_TEXT_VALUE = re.compile(r"--?([A-Za-z-]+)=")


def may_be_code(word: Word, before: Word | None) -> bool:
    """Return whether a word, known in full, may be a command line or code.

    `before` is the word before it, of which it may be the value.
    """
    if not word.known or not _PUNCTUATION.search(word.text):
        return False
    text = word.text
    if before is not None and before.known and _takes_text(before.text):
        return False
    glued = _TEXT_VALUE.match(text)
    if glued and _is_text(glued[1]):
        return False
    if any(form.fullmatch(text) for form in _HARMLESS):
        return False
    return _PUNCTUATION.search(_GROUPS.sub("", text)) is not None


def is_prose(word: Word, before: Word | None, is_program: Callable[[str], bool]) -> bool:
    """Return whether a word is a text that a program without a profile cannot run as a command.

    It consists of plain words, of which the first is no known program: spelled without the quotes,
    they would be no more. The value of an option that is named for a command is none.
    """
    if not word.known or _PROSE.fullmatch(word.text) is None:
        return False
    if before is not None and (not before.known or names_command(before.text)):
        return False
    return not is_program(word.text.split(" ", 1)[0].rstrip(",:"))


def _takes_text(option: str) -> bool:
    return option.startswith("-") and _is_text(option.lstrip("-"))


def _is_text(name: str) -> bool:
    # One letter in the other case is another option.
    return name in _TEXT or (len(name) > 1 and name.lower() in _TEXT)
