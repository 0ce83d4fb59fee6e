"""Laws about tools that no policy knows: their classes by name, and what edits let them do."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from policy.catalog import Catalog, Origin, Resource, ToolPattern, ToolSpec, tools_of_classes
from policy.decision import answer
from policy.model import Caller, Facts, Verdict
from policy.program import Program
from policy.verify import compare
from tests.examples import examples
from tests.laws.calls import callers, calls
from tests.laws.engine import CATALOG, Unsound, build_over
from tests.laws.policies import GLOBAL, PolicyText
from tests.laws.situations import Situation, Tally
from tests.laws.test_differences import edits, verdicts
from tests.unit.verify.proving import Policy

# ------------------------------------------------------------------ classes of names

_FLAT = st.text("ab_*?", min_size=1, max_size=4)
_OF_SERVERS = st.builds("{}/{}".format, st.text("ab_*?", min_size=1, max_size=3), _FLAT)
_PATTERNS = st.one_of(
    st.builds(ToolPattern, text=st.one_of(_FLAT, _FLAT, st.builds("{}@1".format, _FLAT))),
    st.builds(ToolPattern, origin=st.sampled_from(("mcp", "ext")), text=_OF_SERVERS),
    st.builds(ToolPattern, text=st.sampled_from(("a__*", "a__b*", "ext__a__*", "*__b", "?__*"))),
)


def _all_tools() -> Iterator[ToolSpec]:
    words = ["".join(one) for n in (1, 2, 3) for one in itertools.product("ab_y", repeat=n)]
    origins = [Origin(tool=word) for word in words]
    origins += [
        Origin(kind=kind, server=server, tool=tool)
        for kind in ("mcp", "ext")
        for server in words[:20]
        if "__" not in server
        for tool in words[:20]
    ]
    for origin in origins:
        yield ToolSpec(name=origin.flat_name(), origin=origin)
        yield ToolSpec(name=origin.flat_name(), origin=origin, version=1)


_ALL_TOOLS = tuple(_all_tools())


def _matching(patterns: tuple[ToolPattern, ...], spec: ToolSpec) -> tuple[bool, ...]:
    return tuple(
        pattern.matcher(grants=grants)(spec) for pattern in patterns for grants in (False, True)
    )


def test_a_tool_of_every_class_of_names_is_found() -> None:
    @settings(max_examples=examples(150))
    @given(st.lists(_PATTERNS, min_size=1, max_size=4, unique=True).map(tuple), st.booleans())
    def law(patterns: tuple[ToolPattern, ...], first_alone: bool) -> None:
        within = patterns[:1] if first_alone else None
        found = {
            (spec.origin.kind, _matching(patterns, spec))
            for spec in tools_of_classes(patterns, within=within)
        }
        for spec in _ALL_TOOLS:
            if within is None or within[0].matcher(grants=False)(spec):
                assert (spec.origin.kind, _matching(patterns, spec)) in found, spec.name

    law()


# ------------------------------------------------------------------ edits

_FIELDS: Mapping[str, Any] = {
    "type": "object",
    "properties": {"n": {}, "p": {"type": "string"}},
    "additionalProperties": False,
}
_SELECTORS = (
    "t_red",
    "t_blue",
    "sun",
    "t_*",
    "*_red",
    "*",
    "t_???",
    "t_red, sun",
    "t_*, sun",
    "* except t_red",
    "* except t_*",
    "t_* except *_blue",
    "* except sun",
)
_CONDITIONS = (
    "",
    "",
    " when input.n > 1",
    " when input.n > 3",
    " unless input.n > 1",
    " when input.n is a string",
    " when input.n is absent",
    ' when tool.category == "x"',
    ' when reads only ["/etc/**", "/srv/**"]',
    ' when reads only "/srv/**"',
    " when tool.read_only",
)
_RESTRICTING = (
    ' when reads "/etc/**"',
    ' when reads ["/etc/**", "/srv/**"]',
    " when reads anything",
)
# Rules that change nothing, which people would not write.
_POINTLESS = ("allow-without-effect", "delegate-beside-default", "overruled-rule", "unreached-ask")
_SPECS = tuple(
    ToolSpec(
        name=name,
        origin=Origin(tool=name),
        schema=_FIELDS,
        resources=(Resource(verb="reads", steps=("p",)),),
        complete=True,
        **facts,
    )
    for name, facts in (("t_red", {"category": "x"}), ("t_blue", {"read_only": True}), ("sun", {}))
)
_INPUTS: tuple[Mapping[str, Any], ...] = tuple(
    {**number, **path}
    for number in ({}, {"n": 1}, {"n": 2}, {"n": 5}, {"n": "a"})
    for path in ({}, {"p": "/etc/a"}, {"p": "/srv/a"})
)
_FACTS = Facts()
_CALLERS = (Caller(), Caller(agent="a"))


@st.composite
def _statements(draw: DrawFn) -> str:
    tools = draw(st.sampled_from(_SELECTORS))
    kind = draw(st.sampled_from(("rule", "rule", "rule", "default", "delegate")))
    if kind == "default":
        return f"default {draw(st.sampled_from(('allow', 'ask', 'deny')))} for {tools}"
    if kind == "delegate":
        return f'delegate {tools} to agent "a"'
    verdict = draw(st.sampled_from(("allow", "allow", "deny", "ask")))
    approval = " with approval" if verdict == "allow" and draw(st.booleans()) else ""
    conditions = _CONDITIONS if verdict == "allow" else (*_CONDITIONS, *_RESTRICTING)
    return f"{verdict} {tools}{draw(st.sampled_from(conditions))}{approval}"


def _built(rules: tuple[str, ...], specs: tuple[ToolSpec, ...]) -> Program:
    own = ('policy for agent "a"', "allow t_*", "deny * when input.n > 9")
    text = PolicyText(
        files=((GLOBAL, ("policy for every agent", *rules)), ("agents/a.policy", own))
    )
    return build_over(text, Catalog(specs=specs), accepted=_POINTLESS).program


def _loosened(old: Program, new: Program, spec: ToolSpec) -> bool:
    return any(_verdict(new, spec, *one) < _verdict(old, spec, *one) for one in _CASES)


_CASES = tuple(itertools.product(_INPUTS, _CALLERS))


def _verdict(program: Program, spec: ToolSpec, input: Mapping[str, Any], caller: Caller) -> Verdict:
    return answer(program, spec.name, dict(input), caller, _FACTS).decision.verdict


def test_what_lets_a_tool_do_more_that_is_added_later_is_said() -> None:
    tally = Tally()

    @settings(max_examples=examples(100))
    @given(
        st.sampled_from(("allow", "deny", "ask")),
        st.lists(_statements(), max_size=3),
        st.lists(_statements(), max_size=2),
        st.lists(_statements(), max_size=2),
        st.sampled_from([(), _SPECS[:1], _SPECS[1:2], _SPECS[1:]]),
        st.sampled_from([(), _SPECS[:1], _SPECS[1:2]]),
    )
    @example("allow", ["deny sun when input.n > 1"], ["default ask for sun"], [], (), ())
    def law(
        default: str,
        common: list[str],
        removed: list[str],
        added: list[str],
        known: tuple[ToolSpec, ...],
        also_old: tuple[ToolSpec, ...],
    ) -> None:
        before, after = (
            tuple(dict.fromkeys((f"default {default}", *common, *more)))
            for more in (removed, added)
        )
        of_old = (*known, *(spec for spec in also_old if spec not in known))
        try:
            old, new = _built(before, of_old), _built(after, known)
            later = [_built(rules, _SPECS) for rules in (before, after)]
        except Unsound:
            return
        found = compare(Policy(program=old), Policy(program=new))
        said = any(one.kind == "statement" for one in found.changes)
        loosened = [
            spec for spec in _SPECS if spec not in known and _loosened(later[0], later[1], spec)
        ]
        assert said or not loosened, [spec.name for spec in loosened]
        tally.case("said" if said else "not said", *(["looser"] if loosened else []))
        if said:
            tally.case("said rightly" if loosened else "said to be safe")

    law()
    tally.shows("looser", share=0.1)
    tally.shows("said rightly", share=0.1)
    tally.shows("not said", share=0.2)


def test_whatever_conditions_read_of_such_a_tool_is_said() -> None:
    tally = Tally()

    @settings(max_examples=examples(200))
    @given(edits(kinds=("restrict", "grant", "drop", "drop allow")), st.data())
    def law(drawn: tuple[Situation, Situation, str], data: Any) -> None:
        old, new, _ = drawn
        tool = CATALOG.get(old.call.tool)
        assert tool is not None
        others = Catalog(specs=tuple(spec for spec in CATALOG.specs if spec.base != tool.base))
        before, after = (
            build_over(case.policy, others, accepted=(*_POINTLESS, "unknown-tool")).program
            for case in (old, new)
        )
        found = compare(Policy(program=before), Policy(program=after))
        said = any(one.direction in ("looser", "unclear") for one in found.changes)
        for call in (old.call, *(data.draw(calls((old.call.tool,))) for _ in range(4))):
            for caller in (old.caller, data.draw(callers(depth=2))):
                was, now = verdicts(old, new, call, caller)
                assert now >= was or said, (call, caller)
                tally.case("looser" if now < was else "not", *(() if said else ("not said",)))

    law()
    tally.shows("looser", share=0.005)
    tally.shows("not said", share=0.4)
