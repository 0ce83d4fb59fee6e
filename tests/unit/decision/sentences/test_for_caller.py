"""The lines that tell a model its rules: bounded, one line each, in a fixed order."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy.catalog import Catalog, Origin, ToolSpec
from policy.decision import lines_for
from policy.layers import merge
from policy.model import Caller
from policy.program import compile_policy
from tests.examples import examples
from tests.laws.situations import Situation, situations
from tests.unit.checks.checking import checked
from tests.unit.program.compiling import ANN, HERE, program

LONGEST = 500


@settings(max_examples=examples(60))
@given(situations())
def test_every_policy_is_told_in_whole_lines_of_bounded_length(case: Situation) -> None:
    lines = lines_for(case.built.program, case.caller, case.facts)
    assert lines
    assert len(set(lines)) == len(lines)
    for line in lines:
        assert line.isprintable()
        assert line.endswith(".")
        assert len(line) <= LONGEST
    assert lines == lines_for(case.built.program, case.caller, case.facts)


@settings(max_examples=examples(40))
@given(st.text(max_size=600), st.text(max_size=600))
def test_no_text_of_an_author_makes_a_line_long_or_two(condition: str, because: str) -> None:
    quoted = "".join(
        f"\\u{{{ord(char):x}}}" for char in condition if not "\ud800" <= char < "\ue000"
    )
    reason = "".join(f"\\u{{{ord(char):x}}}" for char in because if not "\ud800" <= char < "\ue000")
    body = f'default allow\na: deny t when input.x == "z{quoted}" because "{reason}"'
    first, *_ = lines_for(program(body), ANN, HERE)
    assert not {unicodedata.category(char) for char in first} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert len(first) <= LONGEST


def test_what_is_for_the_log_or_for_trial_is_not_told() -> None:
    body = 'default deny\na: allow t audit "for the log"\nb: shadow deny u because "on trial"'
    told = " ".join(lines_for(program(body), ANN, HERE))
    assert "log" not in told
    assert "trial" not in told


def test_beyond_a_bound_rules_are_counted_and_the_defaults_stay() -> None:
    rules = "\n".join(f"r-{n}: deny t when input.x == {n}" for n in range(1_000))
    lines = lines_for(program(f"default deny\nallow u\n{rules}"), ANN, HERE)
    assert len(lines) == 201
    assert lines[-1] == "Everything else is denied."
    assert lines[-2].endswith("more rules are not shown here; they apply as well.")


def test_two_rules_that_say_the_same_are_told_once() -> None:
    lines = lines_for(program("default allow\na: deny t\nb: deny t"), ANN, HERE)
    assert lines.count("`t` is denied.") == 1


def test_the_versions_of_a_tool_are_told_apart() -> None:
    specs = tuple(
        ToolSpec(name="say", origin=Origin(tool="say"), version=version) for version in (1, 2)
    )
    catalog = Catalog(specs=specs, complete=True)
    text = 'policy for every agent\ndefault deny\na: allow say\nb: deny "say@1"\n'
    layered = merge(checked({"global.policy": text}, catalog=catalog).policies, catalog).policy
    assert lines_for(compile_policy(layered, catalog), ANN, HERE) == (
        "Each of `say@1` and `say@2` is allowed.",
        "`say@1` is denied.",
        "Everything else is denied.",
    )


def test_a_role_sees_the_rules_of_its_own_layer() -> None:
    files = {
        "global.policy": "policy for every agent\ndefault allow\n",
        "roles/clerk.policy": 'policy for role "clerk"\nno: deny pay\n',
    }
    compiled = program(files)
    assert "`pay` is denied." in lines_for(compiled, Caller(role="clerk"), HERE)
    assert "`pay` is denied." not in lines_for(compiled, Caller(), HERE)


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("(input.x + 1) * 2 > 3", "(its `x` + 1) * 2 is more than 3"),
        ("input.x - (1 - 2) > 3", "its `x` - (1 - 2) is more than 3"),
        (
            "2 * max(input.x, 1 + 2) > 3",
            "2 * (the largest of its `x` and 1 + 2) is more than 3",
        ),
        (
            '(all v in input.x: v == "x") and input.x == 1',
            '(for every `a` of its `x`, `a` is "x") and its `x` is 1',
        ),
        (
            '(any v in input.x: v == "x") or input.x == 1',
            '(for some `a` of its `x`, `a` is "x") or its `x` is 1',
        ),
        (
            r'input.x == "x\" or its `x` is \"y"',
            r'its `x` is "x\" or its `x` is \"y"',
        ),
    ],
)
def test_what_belongs_together_cannot_be_read_apart(condition: str, words: str) -> None:
    first, *_ = lines_for(program(f"default allow\na: deny t when {condition}"), ANN, HERE)
    assert first == f"`t` is denied when {words}."
