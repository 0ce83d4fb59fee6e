"""In which trees a command follows links, and at which links there it does not."""

from __future__ import annotations

from collections.abc import Sequence

from policy.programs.arguments.items import Item, OperandItem, OptionItem, option_names
from policy.programs.profiles.profile import Follows, Profile

_MOST_FIRST: tuple[Follows, ...] = ("always", "written", "never")


def followed_links(profile: Profile, items: Sequence[Item]) -> Follows:
    """Return in which trees links are followed; the widest answer if a word may be any option."""
    said = [one for one in profile.variants if one.follows_links is not None]
    if not said:
        return profile.follows_links
    given, unsure = _given(items)
    if unsure:
        possible = [profile.follows_links, *(one.follows_links for one in said)]
        return next(one for one in _MOST_FIRST if one in possible)
    follows = profile.follows_links
    for one in said:
        if one.holds(given):
            follows = one.follows_links or follows
    return follows


def kept_links(profile: Profile, items: Sequence[Item]) -> tuple[str, ...]:
    """Return the globs of paths at which links stay or are replaced; none if that is not certain.

    An operand that looks like an option may be one that changes it: `python -m venv --copies x`.
    """
    said = [one for one in profile.variants if one.kept_links]
    if not (profile.kept_links or said):
        return ()
    given, unsure = _given(items)
    words = [item.word for item in items if isinstance(item, OperandItem)]
    if unsure or not all(word.known and not word.text.startswith("-") for word in words):
        return ()
    return next((one.kept_links for one in said if one.holds(given)), profile.kept_links)


def _given(items: Sequence[Item]) -> tuple[set[str], bool]:
    """Return the names and values of the options that are given, and whether any may be."""
    given: set[str] = set()
    unsure = False
    for item in items:
        if isinstance(item, OptionItem):
            unsure = unsure or item.loose or item.option is None
            given |= option_names(item)
        elif isinstance(item, OperandItem):
            unsure = unsure or item.may_be_option
    return given, unsure
