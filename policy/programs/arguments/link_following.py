"""In which trees a command follows links."""

from __future__ import annotations

from collections.abc import Sequence

from policy.programs.arguments.argv import Item, OperandItem, OptionItem
from policy.programs.profiles.profile import Follows, Profile

_MOST_FIRST: tuple[Follows, ...] = ("always", "written", "never")


def followed_links(profile: Profile, items: Sequence[Item]) -> Follows:
    """Return in which trees links are followed; the widest answer if a word may be any option."""
    said = [one for one in profile.variants if one.follows_links is not None]
    if not said:
        return profile.follows_links
    given: set[str] = set()
    unsure = False
    for item in items:
        if isinstance(item, OptionItem):
            unsure = unsure or item.loose or item.option is None
            if item.option is not None:
                given.add(item.option.name)
        elif isinstance(item, OperandItem):
            unsure = unsure or item.may_be_option
    if unsure:
        possible = [profile.follows_links, *(one.follows_links for one in said)]
        return next(one for one in _MOST_FIRST if one in possible)
    follows = profile.follows_links
    for one in said:
        if one.holds(given):
            follows = one.follows_links or follows
    return follows
