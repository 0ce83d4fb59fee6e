"""What is cached between decisions depends on rules alone, never on a call or caller."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import policy
from policy.decision import Decision
from policy.evaluation import Floor
from policy.model import Caller, Resolvers
from policy.program import NO_SHORTCUTS, compile_policy
from tests.unit.program.compiling import HERE, ask, program, tools

READ = {"path": "/srv/a"}


def _rules(decision: Decision) -> list[str]:
    return [reason.rule for reason in decision.reasons]


def test_callers_above_that_other_layers_bind_are_told_apart() -> None:
    layered = program(
        {
            "global.policy": "policy for every agent\ndefault allow\n",
            "ann.policy": 'policy for agent "ann"\nof-ann: deny file_read\n',
            "bob.policy": 'policy for agent "bob"\nof-bob: ask file_read\n',
        }
    )
    below = [Caller(agent="x", parent=Caller(agent=name)) for name in ("ann", "bob", "eve")]
    for _ in range(2):
        found = [ask(layered, "file_read", READ, caller=caller).decision for caller in below]
        assert [str(one.verdict) for one in found] == ["deny", "ask", "allow"]
        assert ["of-ann" in _rules(one) for one in found] == [True, False, False]
        assert ["of-bob" in _rules(one) for one in found] == [False, True, False]


def test_the_caller_above_counts_where_one_below_was_decided_before() -> None:
    rules = program('default allow\nno: deny file_read when agent.name == "ann"')
    eve = Caller(agent="eve")
    for _ in range(2):
        assert str(ask(rules, "file_read", READ, caller=eve).decision.verdict) == "allow"
        child = replace(eve, parent=Caller(agent="ann"))
        assert str(ask(rules, "file_read", READ, caller=child).decision.verdict) == "deny"
        guest = replace(eve, parent=Caller(agent="ann", role="guest"))
        assert "scope" in _rules(ask(rules, "file_read", READ, caller=guest).decision)


@pytest.mark.parametrize("test", ['== "ann"', '!= "ann"', 'like "a*"', 'in ["ann", "bob"]'])
@pytest.mark.parametrize(
    "layer", [{}, {"ann.policy": 'policy for agent "ann"\nof-ann: deny file_write\n'}]
)
def test_an_agent_of_any_name_is_judged_as_by_asking_every_rule(
    test: str, layer: dict[str, str]
) -> None:
    text = f"policy for every agent\ndefault allow\nno: deny file_read when agent.name {test}\n"
    quick = program({"global.policy": text, **layer})
    slow = compile_policy(
        quick.policy,
        quick.catalog,
        floor=quick.floor,
        profiles=quick.profiles,
        shortcuts=NO_SHORTCUTS,
    )
    for name in ("ann", "an\u200bn", "a\u0301nn", "ánn", "bob", "\ud800", "a\ud800", "", "ANN"):
        for parent in (None, Caller(agent="ann"), Caller(agent="an\u200bn")):
            caller = Caller(agent=name, parent=parent)
            found = [ask(one, "file_read", READ, caller=caller).decision for one in (quick, slow)]
            assert found[0] == found[1], ascii(name)


def test_a_call_that_writes_the_policy_is_no_other_call() -> None:
    rules = program("default allow", floor=Floor(files=("/rules/a.policy",)))
    for _ in range(2):
        for path, verdict in (("/srv/a", "allow"), ("/rules/a.policy", "deny")):
            given = {"path": path, "content": ""}
            assert str(ask(rules, "file_write", given).decision.verdict) == verdict


def test_where_a_link_leads_is_asked_for_every_call() -> None:
    rules = program('default allow\nno: deny file_read when reads "/etc/**"')
    for leads, verdict in (("/srv/a", "allow"), ("/etc/a", "deny"), ("/srv/a", "allow")):

        def follow(path: str, leads: str = leads) -> str:
            return leads if path == "/srv/a" else path

        facts = replace(HERE, resolvers=Resolvers(path=follow))
        assert str(ask(rules, "file_read", READ, facts=facts).decision.verdict) == verdict


@pytest.mark.parametrize("parent", [None, Caller(agent="ann")])
def test_undecided_rules_are_said_of_the_call_that_leaves_them_open(parent: Caller | None) -> None:
    caller = Caller(agent="eve", parent=parent)
    rules = program(
        'default allow\nno: deny t when input.x == "a"\nother: deny t when input.x == 7'
    )
    for _ in range(2):
        for given, undecided in (({}, 0), ({"x": "b"}, 1), ({"x": 5}, 1), ({"x": True}, 2)):
            found = ask(rules, "t", given, caller=caller).decision
            assert sum(reason.undecided is not None for reason in found.reasons) == undecided
            assert str(found.verdict) == ("deny" if undecided else "allow")


def test_notes_of_what_was_mended_stay_with_their_call() -> None:
    rules = program("default allow")
    mended = ask(rules, "file_read", '{"path": "/srv/a"}')
    again = ask(rules, "file_read", '"{\\"path\\": \\"/srv/a\\"}"')
    assert (mended.decision.repairs, bool(again.decision.repairs)) == ((), True)


def test_another_program_knows_no_call_as_admitted() -> None:
    first, second = program("default allow"), program("default allow")
    admitted = ask(first, "file_read", READ).admitted
    assert admitted is not None
    assert admitted.call.was_admitted_by(first.token)
    assert not admitted.call.was_admitted_by(second.token)
    assert not replace(admitted.call, input={"path": 1}).was_admitted_by(first.token)


def test_a_call_that_another_generation_admitted_is_admitted_again(tmp_path: Path) -> None:
    generations = []
    for name, opened in (("open", "tool pay extra fields allowed\n"), ("shut", "")):
        file = tmp_path / f"{name}.policy"
        file.write_text(f"policy for every agent\ndefault allow\n{opened}")
        generations.append(policy.load(file, catalog=tools()))
    wide, narrow = generations
    admitted = wide.answer("pay", {"extra": 1}).admitted
    assert admitted is not None
    assert wide.decide(admitted.call).verdict is policy.Verdict.ALLOW
    refused = narrow.decide(admitted.call)
    assert (refused.verdict, _rules(refused)) == (policy.Verdict.DENY, ["schema"])


def test_layers_that_declare_a_tool_differently_read_a_call_differently() -> None:
    layered = program(
        {
            "global.policy": "policy for every agent\ndefault allow\ntool pay sends to input.note\n"
            'first: deny pay when sends to "x@example.org"\n',
            "ann.policy": 'policy for agent "ann"\ntool pay sends to input.to\n'
            'second: deny pay when sends to "eve@example.org"\n',
        }
    )
    given = {"to": "eve@example.org", "note": "y@example.org"}
    found = {r.rule: r.undecided for r in ask(layered, "pay", given).decision.reasons}
    assert "first" not in found
    assert "second" in found
    assert found["second"] is None


def test_a_layer_that_knows_all_a_tool_does_shares_nothing_with_one_that_does_not() -> None:
    declared = "tool mystery reads input.p"
    layered = program(
        {
            "global.policy": f"policy for every agent\ndefault allow\n{declared}\n"
            'first: deny mystery when reads "/etc/**"\n',
            "ann.policy": f'policy for agent "ann"\n{declared} and nothing else\n'
            'second: deny mystery when reads "/etc/**"\n',
        }
    )
    found = ask(layered, "mystery", {"p": "/srv/a", "q": "/etc/b"}).decision.reasons
    undecided = {reason.rule: reason.undecided for reason in found}
    assert undecided["first"] is not None
    assert "second" not in undecided
