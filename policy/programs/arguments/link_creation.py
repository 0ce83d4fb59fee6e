"""Which files that a command writes may be links afterwards."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import replace

from policy.programs.arguments.items import (
    OperandItem,
    OptionItem,
    ParsedArguments,
    option_names,
)
from policy.programs.arguments.variants import operand_roles
from policy.programs.invocation import CommandEffect, LinkCreation, Verb
from policy.programs.profiles.profile import Links, Profile
from policy.shell import Word

# In order: the later, the more of the written files may be links.
_LEAST_TO_MOST: tuple[Links, ...] = ("never", "carried", "below", "trees", "made", "beside")


def created_links(
    profile: Profile, parts: ParsedArguments, effects: Sequence[CommandEffect]
) -> LinkCreation | None:
    """Return which paths may be links once the command has run."""
    kind, names = _kind(profile, parts)
    if kind == "never":
        return None
    written = tuple(each for each in effects if each.verb == "writes")
    trees = tuple(each for each in written if each.tree)
    places = trees if kind == "trees" or (kind == "below" and trees) else written
    if kind == "beside":
        places = tuple(map(_folder_of, written))
    if kind == "carried":
        # Moving leaves nothing behind, and an edit in place keeps the type of a file.
        own = {id(each.word) for each in effects if each.verb == "reads"}
        places = tuple(each for each in places if id(each.word) not in own)
    if not places:
        return None
    return LinkCreation(
        places=places,
        names=names,
        carried=kind == "carried",
        below=kind in ("below", "beside"),
    )


def _folder_of(written: CommandEffect) -> CommandEffect:
    """Return the folder in which something is written; unknown if that is unknown."""
    word = written.word
    if word is None or not word.known:
        return written
    above = posixpath.dirname(word.text.rstrip("/"))
    folder = replace(word, text=above or ("/" if word.text.startswith("/") else "."))
    return replace(written, word=replace(folder, home=word.home and bool(above)), tree=True)


def _kind(profile: Profile, parts: ParsedArguments) -> tuple[Links, tuple[str, ...]]:
    """Return the profile's value for links, and their names if these are known.

    The result is the widest one if a word may be any option.
    """
    usual = (profile.links, profile.links_at)
    if not any(one.links for one in profile.variants):
        return usual
    given: set[str] = set()
    unsure = False
    for item in parts.items:
        match item:
            case OptionItem():
                unsure = unsure or item.loose or item.option is None
                given |= option_names(item)
            case OperandItem():
                unsure = unsure or item.may_be_option
    holding = [
        (one.links, one.links_at)
        for one in profile.variants
        if one.links and (unsure or one.holds(given))
    ]
    if unsure or not holding:
        holding.append(usual)
    kind = max((links for links, _ in holding), key=_LEAST_TO_MOST.index)
    listed = [names for links, names in holding if links != "never"]
    # Where some of them may have any name, all may.
    known = kind == "below" and all(listed)
    return kind, tuple(name for names in listed for name in names) if known else ()


def link_targets(profile: Profile, parts: ParsedArguments) -> Iterator[CommandEffect]:
    """Yield the targets of new links: later accesses through the links reach them.

    The text of a link is relative to the link's folder: for `ln -s TARGET NAME` the folder of
    `NAME`, or `NAME` itself, if that is a folder.
    """
    given = {one.option.name for one in parts.items if isinstance(one, OptionItem) and one.option}
    if "link-target..." not in operand_roles(profile, given):
        return
    words = [one.word for one in parts.items if isinstance(one, OperandItem)]
    verbs: tuple[Verb, ...] = ("reads", "writes")
    folders = [
        one.value
        for one in parts.items
        if isinstance(one, OptionItem) and one.option and one.option.role == "write-tree"
    ]
    if folders:
        stands = [each or Word("", "opaque") for each in folders]
    elif len(words) < 2:
        stands = [Word(".")]
    else:
        link = words.pop()
        stands = [link]
        if len(words) == 1 and not words[0].many and not link.text.endswith("/"):
            above = posixpath.dirname(link.text)
            stands.append(Word(above or ".", link.shape, home=link.home and bool(above)))
    for word in words:
        for verb in verbs:
            for folder in stands:
                yield CommandEffect(
                    verb=verb, word=word, tree=True, folder=(folder,), listed=True, follows=False
                )
