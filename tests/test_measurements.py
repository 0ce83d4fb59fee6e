"""The measurements are honest: the gate notices growth, and adapters give rules their meaning."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from bench import verbs_workload, workload
from bench.adapters import floor
from bench.counting import counted
from bench.gate import ACCEPTED, told
from bench.gate_numbers import compare
from bench.goals import GOALS, goals_table
from bench.page import GROWTH_MARKS, MARKS, PAGE, PEERS_MARKS, READING_MARKS, between_marks, joined
from bench.peers_adapter import Engine, Raw
from bench.rows import Chart, Part
from bench.subjects.verbs import Verbs

_BEFORE = {"a decision": {"opcodes": 300.0, "calls": 20.0}, "admission": {"opcodes": 800.0}}


# ------------------------------------------------------------------ the gate


def test_equal_counts_pass(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(_BEFORE, _BEFORE) == 0
    assert "nothing grew" in capsys.readouterr().out


def test_a_step_more_is_told_and_ends_with_status_1(capsys: pytest.CaptureFixture[str]) -> None:
    slower = {**_BEFORE, "a decision": {"opcodes": 330.0, "calls": 20.0}}
    assert told(_BEFORE, slower) == 1
    said = capsys.readouterr().out
    assert "grew: a decision: 300 opcodes, now 330 (+10.0 %)" in said
    assert "admission" not in said


def test_what_is_within_the_tolerance_passes() -> None:
    assert compare(_BEFORE, {**_BEFORE, "a decision": {"opcodes": 308.0, "calls": 20.5}}).holds


def test_a_workload_that_only_one_side_knows_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(_BEFORE, {"a decision": _BEFORE["a decision"]}) == 1
    assert "admission: opcodes" in capsys.readouterr().out


def test_what_shrank_much_is_to_be_accepted(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(_BEFORE, {**_BEFORE, "admission": {"opcodes": 600.0}}) == 0
    assert "shrank, to be accepted: admission" in capsys.readouterr().out


@pytest.mark.long
def test_counts_are_the_same_each_time_and_a_slower_step_counts_more() -> None:
    rules = workload.make_rules(10)
    asked = floor.Engine()
    asked.tools = [tool for tool, _ in workload.universe(10)]
    asked.load(asked.translate(rules))
    requests = workload.make_requests(10, 10)

    def decide() -> None:
        for request in requests:
            asked.decide(request)

    def decide_slower() -> None:
        for request in requests:
            dict(request["args"]).keys()
            asked.decide(request)

    decide()
    first = counted(decide).per(10)
    assert counted(decide).per(10) == first
    slower = counted(decide_slower).per(10)
    assert not compare({"a decision": first}, {"a decision": slower}).holds


def test_the_accepted_numbers_are_of_every_workload() -> None:
    from bench.gate_work import workloads

    names = [name for name, _ in workloads()]
    accepted = json.loads(ACCEPTED.read_text(encoding="utf-8"))
    assert accepted
    for counts in accepted.values():
        assert list(counts) == names


# ------------------------------------------------------------------ what is measured


@pytest.mark.parametrize("profile", ["full", "basic", "skew"])
def test_the_engines_say_what_the_rules_mean(profile: str) -> None:
    n = 40
    rules = workload.make_rules(n, profile=profile)
    requests = workload.make_requests(n, 150, profile=profile)
    tools = [tool for tool, _ in workload.universe(n, profile)]
    wanted = workload.verdicts(rules, requests, tools)
    ours = Engine()
    ours.tools = tools
    ours.load(ours.translate(rules))
    raw = Raw()
    raw.use(ours.generation)
    least = floor.Engine()
    least.load(least.translate(rules))
    for engine in (ours, raw, least):
        assert [engine.decide(request) for request in requests] == wanted
    assert [ours.decide(request) for request in requests] == wanted


def test_rules_that_no_call_can_meet_are_left_out() -> None:
    rule: dict[str, Any] = {
        "id": "r1",
        "effect": "allow",
        "tool": {"exact": "t"},
        "roles": None,
        "conds": [
            {"kind": "int_cmp", "field": "size", "op": "<", "value": 5},
            {"kind": "int_cmp", "field": "size", "op": ">", "value": 4},
        ],
    }
    assert "r1" not in Engine().translate([rule])
    rule["conds"][0]["value"] = 6
    assert "r1: allow t when input.size < 6 and input.size > 4" in Engine().translate([rule])


@pytest.mark.parametrize("plain", [True, False])
def test_rules_about_resources_get_their_verdicts(*, plain: bool) -> None:
    found = Verbs(n=10, plain=plain).check()
    assert set(found) == set(verbs_workload.KINDS)
    for pairs in found.values():
        assert pairs
        assert [said for said, _ in pairs] == [wanted for _, wanted in pairs]
        assert {wanted for _, wanted in pairs} == {"allow", "deny"}


# ------------------------------------------------------------------ the page


def test_every_goal_says_whether_it_was_met() -> None:
    figures = {goal.figure: goal.limit for goal in GOALS}
    assert goals_table(figures).count("| yes |") == len(GOALS)
    worse = {goal.figure: goal.limit * (0.5 if goal.least else 2) for goal in GOALS}
    assert goals_table(worse).count("| **no** |") == len(GOALS)
    assert goals_table({}).count("| not measured |") == len(GOALS)


def test_only_what_stands_between_the_marks_is_replaced() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for marks in (MARKS, PEERS_MARKS, READING_MARKS, GROWTH_MARKS):
        written = between_marks(page, "new text", marks=marks)
        assert f"{marks[0]}\n\nnew text\n{marks[1]}" in written
        assert between_marks(written, "new text", marks=marks) == written
        outside = re.compile(f"{marks[0]}.*{marks[1]}", re.DOTALL)
        assert outside.sub("", written) == outside.sub("", page)
    with pytest.raises(ValueError, match="lost"):
        between_marks("no marks", "text", marks=MARKS)


def test_charts_of_one_key_are_one() -> None:
    load = Chart(key="loading", title="Loading", unit="ms", lines={"a": [(1, 2)]})
    edit = Chart(key="loading", title="", unit="ms", lines={"b": [(1, 1)]})
    (chart,) = joined([Part(charts=(load,)), Part(charts=(edit,))]).charts
    assert chart.title == "Loading"
    assert list(chart.lines) == ["a", "b"]


def test_the_pictures_are_those_of_the_page_and_small() -> None:
    pictures = list(PAGE.with_suffix("").glob("*.svg"))
    assert all(picture.stat().st_size < 60_000 for picture in pictures)
    named = set(re.findall(r"\(performance/([^)]+)\)", PAGE.read_text(encoding="utf-8")))
    assert named == {picture.name for picture in pictures}
