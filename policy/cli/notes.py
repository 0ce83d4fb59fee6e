"""What a valid policy may lack: notes for its author, beside the diagnostics."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from policy.cli.approver_groups import groups_without_members, note_on_groups
from policy.cli.loading import prefix
from policy.diagnostics import display_name, visible
from policy.generation import Generation
from policy.model import Reason, Verdict
from policy.values import quote
from policy.verify import EXAMPLE, restricts_unseen_code

NO_TESTS = (
    "note: no tests show that the rules mean what their author means; "
    "`placet check --explain failed-test` shows how to write one"
)


def notes_on(generation: Generation, path: Path) -> Iterator[str]:
    """Yield the notes on a policy that loads from `path`."""
    if not generation.examples:
        yield NO_TESTS
    if restricting := restricts_unseen_code(generation.program):
        yield _on_code(restricting, prefix(path))
    settings = generation.settings.approvals
    empty = groups_without_members(generation)
    # Once there are groups, `unknown-group` reports the others.
    if empty and not (settings and settings.groups):
        yield f"note: {note_on_groups(empty, root=prefix(path))}"


def _on_code(reasons: tuple[Reason, ...], root: str) -> str:
    """Return one note on all rules that restrict code on the command line."""
    said = []
    for verdict, one, several in _SAID:
        places = [_place(reason, root) for reason in reasons if reason.verdict is verdict]
        if places:
            said.append(f"{', '.join(places)} {one if len(places) == 1 else several}")
    return (
        f"note: {' and '.join(said)} all code on the command line, such as `{EXAMPLE}`, which "
        "other rules allow: what such code does is not visible. If that is not meant, name the set "
        f"and leave the code out: `{_example(reasons[0].clause or '')}`"
    )


_SAID = ((Verdict.DENY, "denies", "deny"), (Verdict.ASK, "asks about", "ask about"))


def _place(reason: Reason, root: str) -> str:
    file = visible(display_name(reason.file or "", root=root), 200)
    return f"{quote(reason.rule)} ({file}:{reason.line})"


def _example(clause: str) -> str:
    """Return a set without code on the command line, of the type that a clause needs."""
    if re.search(r"\b(reads|writes)\b", clause):
        return 'paths env = "**/.env" except inline_code'
    if re.search(r"\bruns\b", clause):
        return 'commands pushes = "git push *" except inline_code'
    return 'hosts theirs = "*.corp.example" except inline_code'
