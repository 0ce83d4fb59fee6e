"""The paths that a search finds and passes on to other programs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from policy.programs.arguments.argv import Item, OperandItem, OptionItem, parse_arguments
from policy.programs.arguments.exclusions import exclusions_of
from policy.programs.arguments.link_following import followed_links
from policy.programs.arguments.operand_roles import possible_roles
from policy.programs.arguments.search_tests import search_exclusions
from policy.programs.nested_commands import NOT_SEARCHED, FoundPaths, common_root
from policy.programs.profiles.profile import Profile
from policy.programs.profiles.registry import Profiles
from policy.shell import Word

# Letters of a name that a search and a glob read otherwise.
_NOT_PLAIN = re.compile(r"[\[\]\\/]")
# Roles of tests for names, and of what turns one round or joins several.
_CHOOSING = frozenset({"found-name", "found-otherwise"})
# Roles of options of a search that prints what it finds, each name with a zero byte behind it.
_QUIET = frozenset({"text", "null-ended"}) | _CHOOSING


def found_paths(items: Sequence[Item], profile: Profile, *, steered: bool = False) -> FoundPaths:
    """Return what a search finds, by its options and operands.

    `steered`: variables may make it find more than its words say.
    """
    through = followed_links(profile, items) == "always"
    name = _name(items)
    left = None
    if not (steered or through or name != "*"):
        left = (
            search_exclusions(items) if profile.style == "words" else exclusions_of(profile, items)
        )
    return FoundPaths(_root(items, profile), name, through, left)


def reads_null_separated(items: Sequence[Item]) -> bool:
    """Tell whether a program takes names from its input that end with a zero byte."""
    roles = {_role(item) for item in items}
    return "null-ended" in roles and roles.isdisjoint({"otherwise-ended", "read"})


def printed_names(words: tuple[Word, ...], profiles: Profiles) -> FoundPaths:
    """Return what a program prints for the next one, each name ended by a zero byte.

    At the blanks and line ends of other lists a name would become several.
    """
    profile = profiles.profile(words[0].text) if words[0].known else None
    if profile is None or profile.subcommands:
        return NOT_SEARCHED
    items = parse_arguments(words[1:], profile).items
    options = [item for item in items if isinstance(item, OptionItem)]
    operands = [item for item in items if isinstance(item, OperandItem)]
    if not any(_role(item) == "null-ended" for item in options):
        return NOT_SEARCHED
    for option in options:
        plain = option.option is not None and not (option.option.guarded or option.words)
        if not plain or _role(option) not in _QUIET:
            return NOT_SEARCHED
    if any(item.may_be_option or not item.word.known for item in operands):
        return NOT_SEARCHED
    # Which variables it was given is not known here; nothing changes what `find` does.
    return found_paths(items, profile, steered=profile.style != "words")


def _role(item: Item) -> str:
    return item.option.role if isinstance(item, OptionItem) and item.option is not None else ""


def _name(items: Sequence[Item]) -> str:
    """Return the glob of the names that a search asks for; of any, where that is not plain.

    Several names, other tests of names and negations choose in ways that no glob tells, and what
    is run or printed before a test does not ask it.
    """
    chosen: list[tuple[str, Word]] = []
    for item in items:
        if not isinstance(item, OptionItem) or item.option is None:
            continue
        acts = bool(item.words) or item.option.role in ("null-ended", "guarded")
        if acts and not chosen:
            return "*"
        if item.option.role in _CHOOSING:
            chosen.append((item.option.role, item.value or Word("")))
    if len(chosen) != 1 or chosen[0][0] != "found-name" or not chosen[0][1].known:
        return "*"
    name = chosen[0][1].text
    return "*" if _NOT_PLAIN.search(name) or not name else name


def _root(items: Sequence[Item], profile: Profile) -> str:
    """Return what the paths begin with that a command finds; empty where that is not known.

    An operand may be what is searched for (`fd NAME`), and an option say where.
    """
    if any(_role(item).endswith("-tree") for item in items):
        return ""
    operands = [item for item in items if isinstance(item, OperandItem)]
    roles = possible_roles(items, profile.operands)
    places = [
        operand.word
        for operand, possible in zip(operands, roles, strict=True)
        if possible != ("text",)
    ]
    if places:
        return common_root(tuple(places))
    return next((text for role, text in profile.bare if role.endswith("-tree")), "")
