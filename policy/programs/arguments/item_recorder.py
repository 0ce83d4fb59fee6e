"""Records the options and operands of one command, with the values that options take."""

from __future__ import annotations

from dataclasses import replace

from policy.programs.arguments.items import Item, OperandItem, OptionItem, option_names
from policy.programs.arguments.unknown_words import (
    may_be_option,
    may_become_several,
    may_mean,
    may_vanish,
)
from policy.programs.profiles.profile import MANY_WORDS, NUMBER, UNTIL_THE_END, Option, Profile
from policy.shell import Word

# Values that switch a flag on or off where a parser accepts any: `--watch=false`.
_SWITCHES = frozenset("true false yes no on off 0 1 t f".split())
# What an unknown text adds after its first word, and what a number that may be several adds.
_ANY_WORDS = Word("", "opaque", many=True)
_NUMBERS = Word("[0-9]*", "glob", many=True)


class ItemRecorder:
    """The items of one command up to the word `at`; whoever reads the words tells it what they are.

    `given` are the names of the options so far, `operands` counts the operands.
    """

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
        self.emptying: list[int] = []
        self.option_starts: list[int] = []
        self.given: set[str] = set()
        self.operands = 0
        self.has_subcommands = bool(profile.subcommands)
        self._runs_until_end = profile.runs_until_end
        # The place of a word that may be the value of the option before it.
        self.may_be_value = -1

    def operand(self, word: Word, *, may_be_option: bool = False, no_option: bool = False) -> None:
        """Record the next word as an operand, or as one that may be an option."""
        if self._runs_until_end and word.known and word.text == ";":
            # The command before it did not end where it seemed to: `find -ok rm {} + … ;`.
            self.unknown(word)
            return
        self.at += 1
        self.operands += 1
        if not may_be_option and word.shape != "known" and not word.number:
            may_be_option = may_mean(word, self.profile)
        no_option = no_option and not may_be_option
        self.items.append(OperandItem(word, may_be_option=may_be_option, no_option=no_option))
        if may_be_option:
            self.uncertain.append(self.at - 1)

    def note_option(self, option: Option, spelled: str, *, value: Word | None = None) -> None:
        """Record an option, with its value or the words that it takes."""
        self.at += 1
        if value is not None and not _accepts(option, value):
            # Another version of the program may have an option of this name that takes a value.
            self.note(OptionItem(None, f"{spelled}={value.text}"))
            return
        if option.takes != "value" or option.role in MANY_WORDS:
            first = () if value is None else (value,)
            words = self._words_of(option, first) if option.takes == "value" else ()
            self.note(OptionItem(option, spelled, None if words else value, words))
            if value is not None and not words:
                self.note_further(value, option, glued=True)
        elif value is not None or self.at < len(self.words):
            self._note_values(option, spelled, value)
        else:
            self.note(OptionItem(option, spelled))
        if option.last:
            for word in self.words[self.at :]:
                self.operand(word)

    def _note_values(self, option: Option, spelled: str, value: Word | None) -> None:
        """Record an option with its first value (glued, or the next word) and all further ones."""
        count = len(option.more) + (value is None)
        taken = self.words[self.at : self.at + count]
        self.at += len(taken)
        first, more = (taken[0], taken[1:]) if value is None else (value, taken)
        loose = any(map(may_become_several, taken))
        self.note(OptionItem(option, spelled, first, more=more, loose=loose))
        if value is not None:
            self.note_further(value, option, glued=True)
        for word in taken:
            self.note_further(word, option)
        following = self.words[self.at : self.at + 1]
        if following and (following[0].text[:1] == "-" or not following[0].known):
            vanishing = [
                i for i in range(self.at - len(taken), self.at) if may_vanish(self.words[i])
            ]
            if vanishing:
                self.vanishing += vanishing
                self.may_be_value = self.at

    def may_be_empty(self) -> None:
        """Record that the value glued to the next word may be empty: it is then the word after."""
        if self.has_subcommands:
            self.before_subcommand = (_ANY_WORDS,)
        elif self.at + 1 < len(self.words):
            self.emptying.append(self.at)

    def note_further(self, word: Word, option: Option, *, glued: bool = False) -> None:
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
        if self.has_subcommands:
            self.before_subcommand = (further,)
            return
        possible = not option.last and not word.number and may_be_option(further, self.profile)
        # Of the names that `-n --*` finds all after the first are options.
        possible = possible or (not option.last and further.text.startswith("-"))
        possible = possible or (not word.number and may_mean(further, self.profile))
        self.items.append(OperandItem(further, may_be_option=possible))
        if possible:
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

    def note(self, item: OptionItem) -> None:
        """Record an option whose words are already passed."""
        self.items.append(item)
        self.given |= option_names(item)

    def unknown(self, word: Word, *, loose: bool = True) -> None:
        """Record the next word as an option that the profile does not know."""
        self.at += 1
        self.items.append(OptionItem(None, word.text, loose=loose))


def _accepts(option: Option, value: Word) -> bool:
    """Return whether an option may have a glued value: flags only `--watch=false` and `-9`."""
    if option.takes != "nothing" or NUMBER in option.spellings:
        return True
    return value.known and value.text.lower() in _SWITCHES
