"""A law about sets: an edit of one that is said to only tighten loosens no verdict on any call.

Conditions are drawn with sets in all places: below `not`, in `only` and `outside`, in a rule that
permits and in one that restricts, so that a smaller set means fewer calls here and more there.
"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from policy.admission import Admitted, RawCall, admit
from policy.catalog import Catalog, Resource
from policy.decision import decide
from policy.generation import shipped_profiles
from policy.model import Caller, Facts, Verdict
from policy.program import Program
from policy.verify import only_tightens
from tests.examples import examples
from tests.laws.engine import Unsound, build_over
from tests.laws.policies import PolicyText
from tests.laws.situations import Tally
from tests.unit.verify.proving import tool

_TEXT = {"type": "string"}
_CATALOG = Catalog(
    specs=(
        tool("pay", {"to": _TEXT}),
        tool("look", {"path": _TEXT}, Resource(verb="reads", steps=("path",), tree=False)),
        tool("fetch", {"url": _TEXT}, Resource(verb="connects", steps=("url",))),
        tool("sh", {"command": _TEXT}, Resource(verb="runs", steps=("command",))),
    ),
    complete=True,
)
_PROFILES = shipped_profiles()
# Of each tool: the items of its set, the tests that ask for the set, and calls.
_ITEMS = {
    "pay": ("strings", ('"a"', '"b"', '"c"')),
    "look": ("paths", ('"/a/**"', '"/b/*"', '"/c/d"')),
    "fetch": ("hosts", ('"a.example"', '"*.b.example"', '"c.example"')),
    "sh": ("commands", ('"ls *"', '"git *"', '"git status"', '"curl -L *"')),
}
_TESTS = {
    "pay": (
        "input.to in s",
        "not (input.to in s)",
        'input.to == "a"',
        "any x in [input.to]: x in s",
    ),
    "look": ("reads only s", "reads s", "reads outside s", "reads only [s, t]", "reads s except t"),
    "fetch": (
        "connects only to s",
        "connects to s",
        "connects outside s",
        "connects only to [s, t]",
    ),
    "sh": ("runs only s", "runs any s", "runs only [s, t]", "runs only s and reads anything"),
}
_INPUTS = {
    "pay": ({"to": "a"}, {"to": "b"}, {"to": "c"}, {"to": "z"}),
    "look": ({"path": "/a/x"}, {"path": "/b/x"}, {"path": "/c/d"}, {"path": "$X"}),
    "fetch": (
        {"url": "https://a.example"},
        {"url": "https://x.b.example/"},
        {"url": "https://c.example"},
        {"url": "nowhere"},
    ),
    "sh": (
        {"command": "ls -l; git status"},
        {"command": "git log"},
        {"command": "curl -L https://a.example"},
        {"command": "frob x"},
    ),
}


@st.composite
def _edits(draw: DrawFn) -> tuple[str, str, str]:
    """Draw a tool, and the texts of two policies that differ in one set."""
    name = draw(st.sampled_from(sorted(_ITEMS)))
    kind, items = _ITEMS[name]
    removed = draw(st.sampled_from(items))
    fewer = tuple(item for item in items if item != removed)
    atom = st.sampled_from(_TESTS[name])
    condition = draw(
        st.recursive(
            atom,
            lambda inner: st.one_of(
                st.builds("({} and {})".format, inner, inner),
                st.builds("({} or {})".format, inner, inner),
                st.builds("not ({})".format, inner),
            ),
            max_leaves=3,
        )
    )
    clause = draw(st.sampled_from(("when", "unless")))
    verdict = draw(st.sampled_from(("allow", "ask", "deny")))
    approval = draw(st.sampled_from(("", " with approval"))) if verdict == "allow" else ""
    others = draw(st.sampled_from(("", f"all: allow {name}", f"all: ask {name}")))

    def text(members: tuple[str, ...]) -> str:
        return "\n".join(
            (
                "policy for every agent",
                "default deny",
                f"{kind} s = {', '.join(members)}",
                f"{kind} t = {items[0]}",
                f"r: {verdict} {name} {clause} {condition}{approval}",
                others,
            )
        )

    return name, text(items), text(fewer)


def _program(text: str) -> Program | None:
    try:
        lines = tuple(text.splitlines())
        policy = PolicyText(files=(("global.policy", lines),))
        return build_over(policy, _CATALOG, profiles=_PROFILES).program
    except Unsound:
        return None


def _verdict(program: Program, name: str, given: dict[str, str]) -> Verdict:
    admitted = admit(RawCall(tool=name, input=dict(given)), program.catalog)
    assert isinstance(admitted, Admitted)
    facts = Facts(cwd="/w", workspace="/w", home="/home/u")
    return decide(program, admitted.call, caller=Caller(), facts=facts).verdict


def test_an_edit_of_a_set_that_only_tightens_loosens_no_verdict() -> None:
    tally = Tally()

    @settings(max_examples=examples(600))
    @given(_edits())
    def law(drawn: tuple[str, str, str]) -> None:
        name, *texts = drawn
        large, small = map(_program, texts)
        if large is None or small is None:
            tally.case("refused")
            return
        for old, new, way in ((large, small, "smaller"), (small, large, "larger")):
            if only_tightens(old, new):
                tally.case(way)
                for given_input in _INPUTS[name]:
                    before, after = (_verdict(one, name, given_input) for one in (old, new))
                    assert after.rank >= before.rank, (given_input, texts)

    law()
    tally.shows("smaller", share=0.02)
    tally.shows("larger", share=0.02)


def _with_set(rules: str, members: str) -> Program:
    program = _program(f"policy for every agent\ndefault deny\nstrings s = {members}\n{rules}")
    assert program is not None
    return program


def test_what_shrinks_may_loosen() -> None:
    asked = "all: allow pay\nr: allow pay when input.to in s with approval"
    denied = "all: allow pay\nr: deny pay when input.to in s"
    granted = "r: allow pay when input.to in s"
    few, many = '"a"', '"a", "b"'
    assert only_tightens(_with_set(granted, many), _with_set(granted, few))
    assert not only_tightens(_with_set(granted, few), _with_set(granted, many))
    assert only_tightens(_with_set(denied, few), _with_set(denied, many))
    assert not only_tightens(_with_set(denied, many), _with_set(denied, few))
    # One that needs an approval both grants and restricts.
    assert not only_tightens(_with_set(asked, many), _with_set(asked, few))
    texts = (
        f"policy for every agent\ndefault deny\nr: allow look when not (reads outside {each})"
        " and reads anything"
        for each in ('["/a/**"]', '["/a/**", "/b/**"]')
    )
    narrow, wide = map(_program, texts)
    assert narrow is not None and wide is not None
    assert only_tightens(wide, narrow) and not only_tightens(narrow, wide)
