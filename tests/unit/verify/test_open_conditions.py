"""An undecided claim names the conditions of which too little is known, and a rule that decides."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from policy.catalog import Resource, builtin_catalog
from policy.generation import shipped_profiles
from policy.verify import (
    LayerClaim,
    answer_of,
    answer_record,
    answer_to,
    claims_of,
    deciding_rule,
    problem_of,
)
from tests.laws.engine import build_over
from tests.laws.policies import GLOBAL, PolicyText
from tests.unit.verify.file_tools import TEXT
from tests.unit.verify.proving import proof, tool

LOOK = 'look: allow bash_exec when runs only "ls *" and input.timeout <= 30'
FETCH = "fetch: allow web_fetch when input.url in results(file_read) and connects to anything"


def _claim(*statements: str) -> LayerClaim:
    lines = ("policy for every agent", "default deny", *statements)
    text = PolicyText(files=((GLOBAL, lines),))
    built = build_over(text, builtin_catalog(), profiles=shipped_profiles())
    (claim,) = claims_of(built.program)
    return claim


def test_open_conditions_are_those_of_the_claim_and_of_rules_that_match() -> None:
    other = 'count: allow bash_exec when runs only "wc *" and input.timeout > 90'
    claim = 'prove never allow bash_exec when writes "/etc/**" and input.timeout <= 20'
    found = answer_to(_claim(LOOK, other, claim).questions()[0])
    assert [(one.text, one.why, one.rule) for one in found.open_conditions] == [
        ('writes "/etc/**"', "script", ""),
        ('runs only "ls *"', "commands", "look"),
    ]


def test_what_came_before_is_named_as_such() -> None:
    asked = _claim(FETCH, 'prove never allow web_fetch when input.url == "https://a.example/"')
    found = answer_to(asked.questions()[0])
    # The claim's own condition is modelled: it is only unknown together with the rule's.
    assert [(one.why, one.rule) for one in found.open_conditions] == [
        ("together", ""),
        ("history", "fetch"),
    ]


def test_the_text_of_a_command_is_no_file_in_another_spelling(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "z3", None)
    rule = "allow bash_exec when input.timeout * length(input.command) <= 900"
    claim = "prove never allow bash_exec when input.timeout + length(input.command) == 900"
    found = answer_to(_claim(rule, claim).questions()[0])
    assert found.status == "undecided"
    assert [one.why for one in found.open_conditions] == ["together"]


LISTS = {
    "type": "array",
    "items": {"type": "object", "properties": {"to": {"type": "array"}}},
}
MAIL = tool("mail", {"parts": LISTS, "to": {"type": "array"}, "text": TEXT})
FETCHING = tool("mail", {"server": TEXT}, Resource(verb="connects", steps=("server",)))


@pytest.mark.parametrize(
    ("rules", "claim", "why"),
    [
        (
            'allow mail when all p in input.parts: all t in p.to: t like "*@corp.example"',
            'any p in input.parts: any t in p.to: t == "evil"',
            "nested",
        ),
        (
            'allow mail when all t in input.to: t == "a"',
            'input.to[0] == "evil"',
            "index",
        ),
        (
            "allow mail\nrewrite mail redact input.text matching /[0-9]+/",
            "input.text contains /[0-9]/",
            "rewritten",
        ),
        (
            'allow mail when connects only to "a.example"',
            "connects to private",
            "addresses",
        ),
    ],
)
def test_what_is_not_modelled_of_values_is_named(rules: str, claim: str, why: str) -> None:
    spec = FETCHING if why == "addresses" else MAIL
    found = proof(f"prove never allow mail when {claim}", *rules.splitlines(), specs=(spec,))
    assert found.status == "undecided"
    assert [one.why for one in found.open_conditions if not one.rule] == [why]
    decided = proof(
        f"prove never allow mail when {claim}",
        *rules.splitlines(),
        f"deny mail when {claim}",
        specs=(spec,),
    )
    assert decided.status == "holds"


def test_the_rule_that_is_proposed_decides_the_claim() -> None:
    text = 'prove never allow bash_exec when writes "/etc/**" unless input.timeout > 100'
    asked = _claim(LOOK, text)
    question = asked.questions()[0]
    proof = asked.proof({"bash_exec": answer_to(question)})
    rule = deciding_rule(proof)
    assert rule == 'deny bash_exec when writes "/etc/**" unless input.timeout > 100'
    problem = problem_of(proof)
    assert problem is not None
    assert problem.help is not None
    assert rule in problem.help
    assert '`writes "/etc/**"` in the claim' in problem.message
    decided = _claim(LOOK, rule, text)
    assert answer_to(decided.questions()[0]).status == "holds"


def test_a_kept_answer_names_the_places_that_rules_have_now() -> None:
    text = 'prove never allow bash_exec when writes "/etc/**"'
    before, after = _claim(LOOK, text), _claim("# moved", LOOK.replace("look:", "list:"), text)
    found = answer_to(before.questions()[0])
    kept = answer_of(after.questions()[0], answer_record(found))
    assert kept is not None
    assert [(one.rule, one.place) for one in found.open_conditions] == [
        ("", f"{GLOBAL}:4"),
        ("look", f"{GLOBAL}:3"),
    ]
    assert [(one.rule, one.place) for one in kept.open_conditions] == [
        ("", f"{GLOBAL}:5"),
        ("list", f"{GLOBAL}:4"),
    ]
    assert replace(kept, open_conditions=found.open_conditions) == found
