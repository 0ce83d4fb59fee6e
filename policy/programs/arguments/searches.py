"""The paths that a search finds and passes on to other programs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from policy.programs.arguments.argv import parse_arguments
from policy.programs.arguments.exclusions import exclusions_of
from policy.programs.arguments.items import Item, OperandItem, OptionItem, option_names
from policy.programs.arguments.link_following import followed_links
from policy.programs.arguments.operand_roles import possible_roles
from policy.programs.arguments.search_tests import search_exclusions
from policy.programs.arguments.variants import operand_roles
from policy.programs.found_paths import NOT_SEARCHED, FoundPaths
from policy.programs.nested_commands import common_root
from policy.programs.placeholders import Placeholders
from policy.programs.profiles.profile import Profile
from policy.programs.profiles.registry import Profiles
from policy.shell import Word

# Characters of a name that a search and a glob treat differently.
_NOT_PLAIN = re.compile(r"[\[\]\\/]")
# Roles of tests of names, and of operators that negate or join them.
_CHOOSING = frozenset({"found-name", "found-otherwise"})
# Roles of options of a search that prints the paths that it finds, separated by zero bytes.
_QUIET = frozenset({"text", "null-ended"}) | _CHOOSING
# Those of one that searches in files: which files it takes.
_TAKING = frozenset({"only-files", "leaves-files", "leaves-folders", "leaves-glob", "only-type"})
# Those of one that searches what a file names, or that spells the paths differently.
_ELSEWHERE = frozenset({"list", "respells-found"})

_PLACEHOLDERS = frozenset({"placeholder", "placeholder-of-all"})
# Roles of options that say how many unknown words, or lines of them, a command is given.
_ADDING = frozenset({"added-words", "added-lines"})
_SPLIT_OTHERWISE = frozenset({"otherwise-ended", "added-lines", "read"})


def found_paths(items: Sequence[Item], profile: Profile, *, steered: bool = False) -> FoundPaths:
    """Return the paths that a search finds, by its options and operands.

    `steered`: variables may make it find more than its words show.
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
    """Return whether a program reads null-separated names from its input."""
    roles = {_role(item) for item in items}
    return "null-ended" in roles and roles.isdisjoint(_SPLIT_OTHERWISE)


def printed_names(words: tuple[Word, ...], profiles: Profiles) -> FoundPaths:
    """Return the null-separated names that a program prints for the next one.

    In other lists, a name with blanks or new lines would become several.
    """
    profile = profiles.profile(words[0].text) if words[0].known else None
    if profile is None or profile.subcommands:
        return NOT_SEARCHED
    items = parse_arguments(words[1:], profile).items
    if not _is_search(profile, items):
        return NOT_SEARCHED
    if not any(_role(item) == "null-ended" for item in items) or not _prints_paths_alone(items):
        return NOT_SEARCHED
    # Its variables are not known here; none of them changes what `find` does.
    return found_paths(items, profile, steered=profile.style != "words")


def _prints_paths_alone(items: Sequence[Item], also: frozenset[str] = frozenset()) -> bool:
    """Return whether a search prints nothing but paths, below operands that are known.

    `also` are options that print them one on each line.
    """
    for item in items:
        if isinstance(item, OperandItem):
            if item.may_be_option or not item.word.known:
                return False
            continue
        if item.option is not None and item.option.name in also:
            continue
        plain = item.option is not None and not (item.option.guarded or item.words)
        if not plain or _role(item) not in _QUIET | _TAKING:
            return False
    return True


def reads_words(items: Sequence[Item]) -> bool:
    """Return whether a program splits its input at blanks and ends of lines."""
    roles = {_role(item) for item in items}
    return roles.isdisjoint({"null-ended"} | _SPLIT_OTHERWISE)


def printed_paths(line: Sequence[tuple[Word, ...]], profiles: Profiles) -> FoundPaths:
    """Return the paths that a search prints for the next command, one on each line.

    `line` are the words of the commands before that one, the nearest first: some may only pass on
    lines, as `head` and `grep -v x` do.
    """
    words = next((each for each in line if not _passes_lines(each, profiles)), None)
    profile = profiles.profile(words[0].text) if words and words[0].known else None
    if profile is None or words is None or profile.subcommands:
        return NOT_SEARCHED
    items = parse_arguments(words[1:], profile).items
    if not _is_search(profile, items):
        return NOT_SEARCHED
    if any(_role(item) == "null-ended" for item in items):
        return NOT_SEARCHED
    if not _prints_paths_alone(items, also=profile.paths_with):
        return NOT_SEARCHED
    return found_paths(items, profile, steered=profile.style != "words")


def named_placeholders(items: Sequence[Item]) -> Placeholders | None:
    """Return the placeholders that options of a program name, None if there are none.

    Which one of several counts depends on the program. With some later options none does, and words
    are added: `xargs -I{} -n2`.
    """
    wholes: list[str] = []
    several = added = False
    spelled = True
    for item in items:
        if not isinstance(item, OptionItem) or item.option is None:
            continue
        role, value = item.option.role, item.value
        if role in _PLACEHOLDERS:
            wholes.append((value.text if value else "") or "{}")
            several = several or role == "placeholder-of-all"
            spelled = spelled and (value is None or value.known)
        elif wholes and role in _ADDING:
            added = added or role == "added-lines" or value is None or value.text != "1"
    if not wholes:
        return None
    return Placeholders(wholes=tuple(wholes), several=several, added=added, spelled=spelled)


def _is_search(profile: Profile, items: Sequence[Item]) -> bool:
    """Return whether a program prints the paths that it finds."""
    return profile.prints_paths or not profile.paths_with.isdisjoint(_given(items))


def _given(items: Sequence[Item]) -> set[str]:
    return {name for item in items if isinstance(item, OptionItem) for name in option_names(item)}


def _passes_lines(words: tuple[Word, ...], profiles: Profiles) -> bool:
    """Return whether a program prints nothing but lines of its input, as they are."""
    profile = profiles.profile(words[0].text) if words and words[0].known else None
    if profile is None or profile.passes_lines is None:
        return False
    items = parse_arguments(words[1:], profile).items
    options = [item for item in items if isinstance(item, OptionItem)]
    if any(one.option is None or one.option.name not in profile.passes_lines for one in options):
        return False
    operands = [item for item in items if isinstance(item, OperandItem)]
    roles = possible_roles(items, operand_roles(profile, _given(items)))
    return all(not one.may_be_option and one.word.known for one in operands) and all(
        role == ("text",) for role in roles
    )


def _role(item: Item) -> str:
    return item.option.role if isinstance(item, OptionItem) and item.option is not None else ""


def _name(items: Sequence[Item]) -> str:
    """Return the glob of the names that a search matches; of any, where that is not simple.

    Several names, other tests of names and negations cannot be expressed as a glob, and an action
    before a test does not depend on it.
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
    """Return the folder in which a command searches; empty where that is not known.

    An operand may be the name that is searched for (`fd NAME`), and an option give the folder.
    """
    if any(_role(item).endswith("-tree") or _role(item) in _ELSEWHERE for item in items):
        return ""
    operands = [item for item in items if isinstance(item, OperandItem)]
    given = _given(items)
    roles = possible_roles(items, operand_roles(profile, given))
    places = [
        operand.word
        for operand, possible in zip(operands, roles, strict=True)
        if possible != ("text",)
    ]
    if places:
        return common_root(tuple(places))
    bare = profile.bare
    for variant in profile.variants:
        if variant.bare is not None and variant.holds(given):
            bare = variant.bare
    return next((text for role, text in bare if role.endswith("-tree")), "")
