"""Generated code and indexes decide exactly as evaluating every rule's closure does."""

from __future__ import annotations

import dataclasses
from decimal import Decimal
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from policy.catalog import Catalog, Origin, Resource, ToolSpec
from policy.checks import checked
from policy.decision import Decision, answer, decide
from policy.layers import LayeredPolicy
from policy.model import Caller, Facts, ToolCall, Verdict, thaw
from policy.program import ALL_SHORTCUTS, NO_SHORTCUTS, Program, Shortcuts, compile_policy
from tests.examples import examples
from tests.laws.calls import WORLDS
from tests.laws.engine import Unsound, build, build_over
from tests.laws.many_rules import FIELDS, SPEC, TOOLS, WORDS, pool
from tests.laws.policies import GLOBAL, PolicyText
from tests.laws.situations import Situation, Tally, situations

MANY = settings(max_examples=examples(250))
IN_LINE = Shortcuts(indexed=False)
# Each shortcut left out, the others taken.
ALL_BUT_ONE = tuple(
    dataclasses.replace(ALL_SHORTCUTS, **{field.name: False})
    for field in dataclasses.fields(ALL_SHORTCUTS)
)

# What an input may hold where a rule expects a plain text, a number or a flag.
ODD: tuple[Any, ...] = (
    *("", "a", "é", "e\u0301", "a\u200bb", "\ud800", "\u202ea", "A", "a\n"),
    *(0, -1, 1, 2**53, 2**53 + 1, -(2**70), True, False),
    *(0.5, -0.0, 1e308, float("inf"), float("nan"), 2.0**60, 0.1 + 0.2, 0.3),
    *(Decimal("0.1"), Decimal("12345678901234567890.5")),
    *([], ["a"], [1, "a"], {}, {"a": "a"}, None),
)


def _again(program: Program, shortcuts: Shortcuts) -> Program:
    return compile_policy(
        program.policy,
        program.catalog,
        floor=program.floor,
        profiles=program.profiles,
        shortcuts=shortcuts,
    )


def _said(decision: Decision) -> dict[str, Any]:
    return structs.asdict(decision) | {"call": (decision.call.tool, repr(decision.call.input))}


def _agree(program: Program, call: ToolCall, caller: Caller, facts: Facts) -> Decision:
    """Return the decision, once all ways of coming to it have given the same."""
    asked = decide(_again(program, NO_SHORTCUTS), call, caller, facts)
    for way in (program, *(_again(program, ways) for ways in ALL_BUT_ONE)):
        # Twice: what follows from a set of rules is worked out once and kept.
        for _ in range(2):
            assert _said(decide(way, call, caller, facts)) == _said(asked)
    return asked


def test_generated_code_decides_as_closures_do() -> None:
    tally = Tally()

    @settings(MANY, max_examples=examples(150))
    @given(situations(), st.data())
    def law(case: Situation, data: st.DataObject) -> None:
        call = case.call
        if data.draw(st.booleans()):
            changed = thaw(call.input)
            for name in list(changed):
                if data.draw(st.integers(0, 2)) == 0:
                    changed[name] = data.draw(st.sampled_from(ODD))
            call = ToolCall(tool=call.tool, input=changed)
        found = _agree(build(case.policy).program, call, case.caller, case.facts)
        tally.case(found.verdict.value, "rewritten" if found.rewritten else "as asked")

    law()
    for verdict in ("allow", "ask", "deny"):
        tally.shows(verdict, share=0.05)


def test_a_tool_value_that_is_not_valid_unicode_is_indeterminate() -> None:
    spec = dataclasses.replace(SPEC, category="\ud800")
    rules = ("policy for every agent", "no: deny pay when tool.category contains /x+y/")
    policy = PolicyText(files=((GLOBAL, (*rules, "default allow")),))
    program = build_over(policy, Catalog(specs=(spec,), complete=True)).program
    found = _agree(program, ToolCall(tool="pay", input={}), Caller(), Facts())
    assert found.reasons[0].undecided


# ------------------------------------------------------------------ many rules on one tool

_values = st.one_of(st.sampled_from(ODD), st.sampled_from(WORDS), st.integers(-2, 2), st.booleans())
_inputs = st.fixed_dictionaries({}, optional=dict.fromkeys(FIELDS, _values))
_callers = st.builds(
    Caller,
    agent=st.sampled_from(["default", "ann", "é", "e\u0301", "a\u200b"]),
    role=st.sampled_from(["owner", "dev", "guest", "anonymous", "é", "\u200bguest", ""]),
)


