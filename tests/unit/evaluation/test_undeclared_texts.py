"""Strings that no declaration names are read once, however many rules there are, up to a bound."""

from __future__ import annotations

from pathlib import Path

import pytest

import policy
from policy.catalog import Origin, ToolSpec
from policy.evaluation.effects import MOST_TEXTS
from policy.model import Caller, Facts, ToolCall
from policy.values import Path as ReadPath
from policy.values import PathContext, Unreadable, read_path

_SPEC = ToolSpec(
    name="fill",
    origin=Origin(tool="fill"),
    schema={"type": "object", "properties": {"cells": {"type": "array"}}},
    complete=False,
)
_FILES = "".join(f'r{n}: deny * when reads "**/secret{n}" because "no"\n' for n in range(20))


def _verdict(folder: Path, rules: str, cells: list[str]) -> str:
    place = folder / "rules"
    place.mkdir(exist_ok=True)
    header = "policy for every agent\n\ndefault deny\nok: allow fill\n"
    (place / "global.policy").write_text(header + rules)
    judge = policy.load(place, catalog=policy.builtin_catalog().with_tools([_SPEC]))
    facts = Facts(workspace=str(folder / "work"))
    call = ToolCall(tool="fill", input={"cells": cells})
    return str(judge.decide(call, Caller(user="ada"), facts=facts).verdict)


def test_each_string_is_read_once_for_all_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def counted(text: str, context: PathContext, *, tree: bool = False) -> ReadPath | Unreadable:
        read.append(text)
        return read_path(text, context, tree=tree)

    monkeypatch.setattr("policy.evaluation.possible_resources.read_path", counted)
    cells = [f"cell {n}" for n in range(200)]
    assert _verdict(tmp_path, _FILES, [*cells, *cells]) == "allow"
    assert sorted(read) == sorted(cells)


@pytest.mark.parametrize(
    "cell",
    ["secret7", "a/secret7", "./a/secret7", "x/../secret7", "s\N{ZERO WIDTH SPACE}ecret7", "{}\\x"],
)
def test_one_string_of_many_that_may_be_a_guarded_file_is_found(tmp_path: Path, cell: str) -> None:
    cells = [f"cell {n}" for n in range(200)]
    assert _verdict(tmp_path, _FILES, cells) == "allow"
    assert _verdict(tmp_path, _FILES, [*cells[:100], cell, *cells[100:]]) == "deny"


def test_beyond_the_bound_any_string_may_be_a_resource(tmp_path: Path) -> None:
    cells = [f"Zellgröße {n}" for n in range(MOST_TEXTS)]
    assert _verdict(tmp_path, _FILES, cells) == "allow"
    assert _verdict(tmp_path, _FILES, [*cells, *cells]) == "allow"
    assert _verdict(tmp_path, _FILES, [*cells, "one more"]) == "deny"


@pytest.mark.parametrize("cells", [["a"] * 5_000, [f"{n}" for n in range(501)], ["x" * 3_000] * 9])
def test_many_strings_may_be_a_command(tmp_path: Path, cells: list[str]) -> None:
    rules = 'no: deny * when runs "rm *"\n'
    distinct = [f"{cell}{n}" for n, cell in enumerate(cells)] if len(set(cells)) == 1 else cells
    assert _verdict(tmp_path, rules, cells[:1] * 5_000) == "allow"
    assert _verdict(tmp_path, rules, distinct[:4]) == "allow"
    assert _verdict(tmp_path, rules, distinct) == "deny"
