"""A law of claims about agents, beside layers whose headers have patterns of names."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from policy.decision import answer
from policy.model import Caller, Facts, Verdict
from policy.verify import prove
from tests.examples import examples
from tests.laws.engine import Unsound
from tests.laws.situations import Tally
from tests.unit.verify.proving import built_of, met, tool

_OPEN = tool("open", {})
_PATTERNS = ("a*", "*b", "a?", "a-*", "*", "b", "?", "a*b")
_CONDITIONS = (
    'agent.name == "ab"',
    'agent.name in ["a", "b"]',
    'agent.name like "a*"',
    'agent.name like "*-?"',
    'agent.name starts with "a-"',
    'not (agent.name ends with "b")',
    'agent.name contains "-"',
    'agent.name == "b" or agent.name == "c"',
)
_NAMES = tuple(
    "".join(chars) for length in range(4) for chars in product("abc-\u200b", repeat=length)
)
_HEADERS = st.lists(st.sampled_from(_PATTERNS), min_size=1, max_size=2, unique=True)


@st.composite
def _policies(draw: st.DrawFn) -> dict[str, tuple[str, ...]]:
    claim = f"prove never allow open when {draw(st.sampled_from(_CONDITIONS))}"
    if draw(st.booleans()):
        claim += f" and {draw(st.sampled_from(_CONDITIONS))}"
    body = [
        f"{draw(st.sampled_from(('deny', 'ask')))} open when {draw(st.sampled_from(_CONDITIONS))}"
        for _ in range(draw(st.integers(0, 1)))
    ]
    files = {"global.policy": ("policy for every agent", "default allow", *body, claim)}
    for number in range(draw(st.integers(1, 2))):
        names = ", ".join(f'"{each}"' for each in draw(_HEADERS))
        files[f"agents/{number}.policy"] = (f"policy for agents {names}", "deny open")
    return files


def test_no_name_breaks_a_claim_about_names_that_holds() -> None:
    tally = Tally()

    @settings(max_examples=examples(150))
    @given(_policies())
    def law(files: dict[str, tuple[str, ...]]) -> None:
        try:
            built = built_of(files, specs=(_OPEN,))
        except Unsound:  # two files for the same agents
            return
        (proof,) = prove(built)
        facts = Facts(history=())
        breaking = [
            name
            for name in _NAMES
            if answer(built.program, "open", {}, Caller(agent=name), facts).decision.verdict
            is Verdict.ALLOW
            and met(built, proof, _OPEN, {}, caller=Caller(agent=name), facts=facts)
        ]
        assert not breaking or proof.status != "holds", breaking[:3]
        tally.case(proof.status, "open" if proof.status == "undecided" else "decided")

    law()
    tally.shows("holds", share=0.1)
    tally.shows("broken", share=0.1)
    # What is left are conditions on a name that exclude each other for any spelling of it.
    tally.shows("decided", share=0.75)
