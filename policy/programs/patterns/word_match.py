"""Whether words of a command match words of a pattern: yes, no, or not known.

A pattern's word is literal, or a glob as in `policy.values`: `*` and `?`, escaped where quoted. A
whole `*` is a run of words, see `Step`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from policy.programs.invocation import GivenOperand
from policy.programs.path_globs import matches_path_glob
from policy.programs.words.separated_parts import REFSPEC, destination, matches_by_parts
from policy.shell import Word
from policy.values import PathPattern, Unreadable, compile_name_glob, escape_glob, read_path_pattern

# A word that must match, or None for a run of words: none or more.
Step: TypeAlias = Word | None

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
ANY_WORD = Word("*", "glob")


def matches_any_words(word: Word) -> bool:
    """Return whether a pattern's word matches any words: a `*`, or the input of `xargs`."""
    if word.shape == "opaque":
        return word.many
    return word.shape == "glob" and not word.text.strip("*")


def pattern_steps(words: Sequence[Word]) -> tuple[Step, ...]:
    """Return the steps of a pattern's words; only a `*` at the end may match no word."""
    steps: list[Step] = []
    for place, word in enumerate(words):
        if not matches_any_words(word):
            steps.append(word)
        elif place == len(words) - 1 or word.shape == "opaque":
            steps.append(None)
        else:
            steps += (ANY_WORD, None)
    return tuple(steps)


def fixed_prefix(word: Word) -> str:
    """Return the certain beginning of a word."""
    return _cut(word)[0]


def word_matches(given: Word, wanted: Word, *, parts: str = "") -> bool | None:
    """Return whether a word matches one word of a pattern; None if it may expand to a match.

    `parts` is the role of a word that consists of parts: also None if a wildcard of the pattern
    would stand for more than one of them.
    """
    if matches_any_words(wanted) or wanted.shape == "opaque":
        return True
    answer = _text_matches(given, wanted)
    if answer and parts and not wanted.known and not matches_by_parts(parts, given, wanted):
        return None
    return answer


def _text_matches(given: Word, wanted: Word) -> bool | None:
    if given.known:
        if given.home != wanted.home:
            return False
        if wanted.known:
            return given.text == wanted.text
        return compile_name_glob(wanted.text)(given.text)
    before, asked = fixed_prefix(given), fixed_prefix(wanted)
    if given.number and asked and not asked[0].isdecimal():
        return False
    if wanted.known:
        return None if asked.startswith(before) else False
    if not given.many and before.startswith(asked) and _cut(wanted)[1] == "*":
        return True
    return None if before.startswith(asked) or asked.startswith(before) else False


def script_matches(given: Word, wanted: Word) -> bool:
    """Return whether a pattern's glob names a file that is run as code.

    Here `*` and `?` match within one segment of the path and `**` matches any number of segments,
    as in paths, so that `bash tools/*.sh` covers no script of another folder.
    """
    if not given.known or given.home != wanted.home or matches_any_words(wanted):
        return False
    path, glob = (text.removeprefix("./") for text in (given.text, wanted.text))
    if path.startswith("/") != glob.startswith("/") or ".." in path.split("/"):
        return False
    names, globs = (
        [segment for segment in text.removeprefix("/").split("/") if segment != "."]
        for text in (path, glob)
    )
    return matches_path_glob(names, globs)


def workspace_files(wanted: Word) -> PathPattern | None:
    """Return the files of the workspace that a script's glob with `./` in front names."""
    if wanted.known or wanted.home or not wanted.text.startswith("./"):
        return None
    files = read_path_pattern(wanted.text)
    return None if isinstance(files, Unreadable) else replace(files, base="workspace")


def operands_match(steps: Sequence[Step], operands: Sequence[GivenOperand]) -> bool | None:
    """Return whether the operands match `steps`, in order.

    At most len(steps) * len(operands) comparisons, twice.
    """
    if len(steps) == 1 and steps[0] is None:
        return True if all(_under_wildcard(one) for one in operands) else None
    if _reaches(steps, operands, surely=True):
        return True
    return None if _reaches(steps, operands, surely=False) else False


