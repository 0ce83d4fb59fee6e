"""`placet limits`, after calls through a service that keeps its history in a file."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import policy
from policy.model import Caller, ToolError
from policy.service import tool
from tests.unit.cli.running import run

RULES = """policy for every agent

default deny
go: allow search, pay
few: limit search to 3 per session because "not so many"
spend: limit pay to 10 of input.amount per day per user
all: limit search, pay to 100 per hour
"""


@tool
def search(query: str) -> str:
    """Search."""
    return "found"


@tool
def pay(amount: float) -> str:
    """Pay."""
    return "paid"


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "all.policy").write_text(RULES)
    (folder / "placet.toml").write_text('[history]\nstore = "../history.sqlite"\n')
    return folder


def make_calls(rules: Path, *calls: tuple[Caller, str, dict[str, Any]]) -> list[str]:
    """Make calls through a service, and return their codes."""
    service = policy.build_tool_service(
        policy.PolicyStore(rules), tools=[search, pay], workspace=rules.parent / "work"
    )

    async def make() -> list[str]:
        codes = []
        for caller, name, input in calls:
            try:
                await service.bound_to(caller).execute(name, input)
                codes.append("ran")
            except ToolError as error:
                codes.append(error.code)
        return codes

    return asyncio.run(make())


def test_what_is_used_and_left_is_shown_for_each_budget(rules: Path) -> None:
    ada, bob = Caller(session="s1", user="ada"), Caller(session="s2", user="bob")
    looked = (ada, "search", {"query": "q"})
    paid = (bob, "pay", {"amount": 2.5})
    assert make_calls(rules, *[looked] * 4, paid, (Caller(), "pay", {"amount": 9.5})) == [
        *["ran"] * 3,
        "limit-reached",
        "ran",
        "ran",
    ]
    shown = run("limits", rules)
    assert shown.code == 0
    lines = [line.partition(";")[0] for line in shown.out.splitlines()]
    assert lines == [
        f"few ({rules}/all.policy:5)",
        "  limit search to 3 per session",
        "    session s1 of ada: 3 of 3 used, 0 left",
        f"spend ({rules}/all.policy:6)",
        "  limit pay to 10 of input.amount per day per user",
        "    no user: 9.5 of 10 used, 0.5 left",
        "    user bob: 2.5 of 10 used, 7.5 left",
        f"all ({rules}/all.policy:7)",
        "  limit search, pay to 100 per hour",
        "    5 of 100 used, 95 left",
    ]
    assert "; the oldest counts for 1h more" in shown.out
    few, spend, _ = run("limits", rules, "--format", "json").record["limits"]
    assert few["budgets"] == [
        {
            "of": None,
            "sessions": [{"user": "ada", "session": "s1"}],
            "used": "3",
            "left": "0",
            "frees_in_seconds": None,
        }
    ]
    assert [(each["of"], each["used"]) for each in spend["budgets"]] == [
        (None, "9.5"),
        ("bob", "2.5"),
    ]


def test_an_edit_that_lowers_a_limit_shows_what_is_too_much(rules: Path) -> None:
    make_calls(rules, *[(Caller(), "search", {"query": "q"})] * 3)
    (rules / "all.policy").write_text(
        RULES.replace("few: limit search to 3", "less: limit search to 1")
    )
    assert "3 of 1 used, 2 too much" in run("limits", rules).out


def test_nothing_is_used_before_the_first_call(rules: Path) -> None:
    shown = run("limits", rules)
    assert shown.out.count("nothing is used") == 3
    assert not (rules.parent / "history.sqlite").exists()


def test_a_store_that_is_not_there_or_cannot_be_read_is_told(
    rules: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("limits", rules, "--store", tmp_path / "no").code == 2
    (tmp_path / "history.sqlite").write_text("no database")
    broken = run("limits", rules)
    assert broken.code == 2
    assert "cannot be kept" in broken.err
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (rules / "placet.toml").unlink()
    memory = run("limits", rules)
    assert memory.code == 2
    assert "in memory" in memory.err


def test_a_policy_with_errors_or_without_limits_is_told(rules: Path) -> None:
    (rules / "all.policy").write_text("policy for every agent\n\ndefault deny\n")
    assert run("limits", rules).out == "this policy has no limits\n"
    (rules / "all.policy").write_text("policy for every agent\n\ndefault den\n")
    assert run("limits", rules).code == 1
