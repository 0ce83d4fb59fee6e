"""Many resource rules on one tool decide in generated code as each rule's closure does."""

from __future__ import annotations

import dataclasses
from functools import cache
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from policy.catalog import Catalog, Origin, Resource, ToolSpec
from policy.checks import CheckedPolicy, CheckedRule
from policy.decision import Decision, decide
from policy.evaluation import Floor
from policy.generation import shipped_profiles
from policy.layers import LayeredPolicy
from policy.model import Caller, Facts, Resolvers, ToolCall
from policy.program import NO_SHORTCUTS, Program, Shortcuts, compile_policy
from tests.examples import examples
from tests.laws.engine import Unsound, build_over
from tests.laws.policies import GLOBAL, PolicyText
from tests.laws.situations import Tally

_RESOURCES = (
    Resource(verb="reads", steps=("from",)),
    Resource(verb="writes", steps=("to",)),
    Resource(verb="connects", steps=("url",)),
    Resource(verb="runs", steps=("command",)),
)


def _tools(resources: tuple[Resource, ...], *, complete: bool = True) -> Catalog:
    spec = ToolSpec(
        name="act",
        origin=Origin(kind="host", tool="act"),
        schema={"type": "object", "additionalProperties": True},
        resources=resources,
        complete=complete,
    )
    return Catalog(specs=(spec,), complete=True)


_TOOLS = (
    _tools(_RESOURCES),
    _tools(_RESOURCES[1:2]),
    _tools(_RESOURCES[2:3]),
    _tools(_RESOURCES[3:]),
    _tools(_RESOURCES, complete=False),
)
_PROFILES = shipped_profiles()
_PATHS = ("/w/**", "/w/a/**", "/w/a", "src/**", "~/.ssh/**", "**/.env", "/w/*.py", "/**", "/etc/b")
_HOSTS = ("a.example", "*.example", "b.a.example", "10.0.0.0/8", "*", "https://a.example/v1/**")
_COMMANDS = ("git *", "git log *", "ls *", "cat /w/*", "sudo *", "mytool *", "* --help", "gsed *")
_OTHERS = ('input.mode == "m"', "input.mode is present", 'session.role == "dev"', "input.n > 1")


def _resource(random: Random) -> str:
    verb, items = random.choice(
        [("reads", _PATHS), ("writes", _PATHS), ("connects", _HOSTS), ("runs", _COMMANDS)]
    )
    chosen = ", ".join(f'"{item}"' for item in random.sample(items, random.choice([1, 1, 2])))
    operand = random.choice([f"[{chosen}]", f"[{chosen}]", "workspace", "nothing", "anything"])
    if operand == "workspace" and items is not _PATHS:
        operand = f"[{chosen}]"
    form = random.choice(["", "only ", "only ", "outside "]) if operand[0] in "[w" else ""
    return f"{verb} {form}{'to ' if verb == 'connects' else ''}{operand}"


def _test(random: Random, depth: int = 1) -> str:
    kind = random.randrange(8) if depth else 7
    if kind == 0:
        return f"not ({_test(random, 0)})"
    if kind in (1, 2, 3):
        word = "or" if kind == 1 else "and"
        return f"({_test(random, 0)} {word} {_test(random, 0)})"
    return _resource(random) if random.randrange(5) else random.choice(_OTHERS)


def _rule(random: Random) -> str:
    verdict = random.choice(["allow", "allow", "deny", "ask", "shadow deny"])
    when = f" when {_test(random)}" if random.randrange(8) else ""
    unless = f" unless {_test(random)}" if random.randrange(4) == 0 or not when else ""
    return f"{verdict} act{when}{unless}"


@cache
def _pool(number: int) -> tuple[CheckedPolicy, tuple[CheckedRule, ...]]:
    """Return a layer, and many rules on the tool that the checker takes, to choose from."""
    random = Random(number)
    rules = [f"r{place}: {_rule(random)}" for place in range(500)]
    while True:
        policy = PolicyText(files=((GLOBAL, ("policy for every agent", *rules, "default allow")),))
        try:
            (layer,) = build_over(policy, _TOOLS[number]).program.policy.layers
        except Unsound as refused:
            wrong = {e.span.line for e in refused.errors if e.span is not None}
            rules = [rule for line, rule in enumerate(rules, 2) if line not in wrong]
        else:
            return layer, layer.rules


