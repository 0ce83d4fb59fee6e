"""Groups of approvers that a policy names, and in which the configuration lists nobody."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from policy.diagnostics import display_name, visible
from policy.generation import Generation

_MOST_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptyGroup:
    """A group without members, and the place of the first rule that names it."""

    name: str
    file: str
    line: int


def groups_without_members(generation: Generation) -> tuple[EmptyGroup, ...]:
    """Return the groups of `by` clauses without members in `[approvals.groups]`."""
    settings = generation.settings.approvals
    members = {} if settings is None else settings.groups
    found: dict[str, EmptyGroup] = {}
    for layer in generation.program.policy.layers:
        for rule in layer.rules:
            for name in rule.terms.groups:
                if not members.get(name) and name not in found:
                    span = rule.span
                    found[name] = EmptyGroup(name=name, file=span.file, line=span.line)
    return tuple(found.values())


def note_on_groups(found: Iterable[EmptyGroup], *, root: str) -> str:
    """Return one line on these groups: who cannot answer, and how members are added."""
    groups = list(found)
    shown = [_shown(group, root) for group in groups[:_MOST_SHOWN]]
    if len(groups) > _MOST_SHOWN:
        shown.append(f"{len(groups) - _MOST_SHOWN} more")
    one = len(groups) == 1
    example = f'{_key(groups[0].name)} = ["ada"]'
    return (
        f"{', '.join(shown)}: {'this group has' if one else 'these groups have'} no members, so "
        f"nobody can approve the calls with `placet approvals`; list the users in `placet.toml`, "
        f"`[approvals.groups]` `{example}`, unless the host application's own approver says who "
        "belongs to it"
    )


def _shown(group: EmptyGroup, root: str) -> str:
    file = visible(display_name(group.file, root=root), 200)
    return f"`by {_string(group.name)}` ({file}:{group.line})"


def _key(name: str) -> str:
    is_bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if is_bare else _string(name)


def _string(name: str) -> str:
    return visible(json.dumps(name, ensure_ascii=False), 80)