def _cut(word: Word) -> tuple[str, str]:
    """Split a word at the end of its known part; only a glob has a second part."""
    if word.shape != "glob":
        return word.text, ""
    pieces: list[str] = []
    place, text = 0, word.text
    while place < len(text) and text[place] not in "*?[":
        if text[place] == "\\" and place + 1 < len(text):
            place += 1
        pieces.append(text[place])
        place += 1
    return "".join(pieces), text[place:]


def _under_wildcard(operand: GivenOperand) -> bool:
    return not operand.guarded and not operand.may_be_option


def _reaches(steps: Sequence[Step], operands: Sequence[GivenOperand], *, surely: bool) -> bool:
    """Walk the words once, with the set of all steps that may be next."""
    places = _past_runs(steps, {0})
    # Where the word before was passed over as an option, of which the next may be the value.
    before_value: set[int] = set()
    for operand in operands:
        after = _after(steps, places, operand, surely=surely)
        if not surely:
            after |= before_value
            after |= places if operand.aside else set()
            before_value = places if operand.aside and _may_take_value(operand.word) else set()
        if operand.word.many and not surely:
            # It may expand to no word, or to several that match.
            after |= places
            grown = places
            while grown:
                grown = _past_runs(steps, _after(steps, after, operand, surely=False)) - after
                after |= grown
        places = _past_runs(steps, after)
        if not places:
            return False
    return len(steps) in places


def _writes_branch(refspec: Word, step: Word) -> bool:
    """Return whether a refspec writes the branch that a pattern names, by another spelling."""
    names = [destination(refspec) or refspec, refspec]
    wanted = [step, destination(step)] if step.known else [step]
    return any(word_matches(name, each) for name in names for each in wanted if each is not None)


def _may_take_value(option: Word) -> bool:
    return option.text.startswith("-") and "=" not in option.text


def is_same_file(operand: GivenOperand, step: Word) -> bool:
    """Return whether a script may be the one that a pattern names, by another path."""
    given, wanted = operand.word, step
    if given.known and step.known and _normal(given) == _normal(step):
        return True
    if operand.file is None:
        return False
    if isinstance(operand.file.path, Unreadable):
        # The script may have made a link there; in an unknown folder only the name is known.
        known = given.known and operand.file.context.directory_unknown
        return not known or _name(given) == _name(wanted)
    return any(operand.file.is_in(files) is not False for files in _named_files(step))


def _normal(word: Word) -> tuple[str, bool]:
    return posixpath.normpath(word.text), word.home


def _name(word: Word) -> str:
    return word.text.rpartition("/")[2].casefold()


def _named_files(step: Word) -> Iterator[PathPattern]:
    """Yield the files of the workspace that a pattern names."""
    text = escape_glob(step.text) if step.known else step.text
    files = read_path_pattern(text)
    if not isinstance(files, Unreadable):
        relative = not step.home and not text.startswith("/")
        yield replace(files, base="workspace") if relative else files


def _past_runs(steps: Sequence[Step], places: set[int]) -> set[int]:
    passed = set(places)
    for place in places:
        while place < len(steps) and steps[place] is None:
            place += 1
            passed.add(place)
    return passed


def _after(
    steps: Sequence[Step], places: set[int], operand: GivenOperand, *, surely: bool
) -> set[int]:
    after: set[int] = set()
    for place in places:
        if place == len(steps):
            continue
        step = steps[place]
        if step is None:
            if not surely or _under_wildcard(operand):
                after.add(place)
        elif _meets(operand, step, surely=surely):
            after.add(place + 1)
    return after


def _meets(operand: GivenOperand, step: Word, *, surely: bool) -> bool:
    if operand.script and not step.known:
        files = None if operand.file is None else workspace_files(step)
        if files is not None and operand.file is not None:
            inside = operand.file.is_in(files)
            return inside is True if surely else inside is not False
        if script_matches(operand.word, step):
            return True
    answer = word_matches(operand.word, step, parts=operand.parts)
    if not surely:
        return (
            answer is not False
            or (operand.script and is_same_file(operand, step))
            or (operand.parts == REFSPEC and _writes_branch(operand.word, step))
        )
    if not answer or operand.word.many:
        return False
    if step.known:
        return True
    asked = fixed_prefix(step)
    if operand.guarded:
        # A harmful word must be spelled; of an assignment, the name.
        return _VARIABLE.match(asked) is not None
    return bool(asked) or not operand.may_be_option
