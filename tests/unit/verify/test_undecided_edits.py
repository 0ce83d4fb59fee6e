"""Where it is undecided whether an edit loosens, a comparison says why, where, and what helps."""

from __future__ import annotations

import sys

import pytest

from policy.catalog import ToolSpec, builtin_catalog
from policy.generation import shipped_profiles
from policy.verify import Difference, compare
from tests.laws.engine import build_over
from tests.laws.policies import GLOBAL, PolicyText
from tests.unit.verify.proving import Policy, built_of, tool

NUMBER = {"type": "number"}
PAY = tool("pay", {"a": NUMBER, "b": NUMBER})
LARGE = tool("large", {"xs": {"type": "array", "items": NUMBER, "minItems": 20_000}, "n": NUMBER})


def _difference(spec: ToolSpec, before: str, after: str) -> Difference:
    old, new = (
        Policy(
            program=built_of(
                {GLOBAL: ("policy for every agent", "default deny", rule)}, specs=(spec,)
            ).program
        )
        for rule in (before, after)
    )
    return compare(old, new)


def test_without_z3_it_says_so_and_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "z3", None)
    # Both allow the same calls: at most 80 is left for `a`.
    rest = "input.a + input.b <= 100 and input.a + 2 * input.b >= 120"
    sums = [f"p: allow pay when input.a <= {bound} and {rest}" for bound in (95, 90)]
    (row,) = _difference(PAY, *sums).tools
    undecided = next(one for one in (row.looser, row.tighter) if one.found == "undecided")
    assert "z3, which is not installed" in undecided.because
    assert undecided.help.startswith("install placet[analysis]")


def test_inputs_that_are_too_large_are_named() -> None:
    rules = [f"l: allow large when input.n <= {n}" for n in (1, 2)]
    (row,) = _difference(LARGE, *rules).tools
    assert row.looser.found == "undecided"
    assert row.looser.because == "its schema demands inputs that are too large to be tried"
    assert row.looser.help


def test_the_condition_that_differs_is_named_with_its_place() -> None:
    rules = [f'r: allow bash_exec when runs only "git *" and reads only "{s}"' for s in "ab"]
    rules = [rule.replace('"a"', '"~/a/**"').replace('"b"', '"~/b/**"') for rule in rules]
    lines = ("policy for every agent", "default deny")
    old, new = (
        Policy(
            program=build_over(
                PolicyText(files=((GLOBAL, (*lines, rule)),)),
                builtin_catalog(),
                profiles=shipped_profiles(),
            ).program
        )
        for rule in rules
    )
    found = compare(old, new)
    (row,) = found.tools
    because = f'`reads only "~/a/**"` in r ({GLOBAL}:3): what commands access is not derived'
    open_ones = [one for one in (row.looser, row.tighter) if one.found == "undecided"]
    assert open_ones
    assert open_ones[0].because.startswith(because)
    assert open_ones[0].help.startswith("write down")
