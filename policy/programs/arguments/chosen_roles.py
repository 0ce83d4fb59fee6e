"""The roles of operands where the other operands matter too, and those that some surely have."""

from __future__ import annotations

from collections.abc import Sequence

from policy.programs.arguments.items import Item, OperandItem
from policy.programs.arguments.operand_roles import becomes_a_word, possible_roles
from policy.programs.profiles.roles import bare_role, verbs_of_role
from policy.programs.words.pathspecs import COMPARED, HISTORY, may_leave_repository
from policy.shell import Word

# Roles of a target that may be a folder into which files are put.
INTO = frozenset({"write-into", "write-into-parents"})


def roles_of_operands(
    items: Sequence[Item], roles: tuple[str, ...], words: Sequence[Word]
) -> list[tuple[str, ...]]:
    """Return the roles that each operand may have, by its position and by the other operands."""
    possible = possible_roles(items, roles)
    if len(words) == 1 and not INTO.isdisjoint(roles):
        return [(*possible[0], roles[0])]
    if f"{COMPARED}..." in roles and may_leave_repository(words):
        return [(*each, "read-tree") for each in possible]
    if f"{COMPARED}..." in roles and len(words) == 1 and words[0].known:
        # One path is never compared with another one on the disk.
        return [(HISTORY,)]
    return possible


def certain_roles(operands: Sequence[OperandItem], possible: Sequence[tuple[str, ...]]) -> set[str]:
    """Return the roles that some operand has, however many words globs and variables become.

    `grep -r r?` may be a pattern alone, and then searches the folder.
    """
    found: set[str] = set()
    for item, each in zip(operands, possible, strict=True):
        roles = {bare_role(role) for role in each}
        in_place_of_input = all(verbs_of_role(r) and not goes_with_input(r) for r in roles)
        if becomes_a_word(item) and (len(roles) == 1 or in_place_of_input):
            found |= roles
    return found


def goes_with_input(role: str) -> bool:
    """Return whether operands of a role leave the input to be run: hosts, and words for it."""
    return role.rstrip(".!") in ("host", "connect", "argument")
