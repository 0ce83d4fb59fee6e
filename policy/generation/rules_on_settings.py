"""Whether rules read a setting, or rely on it, so that a stricter setting may let calls do more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from policy.checks import checked
from policy.model import ConfinedVerb, Verdict
from policy.program import Program

_GROUPS = ("user", "groups")


def groups_only_grant(program: Program) -> bool:
    """Return whether no call gets a looser verdict because its caller is in fewer groups.

    So it is where groups are read only as `"x" in user.groups`, and that makes an `allow` apply, or
    keeps an `ask` or a `deny` from it.
    """
    return all(
        _only_grants(statement)
        for layer in program.policy.layers
        for part in fields(layer)
        if isinstance(statements := getattr(layer, part.name), tuple)
        for statement in statements
        if not getattr(statement, "shadow", False)
    )


def relies_on_sandbox(program: Program, verbs: frozenset[ConfinedVerb]) -> bool:
    """Return whether a rule may grant something because a sandbox now enforces these verbs."""
    return bool(verbs) and any(
        (isinstance(part, checked.Fact) and part.path[:1] == ("sandbox",))
        or (isinstance(part, checked.ResourceTest) and part.form == "only" and part.verb in verbs)
        for part in _parts(program.policy.layers)
    )


def tells_agents_apart(program: Program) -> bool:
    """Return whether a call may be decided differently because of the name of its agent."""
    return len(program.policy.layers) > 1 or any(
        (isinstance(part, checked.Fact) and part.path[0] == "agent")
        or (isinstance(part, checked.CheckedLimit) and part.scope == "agent")
        for part in _parts(program.policy.layers)
    )


def _only_grants(statement: Any) -> bool:
    if not isinstance(statement, checked.CheckedRule) or statement.with_approval:
        return isinstance(statement, checked.CheckedInvariant) or not _reads_groups(statement)
    grants = statement.verdict is Verdict.ALLOW
    return _is_met_less(statement.when, less=grants) and _is_met_less(
        statement.unless, less=not grants
    )


def _is_met_less(test: checked.Test | None, *, less: bool) -> bool:
    """Return whether a test is met by no more calls with fewer groups, or else by no fewer."""
    match test:
        case checked.AllOf(tests=tests) | checked.AnyOf(tests=tests):
            return all(_is_met_less(one, less=less) for one in tests)
        case checked.NotOf(test=inner):
            return _is_met_less(inner, less=not less)
        case checked.Membership(left=left, right=checked.Fact(path=path)) if path == _GROUPS:
            return less and not _reads_groups(left)
        case _:
            return not _reads_groups(test)


def _reads_groups(node: Any) -> bool:
    return any(isinstance(part, checked.Fact) and part.path == _GROUPS for part in _parts(node))


def _parts(node: Any) -> Iterator[Any]:
    """Yield a part of a policy and all its parts."""
    yield node
    if isinstance(node, tuple):
        for one in node:
            yield from _parts(one)
    elif is_dataclass(node):
        for part in fields(node):
            yield from _parts(getattr(node, part.name))
