"""The two lists of lints: every lint is in one, and those on new rules lose no report."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from policy.catalog import builtin_catalog
from policy.checks import lints
from policy.generation import Builder, ReadFile, Snapshot

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_every_lint_is_run() -> None:
    """A module of the folder that no list names would be a lint that never runs."""
    folder = Path(lints.__file__).parent
    modules = {file.stem for file in folder.glob("*.py")} - {"__init__", "context"}
    run = [one.__name__.rpartition(".")[2] for one in (*lints.ON_NEW_RULES, *lints.ON_EVERY_BUILD)]
    assert sorted(run) == sorted(modules)


def snapshot(text: str) -> Snapshot:
    """Return a folder with one file, as it is read."""
    name = "a.policy"
    file = ReadFile(name=name, lexical=f"/p/{name}", real=f"/p/{name}", content=text.encode())
    return Snapshot(
        path="/p", root="/p", real_root="/p", only=None, files={name: file}, unread={}, digest=text
    )


@pytest.mark.parametrize("shift", [0, 3, 10])
def test_a_lint_may_point_anywhere_in_a_rule_and_reports_it_at_every_build(
    monkeypatch: pytest.MonkeyPatch, shift: int
) -> None:
    def find(scene: Any) -> None:
        for rule in scene.check.fresh:
            if rule.id == "a":
                span = replace(rule.span, start=rule.span.start + shift)
                scene.check.report.add("unnamed-rule", "look here", span=span)

    monkeypatch.setattr(lints, "ON_NEW_RULES", (SimpleNamespace(find=find),))
    text = "policy for every agent\n\ndefault deny\na: allow file_read\nb: allow file_list\n"
    builder = Builder()
    for written in (text, text, text + "c: deny file_write\n"):
        built = builder.build(snapshot(written), catalog=builtin_catalog(), number=1, now=NOW)
        assert [one.message for one in built.diagnostics] == ["look here"]
