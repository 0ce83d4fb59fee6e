"""Parses the words after a program's name into options and operands, by its profile."""

from __future__ import annotations

from fnmatch import fnmatchcase

from policy.programs.arguments.item_recorder import ItemRecorder
from policy.programs.arguments.items import OptionItem, ParsedArguments
from policy.programs.arguments.option_styles import TAKES, take_bundle
from policy.programs.arguments.unknown_words import may_be_option
from policy.programs.arguments.variants import operand_roles
from policy.programs.profiles.profile import MANY_WORDS, Profile
from policy.shell import Word


def parse_arguments(words: tuple[Word, ...], profile: Profile) -> ParsedArguments:
    """Parse the words after a program's name in the style of its profile."""
    reader = _ArgumentReader(words, profile)
    reader.read()
    recorder = reader.recorder
    rest = (*recorder.before_subcommand, *words[recorder.at :])
    unclear = recorder.vanishing or recorder.uncertain or recorder.splitting or recorder.emptying
    if not unclear:
        return ParsedArguments(tuple(recorder.items), rest)
    return ParsedArguments(
        tuple(recorder.items),
        rest,
        tuple(recorder.vanishing),
        tuple(recorder.uncertain),
        tuple(recorder.splitting),
        frozenset(recorder.option_starts),
        tuple(recorder.emptying),
    )


class _ArgumentReader:
    """One pass over the words, which finds where the options end and a subcommand begins."""

    def __init__(self, words: tuple[Word, ...], profile: Profile) -> None:
        self.recorder = ItemRecorder(words, profile)
        self.words = words
        self.profile = profile
        self._stops = profile.style == "posix"
        self._runs = profile.runs_operands
        self._assigns = "env-argv..." in profile.operands
        # The operand after which all words are for what it names: `go run . -v`.
        argued = profile.operands[-1:] == ("argument...",) and profile.style in ("words", "listed")
        self._named = len(profile.operands) - 2 if argued else -1

    def read(self) -> None:
        """Parse all words, or those before a subcommand."""
        recorder, profile = self.recorder, self.profile
        if profile.bundled_first:
            take_bundle(recorder)
        count, ended = len(self.words), False
        take = TAKES[profile.style]
        while recorder.at < count and not recorder.before_subcommand:
            word = self.words[recorder.at]
            if word.shape == "known" and word.text == "--" and "--" not in profile.options:
                recorder.at += 1
                if profile.style == "pairs":
                    continue  # what follows are pairs all the same
                ended = profile.style in ("gnu", "posix")
                break
            place, before = recorder.at, len(recorder.items)
            if take(recorder, word):
                recorder.option_starts.append(place)
                if place == recorder.may_be_value or recorder.uncertain or recorder.splitting:
                    self._doubt(before)
                continue
            if recorder.has_subcommands:
                if self._chooses(word):
                    continue
                return
            possible = may_be_option(word, profile)
            if not possible and self._ends_options(word):
                break
            recorder.operand(word, may_be_option=possible)
        if recorder.has_subcommands:
            return
        for word in self.words[recorder.at :]:
            recorder.operand(word, no_option=ended)

    def _doubt(self, start: int) -> None:
        """Record that the items from one on may be no options.

        They may be the value of an option before them, or stand behind an unknown `--`.
        """
        for item in self.recorder.items[start:]:
            if isinstance(item, OptionItem):
                item.unsure = True

    def _chooses(self, word: Word) -> bool:
        """Parse a word before the subcommand that begins with `+`: `cargo +nightly test`."""
        if not word.known or not word.text.startswith("+"):
            return False
        means = self.profile.means
        name = next((means[glob] for glob in means if fnmatchcase(word.text, glob)), "")
        if name not in self.profile.options:
            return False
        self.recorder.note_option(self.profile.options[name], word.text)
        return True

    def _ends_options(self, word: Word) -> bool:
        """Return whether every word from this operand on is an operand."""
        if self._assigns and "=" in word.text:
            return False  # `sudo A=b -u www ls`; `env` takes `-u` for a program and fails
        operands = self.recorder.operands
        if self._stops or operands == self._named:
            return True
        if not self._runs:
            return False
        roles = operand_roles(self.profile, self.recorder.given)
        return operands < len(roles) and roles[operands] in MANY_WORDS
