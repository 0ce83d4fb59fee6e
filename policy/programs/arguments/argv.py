"""Parses the words after a program's name into options and operands, by its profile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TypeAlias

from policy.programs.profiles.profile import (
    MANY_WORDS,
    NUMBER,
    UNTIL_THE_END,
    Option,
    Profile,
    Style,
)
from policy.shell import Word

_DIGITS = frozenset("0123456789")
# Values that switch a flag on or off where a parser accepts any: `--watch=false`.
_SWITCHES = frozenset("true false yes no on off 0 1 t f".split())
_WILD = frozenset("*?[\\")
# What an unknown text adds after its first word, and what a number that may be several adds.
_ANY_WORDS = Word("", "opaque", many=True)
_NUMBERS = Word("[0-9]*", "glob", many=True)


# Items are plain classes that are not modified after construction: one is made for every word of a
# command, and a frozen dataclass takes twice as long to make.


class OptionItem:
    """An option of a command; `option` is None if the profile does not know it.

    `words` are the words of a command that the option runs, `more` its values after the first.
    `loose`: the next word may be its value. `unsure`: it may itself be the value of the option
    before it, whose value may be no word.
    """

    __slots__ = ("loose", "more", "option", "spelled", "unsure", "value", "words")

    def __init__(
        self,
        option: Option | None,
        spelled: str,
        value: Word | None = None,
        words: tuple[Word, ...] = (),
        *,
        more: tuple[Word, ...] = (),
        loose: bool = False,
    ) -> None:
        self.option = option
        self.spelled = spelled
        self.value = value
        self.words = words
        self.more = more
        self.loose = loose
        self.unsure = False

    def with_option(self, option: Option) -> OptionItem:
        """Return the same item with another meaning."""
        item = OptionItem(
            option, self.spelled, self.value, self.words, more=self.more, loose=self.loose
        )
        item.unsure = self.unsure
        return item


class OperandItem:
    """An operand, or an unknown word that may be an option.

    `no_option`: it stands behind all options, and for none: `-- "$x"`.
    """

    __slots__ = ("may_be_option", "no_option", "word")

    def __init__(self, word: Word, *, may_be_option: bool = False, no_option: bool = False) -> None:
        self.word = word
        self.may_be_option = may_be_option
        self.no_option = no_option


Item: TypeAlias = OptionItem | OperandItem


@dataclass(frozen=True, slots=True)
class ParsedArguments:
    """The options and operands of a command; `rest` are the words from its subcommand on.

    The others are indexes of words. `vanishing` are values that may be no word, so that the option
    takes the option after them as its value. `uncertain` are operands that may be options, and
    `splitting` the last words of options whose values may be followed by options; `option_starts`
    are words that are options.
    """

    items: tuple[Item, ...]
    rest: tuple[Word, ...] = ()
    vanishing: tuple[int, ...] = ()
    uncertain: tuple[int, ...] = ()
    splitting: tuple[int, ...] = ()
    option_starts: frozenset[int] = frozenset()


def parse_arguments(words: tuple[Word, ...], profile: Profile) -> ParsedArguments:
    """Parse the words after a program's name in the style of its profile."""
    reader = _ArgumentReader(words, profile)
    reader.read()
    rest = (*reader.before_subcommand, *words[reader.at :])
    if not (reader.vanishing or reader.uncertain or reader.splitting):
        return ParsedArguments(tuple(reader.items), rest)
    return ParsedArguments(
        tuple(reader.items),
        rest,
        tuple(reader.vanishing),
        tuple(reader.uncertain),
        tuple(reader.splitting),
        frozenset(reader.option_starts),
    )


def operand_roles(profile: Profile, given: set[str]) -> tuple[str, ...]:
    """Return the roles of operands when these options are present."""
    roles = profile.operands
    for variant in profile.variants:
        if variant.operands is not None and variant.holds(given):
            roles = variant.operands
    return roles


MAIN_MODULE = ".__main__"


