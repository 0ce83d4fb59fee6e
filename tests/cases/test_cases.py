"""Runs every golden case: a stage's inputs go through that stage, its blocks are compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.case_files import Case, find_cases, mismatches, update

Produce: TypeAlias = Callable[[Case], Mapping[str, str]]

# What each folder's cases are put through: a case in, the text of every block it can expect out.
STAGES: dict[str, Produce] = {}

CASES = find_cases(Path(__file__).parent)


def test_every_folder_of_cases_belongs_to_a_stage() -> None:
    assert {case.stage for case in CASES} == set(STAGES)


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=f"{case.stage}/{case.path.stem}: {case.name}") for case in CASES]
)
def test_case(case: Case, update_cases: bool) -> None:
    produced = STAGES[case.stage](case)
    if update_cases:
        update(case, produced)
        return
    if difference := mismatches(case, produced):
        pytest.fail(f"{case.path}:{case.line}: {case.name}\n{difference}", pytrace=False)
