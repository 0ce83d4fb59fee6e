"""The roles that each operand may have, by its position."""

from __future__ import annotations

from collections.abc import Sequence

from policy.programs.arguments.items import OperandItem, OptionItem
from policy.programs.profiles.profile import MANY_WORDS
from policy.programs.profiles.roles import takes_many
from policy.shell import Word

_SPECIAL = frozenset(" \t\n'\"\\;&|()<>$`")
# More operands than any program has places for.
_ENDLESS = 1_000_000


def possible_roles(
    items: Sequence[OptionItem | OperandItem], roles: Sequence[str]
) -> list[tuple[str, ...]]:
    """Return for each operand the roles that it may have: one, unless words are unknown."""
    count = 0
    unsure = False
    for item in items:
        count += isinstance(item, OperandItem)
        unsure = unsure or _is_unsure(item)
    if not count:
        return []
    if not unsure:
        return [(role,) for role in _by_place(count, roles)]
    places = _Places(roles)
    if len(places.all) == 1:
        return [places.all] * count
    return places.possible(items)


def argv_start(roles: Sequence[str]) -> int | None:
    """Return the position from which on operands are a command, None if there is none."""
    for place, role in enumerate(roles):
        if role in MANY_WORDS:
            return place
    return None


def _by_place(count: int, roles: Sequence[str]) -> list[str]:
    many = _place_of_many(roles)
    if many is None:
        return [*roles[:count], *["unknown"] * (count - len(roles))]
    head, tail = roles[:many], roles[many + 1 :]
    if count <= len(head):
        return list(head[:count])
    behind = min(len(tail), count - len(head))
    middle = [roles[many]] * (count - len(head) - behind)
    return [*head, *middle, *tail[len(tail) - behind :]]


def _place_of_many(roles: Sequence[str]) -> int | None:
    for place, role in enumerate(roles):
        if takes_many(role):
            return place
    return None


def _is_unsure(item: OptionItem | OperandItem) -> bool:
    if isinstance(item, OptionItem):
        return item.loose
    return item.word.many or item.may_be_option


def becomes_a_word(item: OperandItem) -> bool:
    """Return whether a word is at least one word: a glob without matches is passed on unchanged.

    What else it does as an option is recorded on its own.
    """
    return not item.word.many or item.word.shape == "glob"


def _fewest_and_most(item: OptionItem | OperandItem) -> tuple[int, int]:
    """Return how many operands a word may become, at least and at most."""
    if isinstance(item, OptionItem):
        return (0, _ENDLESS) if item.loose else (0, 0)
    if not _is_unsure(item):
        return 1, 1
    # A glob without matches is passed on unchanged.
    fewest = 1 if item.word.shape == "glob" and not item.may_be_option else 0
    return fewest, _ENDLESS if item.word.many else 1


class _Places:
    """The roles at the beginning, at the end, and of any number between."""

    def __init__(self, roles: Sequence[str]) -> None:
        many = _place_of_many(roles)
        self.head = tuple(roles if many is None else roles[:many])
        self.tail = tuple(() if many is None else roles[many + 1 :])
        self.middle = "unknown" if many is None else roles[many]
        self.all = tuple(dict.fromkeys((*self.head, self.middle, *self.tail)))

    def possible(self, items: Sequence[OptionItem | OperandItem]) -> list[tuple[str, ...]]:
        """Return the roles that each operand may have."""
        counts = [_fewest_and_most(item) for item in items]
        before = [0, 0]
        after = [sum(count[0] for count in counts), sum(count[1] for count in counts)]
        # After a word that may be an option, and after an option whose value may be no word, the
        # next may be its value.
        swallowing = False
        found = []
        for item, (fewest, most) in zip(items, counts, strict=True):
            after = [after[0] - fewest, after[1] - most]
            if isinstance(item, OperandItem):
                extra = max(most - 1, 0)
                front = (before[0] - swallowing, before[1] + extra)
                found.append(self._between(front, (after[0], after[1] + extra)))
            before = [before[0] + fewest, before[1] + most]
            swallowing = swallowing or (
                item.loose if isinstance(item, OptionItem) else item.may_be_option
            )
        return found

    def _between(self, before: tuple[int, int], after: tuple[int, int]) -> tuple[str, ...]:
        """Return the roles of an operand by the number (fewest, most) of operands around it."""
        first = max(before[0], 0)
        found = dict.fromkeys(self.head[first : before[1] + 1])
        if before[1] >= len(self.head):
            backwards = self.tail[::-1]
            found.update(dict.fromkeys(backwards[max(after[0], 0) : after[1] + 1]))
            if after[1] >= len(self.tail):
                found[self.middle] = None
        return tuple(found)


def command_line_text(words: Sequence[Word]) -> str:
    """Return words as a line for people."""
    return " ".join(map(_shown, words))


def _shown(word: Word) -> str:
    if not word.known or (word.text and _SPECIAL.isdisjoint(word.text)):
        return word.text
    return "'" + word.text.replace("'", "'\\''") + "'"
