"""What a command leaves out of the trees that it reads or writes, by its options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from policy.programs.arguments.exclusions import exclusions_of, is_steered_by_variable
from policy.programs.arguments.items import Item
from policy.programs.arguments.link_following import followed_links, kept_links
from policy.programs.arguments.searches import found_paths
from policy.programs.effects import CommandEffects
from policy.programs.profiles.profile import Profile


def narrow_found(
    effects: CommandEffects, profile: Profile, *, items: Sequence[Item], before: int
) -> None:
    """Narrow the trees among the effects from `before` on, which these items have."""
    _choose(effects, profile, items=items, before=before)
    _leave_out(effects, profile, items=items, before=before)
    _keep_links(effects, profile, items=items, before=before)
    _follow_links(effects, profile, items=items, before=before)


def _choose(
    effects: CommandEffects, profile: Profile, *, items: Sequence[Item], before: int
) -> None:
    """Narrow the trees that a search deletes to the names that it matches."""
    found = found_paths(items, profile)
    if found.name == "*":
        return
    for place in range(before, len(effects.found)):
        effect = effects.found[place]
        if effect.verb == "writes" and effect.tree and effect.word and effect.word.known:
            chosen = replace(found, root=effect.word.text).word()
            if chosen.shape == "glob" and not effect.word.home:
                effects.found[place] = replace(effect, word=chosen)


def _leave_out(
    effects: CommandEffects, profile: Profile, *, items: Sequence[Item], before: int
) -> None:
    """Record which names the program skips in the trees that it reads."""
    left = exclusions_of(profile, items)
    if left is None or is_steered_by_variable(effects):
        return
    effects.found[before:] = [
        replace(each, exclusions=left) if each.tree and each.verb == "reads" else each
        for each in effects.found[before:]
    ]


def _keep_links(
    effects: CommandEffects, profile: Profile, *, items: Sequence[Item], before: int
) -> None:
    """Record at which links below its trees the program does not write through."""
    globs = kept_links(profile, items)
    if globs:
        effects.found[before:] = [
            replace(each, kept_links=globs) if each.tree and each.verb == "writes" else each
            for each in effects.found[before:]
        ]


def _follow_links(
    effects: CommandEffects, profile: Profile, *, items: Sequence[Item], before: int
) -> None:
    """Record in which trees the program does not follow links."""
    follows = followed_links(profile, items)
    if follows != "always":
        effects.found[before:] = [
            replace(each, follows=follows == "written" and each.verb == "writes")
            if each.tree and each.follows
            else each
            for each in effects.found[before:]
        ]
