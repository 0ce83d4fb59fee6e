"""Other readings of a command in which a word that only the shell knows is an option, or none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TypeAlias

from policy.programs.arguments.items import OptionItem, ParsedArguments, option_names
from policy.programs.profiles.profile import Profile
from policy.shell import Word

Words: TypeAlias = tuple[Word, ...]

# More values that may be no words, or words that may be options, are not read in all ways.
MOST_UNCERTAIN = 3
_END_OF_OPTIONS = Word("--")
_ANY_WORDS = Word("", "opaque", many=True)


def has_too_many(parts: ParsedArguments) -> bool:
    """Return whether there are more readings than are worth an analysis."""
    absent = len(parts.vanishing) + len(parts.emptying)
    return max(absent, len(_before_options(parts))) > MOST_UNCERTAIN


def other_readings(words: Words, parts: ParsedArguments, profile: Profile) -> Iterator[Words]:
    """Yield the words as a program may get them, besides as they are spelled.

    A value may be no word: `sort -k $x -o out` then sorts `out` by the key `-o`. It may be empty
    behind its option: `env -u"$x" ls rm a` then runs `rm`. A word may be
    `--`, after which options are operands; an option that takes the next one as its value; or one
    with which the program means other things by its operands.
    """
    places = (*parts.vanishing, *parts.emptying)
    for count in range(1, len(places) + 1):
        for absent in combinations(places, count):
            yield _without(words, absent, parts)
    for place in _before_options(parts):
        yield _in_place_of(words, place, (_END_OF_OPTIONS,), parts)
        if profile.style == "posix":
            # The word is an operand, and so are all words after it.
            yield (*words[:place], _END_OF_OPTIONS, *words[place:])
        if place + 1 in parts.option_starts:
            yield (*words[: place + 1], *words[place + 2 :])
    places = (*parts.uncertain, *parts.splitting)
    if places:
        for option in _decisive_options(profile, parts, words[places[0]]):
            yield _in_place_of(words, places[0], option, parts)


def _without(words: Words, absent: Sequence[int], parts: ParsedArguments) -> Words:
    """Return the words without some values: a word of its own is gone, a glued one is empty."""
    return tuple(
        Word(word.text.rstrip("*")) if place in absent else word
        for place, word in enumerate(words)
        if place not in absent or place in parts.emptying
    )


def _before_options(parts: ParsedArguments) -> list[int]:
    """Return the places of words that may be options, before others that are."""
    last = max(parts.option_starts, default=-1)
    return [place for place in (*parts.uncertain, *parts.splitting) if place < last]


def _in_place_of(words: Words, place: int, instead: Words, parts: ParsedArguments) -> Words:
    """Return the words with others as what one of them may be, or as what follows a value."""
    word = words[place]
    before, after = words[:place], words[place + 1 :]
    if place in parts.splitting:
        return (*before, word, _ANY_WORDS, *instead, _ANY_WORDS, *after)
    if word.many:
        return (*before, word, *instead, word, *after)
    return (*before, *instead, *after)


def _decisive_options(profile: Profile, parts: ParsedArguments, word: Word) -> Iterator[Words]:
    """Yield options that a word may be with which a variant of the profile holds, each as words."""
    given: set[str] = set()
    for item in parts.items:
        if isinstance(item, OptionItem):
            given |= option_names(item)
    for variant in profile.variants:
        if not variant.holds(given):
            also = variant.also if variant.also.isdisjoint(given) else frozenset()
            yield (*_spelled(also, profile, word), *_spelled(variant.given, profile, word))


def _spelled(names: frozenset[str], profile: Profile, word: Word) -> Words:
    """Return the first of some options that a word may be, as words.

    A value that is not known is glued to it. The name of a file that a wildcard finds is a flag, or
    begins with one (`-rx.py`); or it ends with the value (`-fx.py`).
    """
    for text in sorted(names):
        name, _, value = text.partition("=")
        option = next((one for one in profile.options.values() if one.name == name), None)
        if option is not None and option.takes == "nothing":
            if word.shape == "glob" and name[:2] == "--" and not word.may_spell(name):
                continue
            return (Word(name),)
        glue = "=" if name.startswith("--") else ""
        if value and "*" not in value:
            return (Word(f"{name}{glue}{value}"),)
        if word.shape == "glob" and word.text.startswith("*"):
            return (replace(word, text=name + glue + word.text),)
        return (Word(name + glue, "opaque"),)
    return ()
