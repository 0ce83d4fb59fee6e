"""Mistakes of newcomers in the policy that ships as an example are found by comparing."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from policy.catalog import builtin_catalog
from policy.generation import Builder, Generation, Snapshot, read_folder, with_file
from policy.verify import compare

RULES = Path(__file__).resolve().parents[3] / "rules"
GLOBAL = "global.policy"
RESEARCH, CODER = "agents/research.policy", "agents/coder.policy"


# What was thought, the edit, and a part of the call that shows what it does.
EDITS = (
    # "the agent needs to read the system's configuration"
    (GLOBAL, "reads only workspace", 'reads only [workspace, "/etc/**"]', "file_read", "/etc"),
    # "approving each deletion is tedious"
    (GLOBAL, "  with approval\n", "", "file_delete", "file_delete"),
    # "the code owners' file is only text"
    (GLOBAL, '"**/CODEOWNERS", ', "", "file_write", "CODEOWNERS"),
    # "some sites want a form"
    (RESEARCH, '["GET", "HEAD"]', '["GET", "HEAD", "POST"]', "web_fetch", "POST"),
    # "only the unit tests matter"
    (CODER, '"tests/**" because', '"tests/unit/**" because', "file_write", "/tests"),
    # "sixty seconds are not enough"
    (GLOBAL, "at most 60", "at most 600", "", ""),
)


def _built(snapshot: Snapshot) -> Generation:
    built = Builder().build(
        snapshot, catalog=builtin_catalog(), number=1, now=datetime(2026, 6, 1, tzinfo=UTC)
    )
    found = built.generation or built.failing  # a test in the files may notice an edit, too
    assert found is not None, built.diagnostics
    return found


@pytest.mark.long
def test_each_seeded_mistake_is_shown() -> None:
    found = read_folder(RULES)
    # Proving its claims takes longer than comparing.
    settings = found.files["placet.toml"].content + b'\n[reload]\nproofs = "off"\n'
    snapshot = with_file(found, "placet.toml", settings)
    before = _built(snapshot)
    for file, old, new, _, _ in EDITS:
        text = snapshot.files[file].content.decode()
        assert old in text
        snapshot = with_file(snapshot, file, text.replace(old, new, 1).encode())
    found_difference = compare(before, _built(snapshot))
    shown = [row.looser.witness for row in found_difference.tools if row.looser.witness]
    for _, _, _, tool, call in EDITS[:-1]:
        mine = [one for one in shown if one.situation.spec.name == tool and call in one.call]
        assert mine, (tool, call)
        assert all(one.after.verdict < one.before.verdict for one in mine)
    changes = {(change.kind, change.direction) for change in found_difference.changes}
    assert changes == {("rewrite", "looser"), ("rewrite", "tighter")}
