"""Commands of git that act on the whole repository around their folder, if no path is named."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from policy.programs.arguments.items import OperandItem
from policy.programs.effects import CommandEffects
from policy.programs.invocation import CommandEffect, NewNames, Verb
from policy.programs.profiles.profile import Profile
from policy.programs.profiles.roles import bare_role, verbs_of_role
from policy.programs.words.file_forms import is_exclusion, names_stored, names_stored_here
from policy.programs.words.pathspecs import (
    PATHSPECS,
    excluded_from_all,
    is_surely_path,
)
from policy.shell import Word

_HERE = Word(".")
# Roles with which git writes the files of another commit, wherever they are in the repository.
_WRITING = frozenset({"stored-tree", "revision"})
# The role of operands that are paths and never revisions.
_ONLY_PATHS = "written-pathspec"


class NamedPaths(NamedTuple):
    """What the operands of a command of git name.

    `surely`: one is a path. `stored`: one is `REVISION:path`, where the path is below the top of
    the repository. `perhaps` are words that are paths if there are such files. `excluded` are the
    roles of operands that exclude files from all others.
    """

    surely: bool = False
    stored: bool = False
    perhaps: tuple[Word, ...] = ()
    excluded: tuple[str, ...] = ()


def named_paths(operands: Sequence[OperandItem], possible: Sequence[tuple[str, ...]]) -> NamedPaths:
    """Return which operands name paths, by their possible roles."""
    roles = [tuple(map(bare_role, each)) for each in possible]
    excluded = excluded_from_all([item.word for item in operands], roles)
    paths = [
        (item, each)
        for item, each in zip(operands, roles, strict=True)
        if item.word.shape != "opaque"
        and not (PATHSPECS.isdisjoint(each) or is_exclusion(item.word.text))
    ]
    surely = any(
        item.word.text[:1] != ":"
        and (item.no_option or is_surely_path(item.word) or each == (_ONLY_PATHS,))
        for item, each in paths
    )
    below = [not item.no_option and names_stored_here(item.word.text) for item, _ in paths]
    surely = surely or (bool(below) and all(below))
    stored = any(
        not item.no_option and names_stored(item.word.text) and not here
        for (item, _), here in zip(paths, below, strict=True)
    )
    perhaps = tuple(item.word for item, _ in paths if item.word.known)
    return NamedPaths(surely, stored, perhaps, excluded)


def note_whole_repository(
    effects: CommandEffects,
    profile: Profile,
    paths: NamedPaths,
    *,
    roles: set[str],
    given: set[str],
) -> None:
    """Record that a command reads or writes all of the repository that its folder belongs to.

    `roles` are those that it has without a word, and those of its operands.
    """
    whole = profile.whole_repository
    for variant in profile.variants:
        if variant.whole_repository is not None and variant.holds(given):
            whole = variant.whole_repository
    verbs: set[Verb] = set() if whole == "nothing" else {whole}
    if not _WRITING.isdisjoint(roles):
        verbs.add("writes")
    if verbs or not profile.bare:
        # What it does without operands is done in the folder otherwise, as by `git grep`.
        verbs |= {verb for role in paths.excluded for verb in verbs_of_role(role) if verb}
    if paths.surely:
        verbs.clear()
    new_names: NewNames = "patched" if whole == "writes" else "stored"
    if paths.stored:
        verbs.add("reads")
    for verb in sorted(verbs):
        effects.found.append(
            CommandEffect(
                verb=verb,
                word=_HERE,
                tree=True,
                folder=effects.folder,
                listed=True,
                follows=False,
                new_names=new_names if verb == "writes" else "own",
                unless=() if paths.stored else paths.perhaps,
            )
        )
