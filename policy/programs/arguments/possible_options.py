"""The effects that operands would have if they were options, where only the shell knows them."""

from __future__ import annotations

from collections.abc import Sequence

from policy.programs.arguments.items import OperandItem
from policy.programs.effects import CommandEffects
from policy.programs.invocation import CommandEffect
from policy.programs.profiles.profile import Profile
from policy.programs.profiles.roles import verbs_of_role
from policy.shell import Word

# Roles of folders that the paths of other words are relative to.
_MOVING = frozenset({"folder", "read-folder", "project-folder", "members", "members-write"})


def note_uncertain_operands(
    effects: CommandEffects, operands: Sequence[OperandItem], *, profile: Profile, runs: str
) -> None:
    """Record what operands would do that may be options or several words.

    `runs` is the role of the operands that are a command, if some are.
    """
    if runs and any(item.may_be_option or item.word.many for item in operands):
        effects.gap(f"which command `{effects.name}` runs is not known")
    unsure = [item.word for item in operands if item.may_be_option]
    for folder_only in {_is_name(word) for word in unsure}:
        _note_possible_options(effects, profile, folder_only=folder_only)


def note_possible_folders(effects: CommandEffects, profile: Profile) -> None:
    """Record that an unknown word may name another folder for all that is read and written."""
    if any(option.role in _MOVING for option in profile.options.values()):
        why = f"a word of `{effects.name}` that only the shell knows may name a folder"
        for verb in sorted({effect.verb for effect in effects.found}):
            effects.unknown_access(verb, why)


def _note_possible_options(effects: CommandEffects, profile: Profile, *, folder_only: bool) -> None:
    """Record what unknown operands would do if they were options."""
    roles = {option.role for option in profile.options.values()}
    verbs = {verb for role in roles for verb in verbs_of_role(role)}
    if "remote" in roles:
        verbs.add("writes")  # where it is a folder
    why = f"a word of `{effects.name}` that only the shell knows may be an option"
    for verb in sorted(verb for verb in verbs if verb is not None):
        if folder_only and verb in ("reads", "writes"):
            spelled = Word("*", "glob", many=True)
            effects.found.append(CommandEffect(verb=verb, word=spelled, why=why))
        else:
            effects.unknown_access(verb, why)
    if None in verbs:
        effects.gap(why)


def _is_name(word: Word) -> bool:
    """Return whether a word can only expand to names in the current folder with a fixed ending.

    Such a name has no slash, and neither has a part of it that is glued to an option.
    """
    return word.shape == "glob" and "/" not in word.text and not word.text.endswith("*")