_NAMES = st.sampled_from(["/w/a/b", "/w/a", "/w/x.py", "src/a", "~/.ssh/id", "/etc/b", "/w/.env"])
_ODD = st.sampled_from(["a\\b", "/w/../etc/b", "", "/proc/self/cwd/a", None, 3])
_INPUTS = st.fixed_dictionaries(
    {},
    optional={
        "from": _NAMES | _ODD,
        "to": _NAMES | _ODD | st.lists(_NAMES, max_size=3),
        "url": st.sampled_from(
            ["https://a.example/v1/x", "b.a.example", "10.0.0.3", "http://c.example:8080", "ftp:/"]
        ),
        "command": st.sampled_from(
            ["git log -n 3", "git push -f", "ls a > /w/b", "cat /w/a", "mytool a", "ls | sudo id",
             "cd /w && cat a", "$X", "sed -n 3p f", "A=1 ls", "ls --help", "env ls"]
        ),
        "mode": st.sampled_from(["m", "n", 3]),
        "n": st.integers(0, 3),
    },
)  # fmt: skip
_FACTS = st.builds(
    lambda home, workspace, path, host: Facts(
        cwd="/w", home=home, workspace=workspace, resolvers=Resolvers(path=path, host=host)
    ),
    st.sampled_from(["/home/u", None]),
    st.sampled_from(["/w", None]),
    st.sampled_from([None, None, lambda path: path, lambda path: path.replace("/w/a", "/etc")]),
    st.sampled_from([None, {"a.example": ("10.0.0.1",)}.get]),
)
_FLOORS = st.sampled_from([Floor(), Floor(files=("/w/x.py",), folders=("/w/a",))])


def _ways(layered: LayeredPolicy, tools: Catalog, floor: Floor) -> list[Program]:
    return [
        compile_policy(layered, tools, floor=floor, profiles=_PROFILES, shortcuts=shortcuts)
        for shortcuts in (Shortcuts(), Shortcuts(indexed=False), NO_SHORTCUTS)
    ]


def _said(decision: Decision) -> dict[str, Any]:
    return structs.asdict(decision)


def test_many_resource_rules_are_decided_as_each_alone() -> None:
    tally = Tally()
    for number in range(len(_TOOLS)):
        assert len(_pool(number)[1]) > 100

    @settings(max_examples=examples(150))
    @given(
        st.integers(0, len(_TOOLS) - 1),
        st.sampled_from([6, 40]),
        st.randoms(use_true_random=False),
        st.lists(_INPUTS, min_size=1, max_size=4),
        _FACTS,
        _FLOORS,
    )
    def law(
        number: int,
        count: int,
        random: Random,
        inputs: list[dict[str, Any]],
        facts: Facts,
        floor: Floor,
    ) -> None:
        layer, pool = _pool(number)
        rules = tuple(random.sample(pool, count))
        layered = LayeredPolicy(layers=(dataclasses.replace(layer, rules=rules),))
        ways = _ways(layered, _TOOLS[number], floor)
        for given_ in inputs:
            call = ToolCall(tool="act", input=given_)
            caller = Caller(role=random.choice(["dev", "owner"]))
            quick, in_line, slow = (decide(way, call, caller, facts) for way in ways)
            assert _said(quick) == _said(slow)
            assert _said(in_line) == _said(slow)
            undecided = any(reason.undecided for reason in slow.reasons)
            tally.case(slow.verdict.value, "open" if undecided else "settled")

    law()
    for seen in ("allow", "deny", "open", "settled"):
        tally.shows(seen, share=0.05)


def test_every_rule_with_an_indeterminate_test_is_evaluated_among_many() -> None:
    rules = tuple(f'r{n}: deny act when writes "/w/{n}/**"' for n in range(30))
    text = ("policy for every agent", *rules, "default allow")
    layers = build_over(PolicyText(files=((GLOBAL, text),)), _TOOLS[0]).program.policy
    leads = Resolvers(path=lambda path: path.replace("/w/3/", "/w/4/"))
    facts = Facts(cwd="/w", workspace="/w", resolvers=leads)
    call = ToolCall(tool="act", input={"to": "/w/3/x"})
    quick, in_line, slow = (
        decide(way, call, Caller(), facts) for way in _ways(layers, _TOOLS[0], Floor())
    )
    assert [reason.rule for reason in slow.reasons if reason.undecided] == ["r3", "r4"]
    assert _said(quick) == _said(slow)
    assert _said(in_line) == _said(slow)
