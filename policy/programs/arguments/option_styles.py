"""How options are spelled in each style: one function a style, which parses the next word."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from policy.programs.arguments.item_recorder import ItemRecorder
from policy.programs.arguments.items import OptionItem
from policy.programs.arguments.unknown_words import WILD, may_be_empty
from policy.programs.profiles.profile import NUMBER, Option, Style
from policy.shell import Word

_DIGITS = frozenset("0123456789")


def _dashed(recorder: ItemRecorder, word: Word) -> bool:
    """Parse `-abc`, `-ovalue`, `--long` or `--long=value`; return whether it was one."""
    text = word.text
    if len(text) > 1 and text[0] == "+" and recorder.profile.plus:
        _cluster(recorder, word)
        return True
    if len(text) < 2 or text[0] != "-":
        if text == "-" and word.shape != "known":
            recorder.unknown(word)
            return True
        return False
    if text.startswith("--"):
        _long(recorder, word)
    elif len(text) == 2 or not _long_by_one_dash(recorder, word):
        _cluster(recorder, word)
    return True


def _long_by_one_dash(recorder: ItemRecorder, word: Word) -> bool:
    """Parse `-std=c99` or `-nv`, if the profile has it; return whether it does."""
    name, equals, value = word.text.partition("=")
    option = recorder.options.get(name)
    if option is None or len(name) == 2 or not (equals or word.shape == "known"):
        return False
    if equals:
        recorder.note_option(option, name, value=replace(word, text=value, home=False))
    else:
        recorder.note_option(option, name)
    return True


def _long(recorder: ItemRecorder, word: Word) -> None:
    name, equals, value = word.text.partition("=")
    if not equals and word.shape != "known":
        recorder.unknown(word)
        return
    option = recorder.options.get(name) or _beginning(recorder, name)
    if option is None:
        recorder.unknown(word, loose=not equals)
    elif equals:
        recorder.note_option(option, name, value=replace(word, text=value, home=False))
    else:
        recorder.note_option(option, name)


def _beginning(recorder: ItemRecorder, name: str) -> Option | None:
    """Return the only option whose name begins so."""
    found = {
        option.name: option
        for spelling, option in recorder.options.items()
        if spelling.startswith(name) and spelling.startswith("--")
    }
    return next(iter(found.values())) if len(found) == 1 and len(name) > 2 else None


def _cluster(recorder: ItemRecorder, word: Word) -> None:
    """Parse `-abc`: flags, the last of which may take the rest or the next word as a value."""
    text = word.text
    at = 1
    while at < len(text):
        spelling = text[0] + text[at]
        option = recorder.options.get(spelling)
        if option is None and text[at] in _DIGITS and NUMBER in recorder.options:
            end = _end_of_digits(text, at)
            number = Word(text[at:end])
            recorder.note(OptionItem(recorder.options[NUMBER], "-" + number.text, number))
            at = end
            continue
        if option is None or (word.shape == "glob" and text[at] in WILD):
            recorder.unknown(replace(word, text=text[0] + text[at:]))
            return
        at += 1
        rest = at < len(text) or word.shape != "known"
        if option.takes == "number":
            end = _end_of_digits(text, at)
            value = Word(text[at:end]) if end > at else None
            recorder.note(OptionItem(option, spelling, value))
            at = end
        elif option.takes == "nothing":
            recorder.note(OptionItem(option, spelling))
        elif rest:
            if option.takes == "value" and may_be_empty(word, at):
                recorder.may_be_empty()
            recorder.note_option(option, spelling, value=replace(word, text=text[at:], home=False))
            return
        else:
            recorder.note_option(option, spelling)
            return
    if word.shape == "known":
        recorder.at += 1
    else:
        recorder.unknown(replace(word, text="-"))


def _listed(recorder: ItemRecorder, word: Word) -> bool:
    """Parse an option of the style `listed`; any other word, with a dash too, is an operand."""
    option = recorder.options.get(word.text) if word.shape == "known" else None
    if option is not None:
        recorder.note_option(option, word.text)
    return option is not None


def _whole(recorder: ItemRecorder, word: Word) -> bool:
    """Parse an option that is a whole word; return whether it was one."""
    text = word.text
    if word.shape == "known" and (option := recorder.options.get(text)) is not None:
        recorder.note_option(option, text)
        return True
    name, equals, value = text.partition("=")
    if equals and (option := recorder.options.get(name)) is not None:
        recorder.note_option(option, name, value=replace(word, text=value, home=False))
        return True
    if text[:1] != "-" or (text == "-" and word.shape == "known"):
        return _glued(recorder, word) if text else False
    if not _glued(recorder, word):
        _number(recorder, word)
    return True


def _glued(recorder: ItemRecorder, word: Word) -> bool:
    best = ""
    for spelling, option in recorder.options.items():
        if option.takes in ("glued", "number") and word.text.startswith(spelling):
            best = max(best, spelling, key=len)
    if not best:
        return False
    value = replace(word, text=word.text[len(best) :], home=False)
    recorder.note_option(recorder.options[best], best, value=value)
    return True


def _number(recorder: ItemRecorder, word: Word) -> None:
    text = word.text
    if NUMBER in recorder.options and word.shape == "known" and _DIGITS.issuperset(text[1:]):
        recorder.note_option(recorder.options[NUMBER], text, value=Word(text[1:]))
    else:
        recorder.unknown(word)


def _pair(recorder: ItemRecorder, word: Word) -> bool:
    """Parse `name=value`; return whether it was one."""
    name, equals, value = word.text.partition("=")
    option = recorder.options.get(name)
    if equals and option is not None:
        recorder.note_option(option, name, value=replace(word, text=value, home=False))
    elif word.shape == "known" and option is not None:
        recorder.at += 1
        recorder.note(OptionItem(option, name))
    elif equals or word.text.startswith("-"):
        recorder.unknown(word, loose=False)
    else:
        return False
    return True


def _end_of_digits(text: str, start: int) -> int:
    while start < len(text) and text[start] in _DIGITS:
        start += 1
    return start


# What parses the next word, if it is an option; each returns whether it was one.
TAKES: dict[Style, Callable[[ItemRecorder, Word], bool]] = {
    "gnu": _dashed,
    "posix": _dashed,
    "words": _whole,
    "pairs": _pair,
    "listed": _listed,
}


def take_bundle(recorder: ItemRecorder) -> None:
    """Parse a first word of options without a dash; their values are the words after it."""
    if not recorder.words or recorder.words[0].shape != "known":
        return
    if not recorder.words[0].text.isascii() or recorder.words[0].text[:1] in ("-", ""):
        return
    recorder.at = 1
    for letter in recorder.words[0].text:
        option = recorder.options.get("-" + letter)
        if option is None:
            recorder.items.append(OptionItem(None, "-" + letter, loose=True))
        elif option.takes == "value" and recorder.at < len(recorder.words):
            recorder.note(OptionItem(option, "-" + letter, recorder.words[recorder.at]))
            recorder.at += 1
            recorder.note_further(recorder.words[recorder.at - 1], option)
        else:
            recorder.note(OptionItem(option, "-" + letter))
