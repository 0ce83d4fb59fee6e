"""Runs every golden case through its stage and compares the result with its blocks."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TypeAlias

import pytest

from policy.catalog import builtin_catalog, read_listing
from policy.checks import PolicySources, check
from policy.diagnostics import render
from policy.generation import Builder, read_settings, shipped_profiles
from policy.layers import merge
from policy.model import Source
from policy.program import NO_SHORTCUTS
from policy.syntax import format_source, parse, tables_to_layers
from tests.case_files import Case, diagnostic_lines, find_cases, mismatches, update
from tests.cases.deciding import decisions, explanations, lines, load
from tests.cases.proving import proofs

Produce: TypeAlias = Callable[[Case], Mapping[str, str]]


def syntax(case: Case) -> dict[str, str]:
    """Parse and print each policy of the case, apart from the others."""
    files = [parse(Source(name=n, text=t)) for n, t in case.files.items() if n.endswith(".policy")]
    nodes = [n for f in files for n in (f.tree.header, *f.tree.statements) if n is not None]
    return {
        "diagnostics": diagnostic_lines(d for f in files for d in f.diagnostics),
        "formatted": "".join(format_source(f) for f in files),
        "tree": "".join(f"{line}\n" for node in nodes for line in outline(node)),
    }


def checks(case: Case) -> dict[str, str]:
    """Check the policies of the case together, with the built-in tools and those it lists."""
    files = [parse(Source(name=n, text=t)) for n, t in case.files.items() if n.endswith(".policy")]
    data = {n: json.loads(t) for n, t in case.files.items() if n.endswith(".json")}
    listed = read_listing(data.pop("catalog.json", []), reviewed=True).specs
    tables = Source(name="placet.toml", text=case.files.get("placet.toml", ""))
    settings = tomllib.loads(tables.text)
    rules = tables_to_layers(settings, source=tables)
    catalog = builtin_catalog().with_tools(listed)
    found = check(
        PolicySources(
            files=tuple(f.tree for f in files),
            tables=tuple((binding, rest, tables) for binding, rest in rules.layers),
            data=data,
            context=settings.get("context", {}),
            profiles=shipped_profiles(),
            groups=settings.get("approvals", {}).get("groups", {}),
            retention=read_settings(tables, root="/")[0].history.retention,
        ),
        catalog,
    )
    said = [d for f in files for d in f.diagnostics]
    said += [*rules.diagnostics, *found.diagnostics, *merge(found.policies, catalog).diagnostics]
    return {"diagnostics": diagnostic_lines(said)}


def reports(case: Case) -> dict[str, str]:
    """Build the policies of the case, and show what is wrong with them as `placet check` does."""
    built = load(case, catalog=builtin_catalog())
    report = render(built.diagnostics, sources=built.sources)
    return {"report": report, "diagnostics": diagnostic_lines(built.diagnostics)}


# What each folder's cases are put through: a case in, the text of every block it can expect out.
STAGES: dict[str, Produce] = {
    "checks": checks,
    "decisions": decisions,
    "explanations": explanations,
    "lines": lines,
    "proofs": proofs,
    "slips": reports,
    "syntax": syntax,
}

CASES = find_cases(Path(__file__).parent)


def outline(value: object, label: str = "") -> Iterator[str]:
    """Yield a tree as indented lines: nodes by type, fields by name, empty ones left out."""
    if isinstance(value, tuple):
        yield f"{label}:"
        for item in value:
            yield from (f"  {line}" for line in outline(item))
    elif is_dataclass(value):
        yield f"{label}: {type(value).__name__}" if label else type(value).__name__
        for field in fields(value):
            inner = getattr(value, field.name)
            if field.compare and inner not in (None, (), False):
                yield from (f"  {line}" for line in outline(inner, field.name))
    else:
        shown = str(value) if isinstance(value, str) else repr(value)
        yield f"{label}: {shown}" if label else shown


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


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=f"{case.path.stem}: {case.name}")
        for case in CASES
        if case.stage == "decisions"
    ],
)
def test_a_case_is_decided_alike_without_any_quick_way(case: Case) -> None:
    slow = Builder(remembering=False, engine="lark", shortcuts=NO_SHORTCUTS)
    assert decisions(case, slow) == decisions(case)