def option_names(item: OptionItem) -> set[str]:
    """Return the names that a variant may use for an option: its name, alone and with its value.

    A value `policy.cli`, as of a module, is also `policy.*`.
    """
    if item.option is None:
        return set()
    name = item.option.name
    if item.value is None or not item.value.known:
        return {name}
    text = item.value.text
    package, dot, _ = text.partition(".")
    below = {f"{name}={package}.*"} if dot else set()
    # What `python -m` runs of a package is its module of this name.
    return {name, f"{name}={text}", f"{name}={text.removesuffix(MAIN_MODULE)}", *below}


def may_become_several(word: Word) -> bool:
    """Return whether a word may expand to no word or to several."""
    return word.many or word.shape == "glob"


def _may_vanish(word: Word) -> bool:
    """Return whether a word may expand to no word; a wildcard without matches is passed on."""
    return word.many and word.shape == "opaque"


class _ArgumentReader:
    """One pass over the words."""

    def __init__(self, words: tuple[Word, ...], profile: Profile) -> None:
        self.words = words
        self.profile = profile
        self.options = profile.options
        self.items: list[Item] = []
        self.at = 0
        # Words before the subcommand that may be the subcommand: `git -C $x log`.
        self.before_subcommand: tuple[Word, ...] = ()
        self.vanishing: list[int] = []
        self.uncertain: list[int] = []
        self.splitting: list[int] = []
        self.option_starts: list[int] = []
        self._may_be_value = -1
        self._given: set[str] = set()
        self._operands = 0
        self._has_sub = bool(profile.subcommands)
        self._stops = profile.style == "posix"
        self._runs = profile.runs_operands
        self._until_end = profile.runs_until_end
        # The operand after which all words are for what it names: `go run . -v`.
        argued = profile.operands[-1:] == ("argument...",) and profile.style in ("words", "listed")
        self._named = len(profile.operands) - 2 if argued else -1

    def read(self) -> None:
        """Parse all words, or those before a subcommand."""
        if self.profile.bundled_first:
            self._bundle()
        count, ended = len(self.words), False
        take = _TAKES[self.profile.style]
        while self.at < count and not self.before_subcommand:
            word = self.words[self.at]
            if word.shape == "known" and word.text == "--" and "--" not in self.options:
                self.at += 1
                if self.profile.style == "pairs":
                    continue  # what follows are pairs all the same
                ended = self.profile.style in ("gnu", "posix")
                break
            place, before = self.at, len(self.items)
            if take(self, word):
                self.option_starts.append(place)
                if place == self._may_be_value or self.uncertain or self.splitting:
                    self._doubt(before)
                continue
            if self._has_sub:
                if self._chooses(word):
                    continue
                return
            may_be_option = self._may_be_option(word)
            if not may_be_option and self._ends_options():
                break
            self._operand(word, may_be_option=may_be_option)
        if self._has_sub:
            return
        for word in self.words[self.at :]:
            self._operand(word, no_option=ended)

    def _doubt(self, start: int) -> None:
        """Record that the items from one on may be no options.

        They may be the value of an option before them, or stand behind an unknown `--`.
        """
        for item in self.items[start:]:
            if isinstance(item, OptionItem):
                item.unsure = True

    def _chooses(self, word: Word) -> bool:
        """Parse a word before the subcommand that begins with `+`: `cargo +nightly test`."""
        if not word.known or not word.text.startswith("+"):
            return False
        name = next(
            (self.profile.means[g] for g in self.profile.means if fnmatchcase(word.text, g)), ""
        )
        if name not in self.options:
            return False
        self._note_option(self.options[name], word.text)
        return True

    def _operand(self, word: Word, *, may_be_option: bool = False, no_option: bool = False) -> None:
        if self._until_end and word.known and word.text == ";":
            # The command before it did not end where it seemed to: `find -ok rm {} + … ;`.
            self._unknown(word)
            return
        self.at += 1
        self._operands += 1
        if not may_be_option and word.shape != "known" and not word.number:
            may_be_option = self._may_mean(word)
        no_option = no_option and not may_be_option
        self.items.append(OperandItem(word, may_be_option=may_be_option, no_option=no_option))
        if may_be_option:
            self.uncertain.append(self.at - 1)

    def _ends_options(self) -> bool:
        """Return whether every word from this operand on is an operand."""
        if self._stops or self._operands == self._named:
            return True
        if not self._runs:
            return False
        roles = operand_roles(self.profile, self._given)
        return self._operands < len(roles) and roles[self._operands] in MANY_WORDS

    def _may_be_option(self, word: Word) -> bool:
        if word.shape == "known" or word.number:
            return False
        text = word.text
        if word.shape == "glob":
            return text[:1] in ("*", "?", "[")
        if word.many:
            return True  # `a$x` may be split into `a` and an option
        if self.profile.style == "pairs":
            return "=" not in text
        return not text

    def _may_mean(self, word: Word) -> bool:
        """Return whether an unknown operand may stand for an option."""
        if not self.profile.means:
            return False
        begins = _literal(word)
        return any(
            fnmatchcase(begins, glob) or _may_begin(begins, _literal(Word(glob, "glob")))
            for glob in self.profile.means
        )

    def _dashed(self, word: Word) -> bool:
        """Parse `-abc`, `-ovalue`, `--long` or `--long=value`; return whether it was one."""
        text = word.text
        if len(text) > 1 and text[0] == "+" and self.profile.plus:
            self._cluster(word)
            return True
        if len(text) < 2 or text[0] != "-":
            if text == "-" and word.shape != "known":
                self._unknown(word)
                return True
            return False
        if text.startswith("--"):
            self._long(word)
        elif len(text) == 2 or not self._long_by_one_dash(word):
            self._cluster(word)
        return True

    def _long_by_one_dash(self, word: Word) -> bool:
        """Parse `-std=c99` or `-nv`, if the profile has it; return whether it does."""
        name, equals, value = word.text.partition("=")
        option = self.options.get(name)
        if option is None or len(name) == 2 or not (equals or word.shape == "known"):
            return False
        if equals:
            self._note_option(option, name, value=replace(word, text=value, home=False))
        else:
            self._note_option(option, name)
        return True

    def _long(self, word: Word) -> None:
        name, equals, value = word.text.partition("=")
        if not equals and word.shape != "known":
            self._unknown(word)
            return
        option = self.options.get(name) or self._beginning(name)
        if option is None:
            self._unknown(word, loose=not equals)
        elif equals:
            self._note_option(option, name, value=replace(word, text=value, home=False))
        else:
            self._note_option(option, name)

    def _beginning(self, name: str) -> Option | None:
        """Return the only option whose name begins so."""
        found = {
            option.name: option
            for spelling, option in self.options.items()
            if spelling.startswith(name) and spelling.startswith("--")
        }
        return next(iter(found.values())) if len(found) == 1 and len(name) > 2 else None

    def _cluster(self, word: Word) -> None:
        """Parse `-abc`: flags, the last of which may take the rest or the next word as a value."""
        text = word.text
        at = 1
        while at < len(text):
            spelling = text[0] + text[at]
            option = self.options.get(spelling)
            if option is None and text[at] in _DIGITS and NUMBER in self.options:
                end = _end_of_digits(text, at)
                number = Word(text[at:end])
                self._note(OptionItem(self.options[NUMBER], "-" + number.text, number))
                at = end
                continue
            if option is None or (word.shape == "glob" and text[at] in _WILD):
                self._unknown(replace(word, text=text[0] + text[at:]))
                return
            at += 1
            rest = at < len(text) or word.shape != "known"
            if option.takes == "number":
                end = _end_of_digits(text, at)
                value = Word(text[at:end]) if end > at else None
                self._note(OptionItem(option, spelling, value))
                at = end
            elif option.takes == "nothing":
                self._note(OptionItem(option, spelling))
            elif rest:
                self._note_option(option, spelling, value=replace(word, text=text[at:], home=False))
                return
            else:
                self._note_option(option, spelling)
                return
        if word.shape == "known":
            self.at += 1
        else:
            self._unknown(replace(word, text="-"))

    def _listed(self, word: Word) -> bool:
        """Parse an option of the style `listed`; any other word, with a dash too, is an operand."""
        option = self.options.get(word.text) if word.shape == "known" else None
        if option is not None:
            self._note_option(option, word.text)
        return option is not None

    def _whole(self, word: Word) -> bool:
        """Parse an option that is a whole word; return whether it was one."""
        text = word.text
        if word.shape == "known" and (option := self.options.get(text)) is not None:
            self._note_option(option, text)
            return True
        name, equals, value = text.partition("=")
        if equals and (option := self.options.get(name)) is not None:
            self._note_option(option, name, value=replace(word, text=value, home=False))
            return True
        if text[:1] != "-" or (text == "-" and word.shape == "known"):
            return self._glued(word) if text else False
        if not self._glued(word):
            self._number(word)
        return True

    def _glued(self, word: Word) -> bool:
        best = ""
        for spelling, option in self.options.items():
            if option.takes in ("glued", "number") and word.text.startswith(spelling):
                best = max(best, spelling, key=len)
        if not best:
            return False
        value = replace(word, text=word.text[len(best) :], home=False)
        self._note_option(self.options[best], best, value=value)
        return True

    def _number(self, word: Word) -> None:
        text = word.text
        if NUMBER in self.options and word.shape == "known" and _DIGITS.issuperset(text[1:]):
            self._note_option(self.options[NUMBER], text, value=Word(text[1:]))
        else:
            self._unknown(word)

    def _pair(self, word: Word) -> bool:
        """Parse `name=value`; return whether it was one."""
        name, equals, value = word.text.partition("=")
        option = self.options.get(name)
        if equals and option is not None:
            self._note_option(option, name, value=replace(word, text=value, home=False))
        elif word.shape == "known" and option is not None:
            self.at += 1
            self._note(OptionItem(option, name))
        elif equals or word.text.startswith("-"):
            self._unknown(word, loose=False)
        else:
            return False
        return True

    def _bundle(self) -> None:
        """Parse a first word of options without a dash; their values are the words after it."""
        if not self.words or self.words[0].shape != "known":
            return
        if not self.words[0].text.isascii() or self.words[0].text[:1] in ("-", ""):
            return
        self.at = 1
        for letter in self.words[0].text:
            option = self.options.get("-" + letter)
            if option is None:
                self.items.append(OptionItem(None, "-" + letter, loose=True))
            elif option.takes == "value" and self.at < len(self.words):
                self._note(OptionItem(option, "-" + letter, self.words[self.at]))
                self.at += 1
                self._note_further(self.words[self.at - 1], option)
            else:
                self._note(OptionItem(option, "-" + letter))

    def _note_option(self, option: Option, spelled: str, *, value: Word | None = None) -> None:
        """Record an option, with its value or the words that it takes."""
        self.at += 1
        if value is not None and not _accepts(option, value):
            # Another version of the program may have an option of this name that takes a value.
            self._note(OptionItem(None, f"{spelled}={value.text}"))
            return
        if option.takes != "value" or option.role in MANY_WORDS:
            first = () if value is None else (value,)
            words = self._words_of(option, first) if option.takes == "value" else ()
            self._note(OptionItem(option, spelled, None if words else value, words))
            if value is not None and not words:
                self._note_further(value, option, glued=True)
        elif value is not None or self.at < len(self.words):
            self._note_values(option, spelled, value)
        else:
            self._note(OptionItem(option, spelled))
        if option.last:
            for word in self.words[self.at :]:
                self._operand(word)

    def _note_values(self, option: Option, spelled: str, value: Word | None) -> None:
        """Record an option with its first value (glued, or the next word) and all further ones."""
        count = len(option.more) + (value is None)
        taken = self.words[self.at : self.at + count]
        self.at += len(taken)
        first, more = (taken[0], taken[1:]) if value is None else (value, taken)
        loose = any(map(may_become_several, taken))
        self._note(OptionItem(option, spelled, first, more=more, loose=loose))
        if value is not None:
            self._note_further(value, option, glued=True)
        for word in taken:
            self._note_further(word, option)
        following = self.words[self.at : self.at + 1]
        if following and (following[0].text[:1] == "-" or not following[0].known):
            vanishing = [
                i for i in range(self.at - len(taken), self.at) if _may_vanish(self.words[i])
            ]
            if vanishing:
                self.vanishing += vanishing
                self._may_be_value = self.at

    def _note_further(self, word: Word, option: Option, *, glued: bool = False) -> None:
        """Record the words after the first that the value of an option may be split into.

        They are options and operands as any others: `$x` of `git log -n $x` may be
        `1 --output=x`. Every name that a glued wildcard finds begins with the option: `-n*`.
        """
        if not word.many or (glued and word.shape == "glob"):
            return
        further = _ANY_WORDS
        if word.number:
            further = _NUMBERS
        elif word.shape == "glob":
            further = word
        if self._has_sub:
            self.before_subcommand = (further,)
            return
        may_be_option = not option.last and not word.number and self._may_be_option(further)
        if not may_be_option and not word.number:
            may_be_option = self._may_mean(further)
        self.items.append(OperandItem(further, may_be_option=may_be_option))
        if may_be_option:
            self.splitting.append(self.at - 1)

    def _words_of(self, option: Option, first: tuple[Word, ...]) -> tuple[Word, ...]:
        start, end = self.at, len(self.words)
        if option.role in UNTIL_THE_END:
            end = next((i for i in range(start, end) if self._ends_words(i)), end)
        self.at = min(end + (option.role in UNTIL_THE_END), len(self.words))
        words = self.words[start:end]
        if option.role not in UNTIL_THE_END:
            return (*first, *words)
        if any(word.known and word.text == "+" for word in words):
            # Some programs end the command at any `+`.
            self.items.append(OptionItem(None, "+"))
        if self.words[end : end + 1] and self.words[end].text == "+":
            # All the names that fit into one command: `find . -exec rm {} +`.
            words = (*words[:-1], replace(words[-1], many=True))
        return (*first, *words)

    def _ends_words(self, index: int) -> bool:
        text = self.words[index].text
        return text == ";" or (text == "+" and self.words[index - 1].text == "{}")

    def _note(self, item: OptionItem) -> None:
        self.items.append(item)
        self._given |= option_names(item)

    def _unknown(self, word: Word, *, loose: bool = True) -> None:
        self.at += 1
        self.items.append(OptionItem(None, word.text, loose=loose))


_TAKES: dict[Style, Callable[[_ArgumentReader, Word], bool]] = {
    "gnu": _ArgumentReader._dashed,
    "posix": _ArgumentReader._dashed,
    "words": _ArgumentReader._whole,
    "pairs": _ArgumentReader._pair,
    "listed": _ArgumentReader._listed,
}


def _accepts(option: Option, value: Word) -> bool:
    """Return whether an option may have a glued value: flags only `--watch=false` and `-9`."""
    if option.takes != "nothing" or NUMBER in option.spellings:
        return True
    return value.known and value.text.lower() in _SWITCHES


def _end_of_digits(text: str, start: int) -> int:
    while start < len(text) and text[start] in _DIGITS:
        start += 1
    return start


def _literal(word: Word) -> str:
    """Return the part that a word surely begins with."""
    if word.shape != "glob":
        return word.text
    end = next((i for i, char in enumerate(word.text) if char in _WILD), len(word.text))
    return word.text[:end]


def _may_begin(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)
