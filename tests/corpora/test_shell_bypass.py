"""Command lines that bypassed other guards are denied, and everyday ones are allowed.

A row of the level `limit` asks for what no deny rule can promise: that another program does not do
the same work. What is said of those is pinned, not demanded.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.corpora.judging import COLLECTED, ROWS, judge, lay_down, meets, rows, told
from tests.corpora.policies import shell_policy

COLLECTED_ROWS = list(rows(COLLECTED / "shell_bypass.jsonl"))
OWN_ROWS = list(rows(ROWS / "more.jsonl"))
EVERY_ROW = [*COLLECTED_ROWS, *OWN_ROWS]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the rows speak of."""
    folder = tmp_path_factory.mktemp("shell") / "ws"
    files = ("a.txt", "secret.txt", "protected.txt", "list.txt", "data.json", "my-secret.txt.md")
    folders = ("sub", "victimdir", "evilbin", ".git", "../home/.ssh")
    lay_down([["dir", f"{folder}/{name}"] for name in folders])
    lay_down([["file", f"{folder}/{name}"] for name in files])
    lay_down([["link", f"{folder}/to-secret", "secret.txt"]])
    return folder


def _demanded() -> list[Any]:
    return [pytest.param(row, id=row["id"]) for row in EVERY_ROW if row["level"] != "limit"]


@pytest.mark.parametrize("row", _demanded())
def test_a_command_gets_its_verdict(row: dict[str, Any], workspace: Path) -> None:
    decision = _judge(row, workspace)
    assert meets(decision, row["must_be"]), f"{row['command']}\n{told(decision)}"


def test_what_no_deny_can_promise_is_pinned(workspace: Path) -> None:
    limits = {row["id"]: _judge(row, workspace) for row in EVERY_ROW if row["level"] == "limit"}
    missed = {
        row["id"]
        for row in EVERY_ROW
        if row["level"] == "limit" and not meets(limits[row["id"]], row["must_be"])
    }
    assert limits
    assert missed == MISSED_LIMITS


# Rows of the level `limit` that a deny does not stop.
MISSED_LIMITS: set[str] = set()


def test_every_class_has_rows_of_its_own() -> None:
    classes = {row["class"] for row in COLLECTED_ROWS} - {"deny-evasion-other-program"}
    assert classes <= {row["class"] for row in OWN_ROWS}
    assert len(OWN_ROWS) >= 100
    assert len({row["id"] for row in EVERY_ROW}) == len(EVERY_ROW)


def _judge(row: dict[str, Any], workspace: Path) -> Any:
    policy = shell_policy(row["rules"])
    return judge(policy, row["tool"], {"command": row["command"]}, workspace=workspace)
