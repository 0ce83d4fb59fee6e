"""Patterns of commands: their text read once, and commands compared with them word by word.

Until a program is profiled, `*` covers its operands only: an option-like word under a `*`, or
options that may be another spelling of the pattern's, make the answer None.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from policy.values.glob import compile_name_glob, fits_sequence, has_wildcard, literal_text
from policy.values.logic import both
from policy.values.programs import runs_commands
from policy.values.reading import Unreadable
from policy.values.script import (
    Redirection,
    SimpleCommand,
    harmless_redirection,
    is_harmless_name,
)
from policy.values.shell import read_single_command
from policy.values.text import quote

_WordTest: TypeAlias = Callable[[str], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandPattern:
    """One item of a set of commands. Words, values and targets are globs; `*` is any words."""

    words: tuple[str, ...]
    assignments: tuple[tuple[str, str], ...] = ()
    redirections: tuple[Redirection, ...] = ()


def read_command_pattern(text: str) -> CommandPattern | Unreadable:
    """Read an item such as `git diff *`, `TZ=* date +*` or `sort * > out.txt`."""
    command = read_single_command(text, wildcards=True)
    if isinstance(command, Unreadable):
        return command
    if not command.words:
        return Unreadable(reason=f"a command pattern without a program: {quote(text)}")
    if command.words[0] != "*" and has_wildcard(command.words[0]):
        return Unreadable(reason=f"a command pattern names its program: {quote(text)}")
    return CommandPattern(
        words=command.words,
        assignments=command.assignments,
        redirections=command.redirections,
    )


def command_fits(
    command: SimpleCommand, pattern: CommandPattern, *, redirections_covered: bool = False
) -> bool | None:
    """Tell whether `pattern` covers all of the command; None if that cannot be known.

    With `redirections_covered` the caller has another clause for those of
    `uncovered_redirections`.
    """
    answer = _fits_words(command, pattern)
    if answer is not True:
        return answer
    answer = both(answer, _fits_assignments(command, pattern))
    uncovered = uncovered_redirections(command, pattern)
    if uncovered and not redirections_covered:
        answer = both(answer, None)
    if pattern.redirections and not _has_redirections(command, pattern):
        # An uncovered one may be another spelling of the pattern's.
        return both(answer, None) if uncovered else False
    return answer


def uncovered_redirections(
    command: SimpleCommand, pattern: CommandPattern | None = None
) -> tuple[Redirection, ...]:
    """Return the redirections that are neither harmless nor spelled out by the pattern."""
    spelled = pattern.redirections if pattern is not None else ()
    return tuple(
        item
        for item in command.redirections
        if not harmless_redirection(item) and not any(_same(item, each) for each in spelled)
    )


def is_option_like(word: str) -> bool:
    """Tell whether a word may be an option to a program that nothing is known of.

    `-` and `--` are none; `+x` and `:x` are options to some programs.
    """
    return word[:1] in ("-", "+", ":") and word not in ("-", "--", ":", "+")


def _same(item: Redirection, spelled: Redirection) -> bool:
    if (item.op, item.fd) != (spelled.op, spelled.fd):
        return False
    # A target that leads elsewhere by dots is not what the pattern spelled.
    if ".." in item.target.split("/") and has_wildcard(spelled.target):
        return False
    return compile_name_glob(spelled.target)(item.target)


def _has_redirections(command: SimpleCommand, pattern: CommandPattern) -> bool:
    return all(
        any(_same(item, spelled) for item in command.redirections)
        for spelled in pattern.redirections
    )


def _fits_assignments(command: SimpleCommand, pattern: CommandPattern) -> bool | None:
    given = {name for name, _ in command.assignments}
    if any(name not in given for name, _ in pattern.assignments):
        return False
    answer: bool | None = True
    for name, value in command.assignments:
        spelled = [glob for each, glob in pattern.assignments if each == name]
        if spelled:
            if not any(compile_name_glob(glob)(value) for glob in spelled):
                return False
        elif not is_harmless_name(name):
            answer = None
    return answer


def _fits_words(command: SimpleCommand, pattern: CommandPattern) -> bool | None:
    words = command.words
    if not words:
        return False
    compiled = _compile(pattern.words)
    if compiled.literal is not None:
        if compiled.literal == words:
            return True
    elif fits_sequence(compiled.clean, words, run_takes=_is_operand):
        return None if runs_commands(words) else True
    elif fits_sequence(compiled.loose, words):
        return None
    return None if _may_mean(words, compiled) or runs_commands(words) else False


def _may_mean(words: tuple[str, ...], compiled: _Compiled) -> bool:
    """Tell whether the command may be another spelling of what the pattern fits."""
    program = compiled.program
    if program is None:
        return False
    name = words[0].rpartition("/")[2]
    if words[0] != program:
        if "/" in program or name != program:
            return False
        # The same program by its path, if it is the same.
        return _may_mean((program, *words[1:]), compiled) or fits_sequence(
            compiled.loose, (program, *words[1:])
        )
    if not any(is_option_like(word) for word in words[1:]):
        return False
    rest = set(words[1:])
    return all(operand in rest for operand in compiled.operands)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compiled:
    # The words, where the pattern has no wildcard.
    literal: tuple[str, ...] | None
    program: str | None
    # The literal words after the program that are no options.
    operands: tuple[str, ...]
    # Tests of the words: `clean` lets no option-like word under a wildcard, `loose` any.
    clean: tuple[_WordTest | None, ...]
    loose: tuple[_WordTest | None, ...]


@lru_cache(maxsize=4096)
def _compile(words: tuple[str, ...]) -> _Compiled:
    literals = [literal_text(word) for word in words]
    known = [text for text in literals if text is not None]
    return _Compiled(
        literal=tuple(known) if len(known) == len(words) else None,
        program=literals[0],
        operands=tuple(
            text for text in literals[1:] if text is not None and not is_option_like(text)
        ),
        clean=tuple(_tests(words, clean=True)),
        loose=tuple(_tests(words, clean=False)),
    )


def _tests(words: tuple[str, ...], *, clean: bool) -> list[_WordTest | None]:
    """Turn words into tests; a `*` is one word or more, the last one none or more."""
    tests: list[_WordTest | None] = []
    for place, word in enumerate(words):
        if word != "*":
            tests.append(_word_test(word, clean=clean))
        elif 0 < place == len(words) - 1:
            tests.append(None)
        else:
            tests += [_is_operand if clean else _any_word, None]
    return tests


def _word_test(word: str, *, clean: bool) -> _WordTest:
    test = compile_name_glob(word)
    if not clean or not word.startswith(("*", "?")):
        return test
    return lambda text: test(text) and not is_option_like(text)


def _any_word(_: str) -> bool:
    return True


def _is_operand(word: str) -> bool:
    return not is_option_like(word)
