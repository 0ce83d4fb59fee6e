"""What code may do within a confinement, the rules would have allowed if they had seen it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from policy.catalog import Catalog, Resource
from policy.decision import decide
from policy.model import (
    CONFINED_VERBS,
    Caller,
    ConfinedVerb,
    Confinement,
    SandboxTier,
    ToolCall,
    Verdict,
    thaw,
)
from policy.values import PathContext, host_violation, path_violation
from tests.examples import examples
from tests.laws.calls import SPECS, SPELLED, WORLDS, callers, once_in, pick
from tests.laws.engine import Built, Unsound, build, build_over, mended
from tests.laws.policies import PolicyText
from tests.laws.situations import Situation, Tally, opinions, rank, situations, without_words

ALL = SandboxTier(name="bubblewrap", enforces=frozenset(CONFINED_VERBS))
# A tool of a server in a sandbox, of whose resources nothing is declared.
LOOSE = "lab__loose"
_WHOLE = replace(ALL, tools=frozenset({LOOSE}))
_READS = ("/srv/p/x", "/srv/p", "/srv/q", "/etc/x", "/etc/deep/x", "/srv/p/../q", "/")
_HOSTS = ("corp.example", "a.corp.example", "evil.example", "10.0.0.7", "192.168.1.1")
_PLACES: dict[ConfinedVerb, tuple[str, ...]] = {
    "reads": _READS, "writes": _READS, "connects": _HOSTS,
}  # fmt: skip


_SETS = {
    "reads": (
        "tree_p",
        "workspace",
        '"/etc/**"',
        '[tree_p, "/etc/x"]',
        '"**/x"',
        "some_p",
    ),
    "writes": ("tree_p", '"/srv/q"', "nothing", "workspace", '"/srv/p/x"'),
    "connects": ("corp", '"evil.example"', '[corp, "10.0.0.0/8"]', "nothing", '"*.corp.example"'),
}
_OTHERS = ('agent.name == "ann"', 'input.a == "/srv/p/x"', "input.n is present")
_INPUTS = ({"a": "/srv/p/x"}, {"a": "/srv/q"}, {"n": 1})
_DECLARED = (
    'paths tree_p = "/srv/p/**"',
    'paths some_p = "/srv/**" except "/srv/p/x"',
    'hosts corp = "corp.example", "*.corp.example"',
)


def _condition(draw: DrawFn, *, permits: bool, depth: int = 2) -> str:
    kind = pick(draw, range(10))
    if depth and kind < 4:
        parts = [_condition(draw, permits=permits, depth=depth - 1) for _ in range(2)]
        return "(" + pick(draw, (" and ", " and ", " or ")).join(parts) + ")"
    if depth and kind == 4:
        return f"not ({_condition(draw, permits=not permits, depth=depth - 1)})"
    if kind == 5:
        return pick(draw, _OTHERS)
    verb = pick(draw, tuple(_SETS))
    to = "to " if verb == "connects" else ""
    form = pick(draw, ("only", "only", "only", "any") if permits else ("", "", "outside"))
    if once_in(draw, 6):
        return f"{verb} {to}anything"
    item = pick(draw, _SETS[verb])
    if item == "nothing":
        form = "only" if permits else ""
    if form == "outside":
        return f"{verb} outside {item}"
    return " ".join(word for word in (verb, form, to.strip(), item) if word)


def _rule(draw: DrawFn, effect: str, tool: str) -> str:
    permits = effect == "allow"
    text = f"{effect} {SPELLED.get(tool, tool)} when {_condition(draw, permits=permits)}"
    if permits and once_in(draw, 2):
        # Most calls are covered by it.
        text += pick(
            draw,
            (
                " and connects to anything and writes anything",
                " and reads anything and writes only workspace",
                " and reads only workspace and writes anything and connects only to corp",
            ),
        )
    if once_in(draw, 3):
        text += f" unless {_condition(draw, permits=not permits)}"
    return text + " with approval" if permits and once_in(draw, 6) else text


@st.composite
def _confined_cases(draw: DrawFn, tool: str = "code") -> Situation:
    """Draw a call of a tool that runs code, under rules about what it accesses."""
    files = [("global.policy", "policy for every agent", ["allow", "allow", "deny", "ask"])]
    if once_in(draw, 3):
        files.append(("agents/ann.policy", 'policy for agent "ann"', ["deny", "ask"]))
    texts: list[tuple[str, tuple[str, ...]]] = []
    for name, header, effects in files:
        drawn = [_rule(draw, pick(draw, effects), tool) for _ in range(pick(draw, range(1, 5)))]
        if name == "global.policy":
            drawn.insert(0, _rule(draw, "allow", tool))
        default = pick(draw, ("default deny", "default deny", "default allow"))
        start = [default, *_DECLARED] if name == "global.policy" else []
        texts.append((name, (header, *start, *drawn)))
    policy = mended(PolicyText(files=tuple(texts)))
    assume(policy is not None)
    assert policy is not None
    return Situation(
        built=build(policy),
        call=ToolCall(tool=tool, input=pick(draw, ({"a": "/srv/p/x"}, {"a": "/srv/q"}, {"n": 1}))),
        caller=draw(callers()),
        facts=WORLDS[0],
    )


def _in(case: Situation, sandbox: SandboxTier | None) -> Situation:
    return replace(case, facts=replace(case.facts, sandbox=sandbox))


def test_a_sandbox_that_enforces_nothing_changes_no_verdict() -> None:
    tally = Tally()

    @settings(max_examples=examples(150))
    @given(situations(keeping=without_words("sandbox."), tools=("code", "shell", "look", LOOSE)))
    def law(case: Situation) -> None:
        without = _in(case, None).decision()
        named = frozenset({LOOSE}) if case.call.tool == LOOSE else None
        idle = _in(case, SandboxTier(name="bubblewrap", tools=named)).decision()
        assert without.confinement is None
        assert idle.verdict is without.verdict
        assert opinions(idle) == opinions(without)
        assert idle.call == without.call
        tally.case(without.verdict.value)

    law()
    for verdict in ("allow", "ask", "deny"):
        tally.shows(verdict, share=0.05)


def test_enforcement_decides_what_was_indeterminate_and_nothing_else() -> None:
    tally = Tally()

    @settings(max_examples=examples(300))
    @given(_confined_cases())
    def law(case: Situation) -> None:
        without, enforced = _in(case, None).decision(), _in(case, ALL).decision()
        assert rank(enforced) <= rank(without)
        relied = enforced.confinement is not None and bool(enforced.confinement.relied_on)
        if enforced.verdict is not without.verdict and enforced.verdict is not Verdict.DENY:
            assert relied
        tally.case("eased" if enforced.verdict is not without.verdict else "alike")

    law()
    tally.shows("eased", share=0.1)


def _is_permitted(confinement: Confinement, verb: ConfinedVerb, target: str) -> bool:
    if verb == "connects":
        return host_violation(confinement, target, 443, scheme="https") is None
    return path_violation(confinement, verb, target, PathContext(cwd="/srv")) is None


def _showing(case: Situation, shown: dict[ConfinedVerb, list[str]]) -> tuple[Built, ToolCall]:
    """Return the policy over a tool that declares what code accesses, and the call with it."""
    declared = tuple(
        Resource(verb=verb, steps=("shown", verb)) for verb, targets in shown.items() if targets
    )
    specs = tuple(
        replace(spec, resources=(*spec.resources, *declared), complete=True)
        if spec.name == case.call.tool
        else spec
        for spec in SPECS
    )
    try:
        built = build_over(case.policy, Catalog(specs=specs, complete=True))
    except Unsound:
        assume(False)
        raise
    input: dict[str, Any] = {**thaw(case.call.input), "shown": shown}
    return built, ToolCall(tool=case.call.tool, input=input)


def test_the_rules_would_decide_alike_had_they_seen_what_code_does() -> None:
    tally = Tally()

    @settings(max_examples=examples(800))
    @given(_confined_cases(), st.data())
    def law(case: Situation, data: st.DataObject) -> None:
        _require_alike(_in(case, ALL), data, tally)

    law()
    for thing in ("shown", "refused", "relied on"):
        tally.shows(thing, share=0.1)


def test_they_would_of_code_that_is_in_its_sandbox_as_a_whole() -> None:
    tally = Tally()

    @settings(max_examples=examples(400))
    @given(_confined_cases(LOOSE), st.data())
    def law(case: Situation, data: st.DataObject) -> None:
        _require_alike(_in(case, _WHOLE), data, tally)

    law()
    for thing in ("shown", "refused", "relied on"):
        tally.shows(thing, share=0.1)


def _require_alike(case: Situation, data: st.DataObject, tally: Tally) -> None:
    """Require that what is within the confinement of a call makes no rule decide it otherwise."""
    decision = case.decision()
    if decision.confinement is None:
        assert decision.verdict is Verdict.DENY
        tally.case("denied")
        return
    confinement = decision.confinement
    drawn = {
        verb: data.draw(st.lists(st.sampled_from(places), max_size=3), label=verb)
        for verb, places in _PLACES.items()
    }
    shown = {
        verb: [target for target in targets if _is_permitted(confinement, verb, target)]
        for verb, targets in drawn.items()
    }
    built, call = _showing(case, shown)
    seen = decide(built.program, call, case.caller, case.facts)
    assert rank(seen) <= rank(decision), (confinement, shown, seen.reasons)
    tally.case(
        "shown" if any(shown.values()) else "nothing shown",
        "refused" if shown != drawn else "all permitted",
        "relied on" if confinement.relied_on else "not relied on",
    )


def test_code_accesses_nothing_where_the_first_access_would_ask() -> None:
    """Without its argument the call reads nothing, so that no `only` about reading is true."""
    rule = "allow code when reads only workspace with approval"
    lines = ("policy for every agent", "default allow", rule)
    case = Situation(
        built=build(PolicyText(files=(("global.policy", lines),))),
        call=ToolCall(tool="code", input={"n": 1}),
        caller=Caller(agent="ann"),
        facts=replace(WORLDS[0], sandbox=ALL),
    )
    decision = case.decision()
    assert decision.verdict is Verdict.ALLOW
    assert decision.confinement is not None
    assert not _is_permitted(decision.confinement, "reads", "/srv/q")
    built, call = _showing(case, {"reads": ["/srv/q"]})
    assert decide(built.program, call, case.caller, case.facts).verdict is Verdict.ASK
