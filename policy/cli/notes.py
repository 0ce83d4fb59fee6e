"""What a valid policy may lack: notes for its author, beside the diagnostics."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

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
    for reason in restricts_unseen_code(generation.program):
        yield _on_code(reason, prefix(path))


def _on_code(reason: Reason, root: str) -> str:
    place = f"{visible(display_name(reason.file or '', root=root), 200)}:{reason.line}"
    denies = "denies" if reason.verdict is Verdict.DENY else "asks about"
    return (
        f"note: {quote(reason.rule)} ({place}) {denies} all code on the command line, such as "
        f"`{EXAMPLE}`, which other rules allow: what such code does is not visible. If that is not "
        'meant, name the set and leave the code out: `paths env = "**/.env" except inline_code`'
    )
