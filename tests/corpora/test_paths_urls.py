"""Spellings of paths and URLs that bypassed other guards are denied; everyday ones pass."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from policy.decision import Decision
from tests.corpora.judging import COLLECTED, filled, judge, lay_down, meets, rows, told
from tests.corpora.policies import path_policy, url_policy

FIXTURE, *ROWS = rows(COLLECTED / "paths_urls.jsonl")
FOLDING = ("Windows", "case-insensitive file system")


def _of_kind(kind: str) -> list[Any]:
    return [pytest.param(row, id=row["id"]) for row in ROWS if row["kind"] == kind]


@pytest.mark.parametrize("row", _of_kind("path"))
def test_a_path_gets_its_verdict(row: dict[str, Any], tmp_path: Path) -> None:
    if row.get("needs") == "Linux" and not os.path.exists("/proc/self/root"):
        pytest.skip("holds only where /proc is")
    places = {
        "{WS}": str(tmp_path / "ws"),
        "{OUT}": str(tmp_path / "out"),
        "{HOME}": str(tmp_path / "home"),
        "{ALIAS}": str(tmp_path / "alias"),
    }
    lay_down([*filled(FIXTURE["base"], places), *filled(row["fixture"], places)])
    decision = judge(
        path_policy(filled(row["rules"], places)),
        row["tool"],
        filled(row["input"], places),
        workspace=Path(filled(row["cwd"], places)),
        home=tmp_path / "home",
        folds=row.get("needs") in FOLDING,
    )
    assert meets(decision, row["must_be"]), f"{row['input']}\n{told(decision)}"


@pytest.mark.parametrize("row", _of_kind("url"))
def test_a_url_gets_its_verdict(row: dict[str, Any], tmp_path: Path) -> None:
    """Each redirect is a call of its own; the strictest verdict is that of the row."""
    inputs = [row["input"], *({**row["input"], "url": hop} for hop in row.get("redirects", ()))]
    decisions = [_judge(row, given, tmp_path) for given in inputs]
    strictest = max(decisions, key=lambda one: one.verdict.rank)
    assert meets(strictest, row["must_be"]), f"{row['input']}\n{told(strictest)}"


def _judge(row: dict[str, Any], given: dict[str, Any], folder: Path) -> Decision:
    policy = url_policy(row["rules"])
    return judge(policy, row["tool"], given, workspace=folder, hosts=row.get("resolver"))
