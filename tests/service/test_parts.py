"""The page of parts is whole: every number it must name has a test, and every test is there."""

from __future__ import annotations

import ast
import re
from functools import cache
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tool-service-parts.md"
ROW = re.compile(r"^\| ([0-9, \-]+) \| (.+) \| \[`(\w+)`\]\(\.\./(tests/[\w/]+\.py)\) \|$", re.M)
LATER = {26, 43, 44, 75, 76, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 220, 223}
WANTED = (
    set(
        chain(
            range(1, 84), (109, 110), range(121, 166), range(175, 197), range(215, 220), (221, 222)
        )
    )
    | {224}
) - LATER
# What a test that goes through the front door says, itself or in the stage it shares.
FRONT_DOOR = ("build_tool_service(", "tool_server(", '"serve"')


def numbers(text: str) -> list[int]:
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


ROWS = ROW.findall(PAGE.read_text())


def test_every_number_is_there_once() -> None:
    named = sorted(chain.from_iterable(numbers(row[0]) for row in ROWS))
    assert named == sorted(WANTED)
    # Nothing else in the table, such as a row that this test cannot read.
    assert len(ROWS) == sum(line.startswith("| ") for line in PAGE.read_text().splitlines()) - 1


@pytest.mark.parametrize(("name", "path"), sorted({(row[2], row[3]) for row in ROWS}))
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