def test_an_index_skips_no_matching_rule() -> None:
    tally = Tally()
    layer, _ = pool()
    assert len(layer.rules) > 200

    @settings(MANY)
    @given(
        st.sets(st.integers(0, len(layer.rules) - 1), min_size=26, max_size=80),
        st.lists(_inputs, min_size=1, max_size=8),
        _callers,
        st.sampled_from(WORLDS),
    )
    def law(places: set[int], inputs: list[dict[str, Any]], caller: Caller, facts: Facts) -> None:
        rules = tuple(layer.rules[place] for place in sorted(places))
        layered = LayeredPolicy(layers=(dataclasses.replace(layer, rules=rules),))
        program = compile_policy(layered, TOOLS)
        ways = [program, _again(program, IN_LINE), _again(program, NO_SHORTCUTS)]
        for given_ in inputs:
            call = ToolCall(tool="pay", input=given_)
            found = [decide(way, call, caller, facts) for way in ways]
            assert _said(found[0]) == _said(found[1]) == _said(found[2])
            tally.case(found[0].verdict.value, "few" if len(found[0].reasons) < 4 else "several")

    law()
    tally.shows("deny")
    tally.shows("several")


def test_the_index_finds_rules_with_invisible_characters() -> None:
    layer, _ = pool()
    hidden = checked.Comparison(
        op="==",
        left=checked.FieldOf(base=checked.Fact(path=("input",)), name="path"),
        right=checked.Constant(value="a\u200b"),
        text="",
    )
    deny = next(rule for rule in layer.rules if rule.verdict is Verdict.DENY and not rule.shadow)
    rules = (*layer.rules[:40], dataclasses.replace(deny, id="hidden", when=hidden, unless=None))
    layered = LayeredPolicy(layers=(dataclasses.replace(layer, rules=rules),))
    program = compile_policy(layered, TOOLS)
    for text in ("a", "a\u200b", "b"):
        _agree(program, ToolCall(tool="pay", input={"path": text}), Caller(), Facts())


# ------------------------------------------------------------------ versions of one tool


def _version(number: int, *, server: str = "", **properties: Any) -> ToolSpec:
    origin = Origin(kind="mcp" if server else "host", server=server, tool="pay")
    return ToolSpec(
        name=origin.flat_name(),
        origin=origin,
        version=number,
        schema={"type": "object", "properties": properties, "additionalProperties": True},
        complete=number != 2,
        resources=(Resource(verb="reads", steps=("path",)),) if number == 2 else (),
        category="money" if number == 1 else None,
    )


VERSIONS = Catalog(
    specs=(
        _version(1, path={"type": "string"}),
        _version(2, path={"type": "string"}, size={"type": "integer", "default": 3}),
        _version(3),
        _version(1, server="s"),
        _version(12, server="s", path={"type": "string"}),
    ),
    complete=True,
)
_MEANT = ("pay", '"pay@1"', '"pay@2"', '"pay@*"', '"p*"', 'mcp "s/pay"', 'mcp "s/pay@1"', "*")
_ASKED = ("pay", "pay@1", "pay@2", "pay@3", "s__pay", "s__pay@1", "s__pay@12", "pay@4", "Pay@2")
_SAID = (
    *("", " when input.path is present", ' when input.path == "a"', " when input.size > 2"),
    *(' when tool.category == "money"', ' when tool.name == "pay"', ' when tool.name like "*@2"'),
    *(' when reads "/srv/**"', ' unless reads "/srv/**"', " unless input.size == 3"),
)
_version_rules = st.lists(
    st.builds(
        lambda verdict, tool, said: f"{verdict} {tool}{said}",
        st.sampled_from(["allow", "ask", "deny", "shadow deny"]),
        st.sampled_from(_MEANT),
        st.sampled_from(_SAID),
    ),
    max_size=6,
    unique=True,
)
_FACTS = Facts(cwd="/srv", workspace="/srv", home="/home/ann")
_PARENTS = st.sampled_from([None, Caller(agent="ann", role="dev"), Caller(role="guest")])


def test_versions_of_a_tool_are_decided_alike_by_generated_code_and_closures() -> None:
    tally = Tally()

    @settings(MANY, max_examples=examples(200))
    @given(
        _version_rules,
        st.sampled_from(_ASKED),
        st.fixed_dictionaries(
            {}, optional={"path": st.sampled_from(["a", "/etc/a", 3]), "size": st.integers(1, 4)}
        ),
        _PARENTS,
    )
    def law(rules: list[str], asked: str, input: dict[str, Any], parent: Caller | None) -> None:
        policy = PolicyText(files=((GLOBAL, ("policy for every agent", *rules, "default allow")),))
        try:
            program = build_over(policy, VERSIONS).program
        except Unsound:
            return
        caller = Caller(agent="ann", parent=parent)
        slow = _again(program, NO_SHORTCUTS)
        for _ in range(2):
            quickly, slowly = (
                answer(way, asked, input, caller=caller, facts=_FACTS) for way in (program, slow)
            )
            assert _said(quickly.decision) == _said(slowly.decision)
            assert quickly.admitted == slowly.admitted
        found = _agree(program, ToolCall(tool=asked, input=input), caller, _FACTS)
        tally.case(found.verdict.value, found.call.tool)

    law()
    for shown in ("allow", "deny", "pay@3", "pay@1", "s__pay@12"):
        tally.shows(shown, share=0.05)
