"""The page of behaviours: every test that it names exists and uses a public entry point."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tool-service-parts.md"
ROW = re.compile(r"^\| (.+) \| \[`(\w+)`\]\(\.\./(tests/[\w/]+\.py)\) \|$", re.M)
# What a test that goes through the front door says, itself or in the stage it shares.
FRONT_DOOR = ("build_tool_service(", "tool_server(", '"serve"')


ROWS = ROW.findall(PAGE.read_text())


def test_every_row_names_a_behaviour_and_its_test() -> None:
    tables = PAGE.read_text().count("|---|---|")
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    # Each table has one line that is no row: its head.
    assert len(ROWS) == len(lines) - tables
    assert len({behaviour for behaviour, _, _ in ROWS}) == len(ROWS) > 50


@pytest.mark.parametrize(("name", "path"), sorted({(row[1], row[2]) for row in ROWS}))
def test_each_part_is_shown_through_the_front_door(name: str, path: str) -> None:
    assert name in functions(path)
    assert any(word in text for text in with_what_it_shares(path) for word in FRONT_DOOR)


@cache
def functions(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / path).read_text())
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in tree.body if isinstance(node, kinds))


@cache
def with_what_it_shares(path: str) -> tuple[str, ...]:
    """Return the text of a test's module, and of the modules of tests that it imports."""
    text = (ROOT / path).read_text()
    shared = re.findall(r"^from (tests\.[\w.]+) import", text, re.M)
    files = [ROOT / f"{module.replace('.', '/')}.py" for module in shared]
    return (text, *(file.read_text() for file in files))
