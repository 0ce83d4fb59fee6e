"""The items that the words of a command are parsed into: its options and its operands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from policy.programs.profiles.profile import Option
from policy.shell import Word

MAIN_MODULE = ".__main__"

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
    are words that are options, and `emptying` those whose glued value may be empty, so that they
    take the next word: `-u"$x"`.
    """

    items: tuple[Item, ...]
    rest: tuple[Word, ...] = ()
    vanishing: tuple[int, ...] = ()
    uncertain: tuple[int, ...] = ()
    splitting: tuple[int, ...] = ()
    option_starts: frozenset[int] = frozenset()
    emptying: tuple[int, ...] = ()


def option_names(item: OptionItem) -> set[str]:
    """Return the names that a variant may use for an option: its name, alone and with its value.

    `--relative=` is the option with any value. A value `policy.cli`, as of a module, is also
    `policy.*`.
    """
    if item.option is None:
        return set()
    name = item.option.name
    if item.value is None:
        return {name}
    if not item.value.known:
        return {name, f"{name}="}
    text = item.value.text
    package, dot, _ = text.partition(".")
    below = {f"{name}={package}.*"} if dot else set()
    # What `python -m` runs of a package is its module of this name.
    return {name, f"{name}=", f"{name}={text}", f"{name}={text.removesuffix(MAIN_MODULE)}", *below}
