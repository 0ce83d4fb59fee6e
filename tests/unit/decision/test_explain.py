"""The explanation of a decision: each clause, each layer, and missing values."""

from __future__ import annotations

from collections.abc import Mapping

from policy.decision import Explanation, LayerOutcome, explain
from policy.model import Caller
from policy.program import Program
from tests.unit.program.compiling import ANN, HERE, ask, program


def explained(
    body: str | Mapping[str, str], tool: str, input: object = None, *, caller: Caller = ANN
) -> Explanation:
    asked: Program = program(body)
    decision = ask(asked, tool, input, caller=caller).decision
    return explain(asked, decision, caller=caller, facts=HERE)


def told(layer: LayerOutcome) -> list[tuple[str, str, str, bool]]:
    return [(rule.reason.rule, rule.kind, rule.outcome, rule.counts) for rule in layer.rules]


def test_every_rule_on_the_tool_is_told_whether_it_matched_or_not() -> None:
    found = explained(
        "default deny\n"
        'a: allow t when input.x == "p"\n'
        'b: allow t when input.x == "q"\n'
        'c: deny t when input.y == "p"\n'
        "d: ask t when input.z > 3\n"
        "e: rewrite t when input.x == 7 set input.y = 1\n"
        "f: shadow deny t\n"
        "g: deny u\n",
        "t",
        {"x": "q", "y": 7},
    )
    (layer,) = found.layers
    assert told(layer) == [
        ("a", "allow", "fails", False),
        ("b", "allow", "holds", True),
        ("c", "deny", "indeterminate", True),
        ("d", "ask", "fails", False),
        ("e", "rewrite", "indeterminate", True),
        ("f", "shadow", "holds", True),
    ]
    assert (layer.layer, layer.agent, layer.default_counts) == ("every agent", "ann", False)


def test_a_clause_says_what_it_came_to_and_why_it_could_not() -> None:
    found = explained(
        'default allow\nno: deny t when input.x == 1 and input.y == "p" unless input.z == 1',
        "t",
        {"x": 1, "y": 7, "z": 2},
    )
    (rule,) = found.layers[0].rules
    when, unless = rule.clauses
    assert (when.keyword, when.outcome, unless.keyword, unless.outcome) == (
        "when",
        "indeterminate",
        "unless",
        "fails",
    )
    assert when.why is not None
    assert when.why.startswith('`input.y == "p"`: ')
    assert unless.why is None
    assert rule.why == "values of different types are compared"


def test_layers_are_told_once_for_each_caller_of_the_chain() -> None:
    found = explained(
        {
            "a.policy": "policy for every agent\ndefault allow",
            "b.policy": 'policy for agent "ann"\nno: deny pay',
        },
        "pay",
        caller=Caller(agent="sub", parent=ANN),
    )
    assert [(layer.agent, layer.layer) for layer in found.layers] == [
        ("sub", "every agent"),
        ("ann", "every agent"),
        ("ann", 'agent "ann"'),
    ]


def test_resources_are_told_in_canonical_form() -> None:
    found = explained("default allow", "copy", {"from": "a/../b", "to": "~/c"})
    shown = [(use.verb, use.resource) for use in found.resources]
    assert shown == [("reads", "/workspace/b"), ("writes", "/home/user/c")]


def test_what_is_allowed_needs_nothing() -> None:
    assert explained("default allow", "pay").needed == ()


def test_a_deny_by_default_tells_the_allow_that_nearly_held() -> None:
    found = explained(
        'default deny\nsmall: allow pay when input.amount < 10 unless input.to == "eve"',
        "pay",
        {"amount": 50, "to": "eve"},
    )
    first, near = found.needed
    assert "`allow`" in first
    assert near.startswith("`small` ")
    assert "input.amount < 10" in near
    assert 'input.to == "eve"' in near


def test_a_rule_that_takes_tells_what_would_have_to_change() -> None:
    certain = explained("default allow\nno: deny pay when input.amount > 10", "pay", {"amount": 11})
    (line,) = certain.needed
    assert line.startswith("`no` ")
    assert "`input.amount > 10`" in line
    always = explained("default allow\nno: deny pay", "pay")
    (line,) = always.needed
    assert line.startswith("`no` ")
    odd = explained("default allow\nno: deny t when input.x > 10", "t", {"x": "many"})
    (line,) = odd.needed
    assert line.startswith("`no` ")
    assert "only numbers, times and durations have an order" in line


def test_an_allow_that_fails_to_cover_the_call_says_so() -> None:
    found = explained(
        "default deny\nreads: allow copy when reads only workspace",
        "copy",
        {"from": "a", "to": "b"},
    )
    (rule,) = found.layers[0].rules
    assert (rule.outcome, rule.counts) == ("indeterminate", False)
    assert rule.why == "no clause of this rule covers what the call writes"
    assert [clause.outcome for clause in rule.clauses] == ["holds"]
    assert "no clause of this rule covers what the call writes" in found.needed[1]


def test_a_refused_call_has_no_layers_to_speak_of() -> None:
    asked = program("default allow")
    decision = ask(asked, "nothing").decision
    found = explain(asked, decision, caller=ANN, facts=HERE)
    assert (found.layers, found.resources) == ((), ())


def test_an_ask_names_whose_approval_would_do() -> None:
    body = (
        "default deny\n"
        'a: allow t with approval by "ops"\n'
        "b: ask t when input.x == 1 two people\n"
        "c: ask t when input.x == 1\n"
    )
    found = explained(body, "t", {"x": 1})
    assert found.needed == (
        "`a` asks about every such call, or an approval by ops is given",
        "`b` must not match: `input.x == 1`, or an approval by two people is given",
        "`c` must not match: `input.x == 1`",
    )
