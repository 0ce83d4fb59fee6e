"""Builtins that take names of variables: the variables that each sets, and what it evaluates.

Only words that are names are examined: the prompt of `read` may be any text. An unknown word that
may be an option with a name is a gap.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from policy.shell.double_evaluation import (
    note_arithmetic_text,
    note_arithmetic_values,
    note_name_word,
)
from policy.shell.shell_state import Findings
from policy.shell.word import Word

_OPTION_NOT_KNOWN = "an option that may name a variable"
_NOT_KNOWN = "arithmetic that is not known"
_MAY_BEGIN_OPTIONS = frozenset({"", "-", "*", "?", "["})
TESTING = frozenset({"test", "["})
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DECLARED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
# An array spelled in a text, in which the shell runs substitutions.
_LISTED = re.compile(r"[^=]*=\(.*[$`\[<>]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Usage:
    """The options of a command by letter: those with a value, and those whose value is a name."""

    values: str = ""
    names: str = ""
    operands: bool = True


_USAGES = {
    "read": _Usage("dinNptu", "a"),
    "mapfile": _Usage("dunOCcs"),
    "readarray": _Usage("dunOCcs"),
    "unset": _Usage(),
    "wait": _Usage("", "p", operands=False),
    "printf": _Usage("", "v", operands=False),
}
NAMING = frozenset({*_USAGES, *TESTING, "getopts", "let"})


def variables_set(words: tuple[Word, ...], spelled: str, findings: Findings) -> list[str]:
    """Return the variables that a command sets, as far as they are known.

    What their subscripts evaluate is recorded; `spelled` is the whole command.
    """
    name, given = words[0].text, words[1:]
    if name in TESTING:
        _test(given, spelled, findings)
        return []
    if name == "let":
        return sorted({name for word in given for name in _let(word, findings)})
    if name == "getopts":
        named = given[1:2] if given and given[0].known and given[0].text != "--" else given[1:3]
        if any(word.many for word in given[:2]):
            findings.gap(_OPTION_NOT_KNOWN)
    else:
        named = tuple(_named(given, _USAGES[name], spelled, findings))
    found = [note_name_word(word, findings) for word in named]
    return [each for each in found if each is not None]


def _let(word: Word, findings: Findings) -> list[str]:
    if word.known:
        note_arithmetic_text(word.text, findings)
    else:
        findings.gap(_NOT_KNOWN)
    return _NAME.findall(word.text)


def _named(
    given: tuple[Word, ...], usage: _Usage, spelled: str, findings: Findings
) -> Iterator[Word]:
    """Yield the words that name variables, according to the options of the command."""
    rest = iter(given)
    for word in rest:
        if not word.known and word.text[:1] in _MAY_BEGIN_OPTIONS:
            if not _is_all(word, given, usage):
                _unknown(word, usage, spelled, findings)
        elif word.text == "--" or not word.text.startswith("-") or word.text == "-":
            if usage.operands:
                yield from rest if word.text == "--" else (word, *rest)
            elif "p" in usage.names:
                continue
            return
        else:
            yield from _valued(word, rest, usage)


def _valued(word: Word, rest: Iterator[Word], usage: _Usage) -> Iterator[Word]:
    """Process a word of options, with the next word if that is a value; yield names."""
    for position, letter in enumerate(word.text[1:], 2):
        if letter not in usage.values and letter not in usage.names:
            continue
        value = Word(word.text[position:]) if position < len(word.text) else next(rest, None)
        if letter in usage.names and value is not None:
            yield value
        elif value is not None and value.many and not value.known:
            # It may be split into a value and names.
            yield value
        return


def _is_all(word: Word, given: tuple[Word, ...], usage: _Usage) -> bool:
    """Return whether a word is the only operand of `printf`, which then sets no variable."""
    return "v" in usage.names and given == (word,) and not word.many


def _unknown(word: Word, usage: _Usage, spelled: str, findings: Findings) -> None:
    """Record what a word may be that may be an option."""
    if "p" in usage.names and not word.text:
        # `wait $pid`: a number, most of the time.
        note_arithmetic_values(spelled.replace('"', ""), findings)
    else:
        findings.gap(_OPTION_NOT_KNOWN)


def _test(given: tuple[Word, ...], spelled: str, findings: Findings) -> None:
    """Record what `-v` evaluates, which any unknown word may be."""
    split = False
    before = False
    for word in given:
        if word.many and word.shape == "opaque" and not split:
            split = True
            note_arithmetic_values(spelled, findings)
        if before:
            note_name_word(word, findings)
        before = _may_be(word, "-v") or _may_be(word, "-R")


def _may_be(word: Word, option: str) -> bool:
    match word.shape:
        case "known":
            return word.text == option
        case "glob":
            return replace(word, text=word.text.replace("\\", "")).may_spell(option)
        case _:
            return not word.many and option.startswith(word.text)


def check_declared(word: Word, *, makes_list: bool, findings: Findings) -> None:
    """Record what the name in a declaration evaluates, and a value that may spell an array."""
    named, equals, value = word.text.partition("=")
    if not word.known and not equals:
        # `declare "$x"` may set any variable.
        findings.gap("a declaration whose names are not known")
        return
    if word.text[:1] in ("-", "+"):
        return
    if makes_list:
        findings.computed.add(f"{named.rstrip('+')}()")
    if _DECLARED.match(word.text) is None:
        bound = word.text.rpartition("]")[0] + "]" if "[" in named else named
        name = note_name_word(Word(bound, "glob" if word.shape == "glob" else "known"), findings)
        if "[" in named:
            findings.computed.add(f"{name}()")
    if not equals:
        return
    if word.known:
        if _LISTED.match(word.text):
            findings.gap("an array in a text, whose substitutions the shell runs")
    elif not value or value.startswith("("):
        if makes_list:
            findings.gap("an array in an unknown text")
        findings.texts.add(f"{named.rstrip('+')}()")
