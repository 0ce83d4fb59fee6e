"""Laws about the comparison of policies: what is said holds for every call, and is shown by one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from policy.catalog import Catalog, Origin, ToolSpec
from policy.decision import GenerationId, answer
from policy.model import Caller, Facts, GuestScope, ToolCall
from policy.program import Program
from policy.verify import Change, Difference, compare
from tests.examples import examples
from tests.laws.calls import SPELLED, callers, calls, once_in, pick
from tests.laws.conditions import conditions
from tests.laws.engine import Unsound, build, build_over
from tests.laws.policies import GLOBAL, PolicyText
from tests.laws.situations import Situation, Tally, situations

_ID = GenerationId(number=1, digest="sha256:0")
_VERDICTS = ("allow", "ask", "deny")


@dataclass(frozen=True, kw_only=True)
class _Policy:
    """A program as a generation is compared."""

    program: Program
    id: GenerationId = _ID

    def changes_since(self, _before: object) -> Iterator[Change]:
        """Yield nothing: these policies have neither settings nor pins."""
        return iter(())


def _compared(old: Program, new: Program) -> Difference:
    return compare(_Policy(program=old), _Policy(program=new))


@st.composite
def edits(draw: DrawFn, *, kinds: tuple[str, ...]) -> tuple[Situation, Situation, str]:
    """Draw a policy, the same after an edit, and what the edit was."""
    case = draw(situations())
    own = SPELLED.get(case.call.tool, case.call.tool)
    kind = pick(draw, kinds)
    files = case.policy.files
    file = pick(draw, [name for name, _ in files])
    if kind == "restrict":
        when = draw(conditions(case.call, permits=False))
        statement = f"edit-1: {pick(draw, ('ask', 'deny'))} {own} when {when}"
        return case, case.under(case.policy.adding(file, statement)), kind
    if kind == "grant":
        statement = f"edit-1: allow {own} when {draw(conditions(case.call, permits=True))}"
        return case, case.under(case.policy.adding(GLOBAL, statement)), kind
    wanted = "allow" if kind == "drop allow" else ""
    chosen = [
        (name, statement)
        for name, statements in files
        for statement in statements[1:]
        if f": {wanted}" in statement and (not wanted or "with approval" not in statement)
    ]
    if not chosen:
        return case, case, "none"
    dropped = pick(draw, chosen)
    return case, case.under(case.policy.only(lambda n, s: (n, s) != dropped)), kind


def verdicts(old: Situation, new: Situation, call: ToolCall, caller: Caller) -> tuple[Any, Any]:
    before, after = (
        answer(case.built.program, call.tool, dict(call.input), caller, case.facts).decision
        for case in (old, new)
    )
    return before.verdict, after.verdict


def test_what_is_not_said_to_differ_does_not() -> None:
    tally = Tally()

    @settings(max_examples=examples(600))
    @given(edits(kinds=("restrict", "grant", "drop", "drop allow")), st.data())
    def law(drawn: tuple[Situation, Situation, str], data: Any) -> None:
        old, new, _ = drawn
        found = _compared(old.built.program, new.built.program)
        rows = [one for one in found.tools if one.tool == old.call.tool]
        looser = any(one.looser.found != "no" for one in rows)
        tighter = any(one.tighter.found != "no" for one in rows)
        hidden = {one.direction for one in found.changes}
        others = [data.draw(calls((old.call.tool,))) for _ in range(4)]
        for call in (old.call, *others):
            for caller in (old.caller, data.draw(callers(depth=2))):
                before, after = verdicts(old, new, call, caller)
                assert after >= before or looser or hidden & {"looser", "unclear"}, (call, caller)
                assert after <= before or tighter or hidden & {"tighter", "unclear"}, (call, caller)
                if after != before:
                    tally.case("a call differs")
        tally.case(*(one.status for one in rows))

    law()
    tally.shows("a call differs", share=0.02)
    tally.shows("looser", share=0.02)
    tally.shows("tighter", share=0.02)


def test_a_call_that_is_shown_is_decided_differently() -> None:
    @settings(max_examples=examples(200))
    @given(edits(kinds=("grant", "drop", "drop allow")))
    def law(drawn: tuple[Situation, Situation, str]) -> None:
        old, new, _ = drawn
        for row in _compared(old.built.program, new.built.program).tools:
            for answered, sign in ((row.looser, -1), (row.tighter, 1)):
                shown = answered.witness
                assert (shown is not None) == (answered.found == "yes")
                if shown is None:
                    continue
                situation = shown.situation
                call = ToolCall(tool=situation.spec.name, input=situation.input)
                cases = [replace(case, facts=situation.facts) for case in (old, new)]
                before, after = verdicts(cases[0], cases[1], call, situation.caller)
                assert (after.rank - before.rank) * sign > 0

    law()


def test_an_edit_that_only_tightens_is_known_to() -> None:
    @settings(max_examples=examples(300))
    @given(edits(kinds=("restrict", "drop allow")))
    def law(drawn: tuple[Situation, Situation, str]) -> None:
        old, new, _ = drawn
        found = _compared(old.built.program, new.built.program)
        assert all(one.looser.found == "no" for one in found.tools)

    law()


def test_a_policy_differs_in_nothing_from_itself() -> None:
    @settings(max_examples=examples(100))
    @given(situations(), st.randoms(use_true_random=False))
    def law(case: Situation, random: Any) -> None:
        shuffled = tuple(
            (name, (statements[0], *random.sample(statements[1:], len(statements) - 1)))
            for name, statements in case.policy.files
        )
        try:
            other = build(PolicyText(files=shuffled))
        except Unsound:
            return  # some statements have to come before others
        found = _compared(case.built.program, other.program)
        assert found.tools == ()
        assert found.is_empty

    law()


# ------------------------------------------------------------------ a whole universe

_MODES = ("in", "out", "by")
_COUNTS = (0, 1, 2, 3)
_NAMES = ("ann", "bob", "zoe")
_ROLES = ("owner", "guest", "clerk", "visitor")
_DOOR = ToolSpec(
    name="door",
    origin=Origin(kind="host", tool="door"),
    schema={
        "type": "object",
        "properties": {
            "mode": {"enum": list(_MODES)},
            "count": {"type": "integer", "minimum": _COUNTS[0], "maximum": _COUNTS[-1]},
        },
        "required": ["mode"],
        "additionalProperties": False,
    },
    complete=True,
)
_CATALOG = Catalog(specs=(_DOOR,), complete=True)
_TESTS = (
    *(f'input.mode == "{mode}"' for mode in _MODES),
    'input.mode in ["in", "out"]',
    *(f"input.count {op} {count}" for op in ("==", "<", ">=") for count in (1, 2)),
    "input.count is present",
    "not (input.count > 1)",
    'agent.name == "ann"',
    'agent.name != "bob"',
    'session.role == "guest"',
    'session.role in ["owner", "clerk"]',
)


@st.composite
def _of_doors(draw: DrawFn) -> PolicyText:
    def rule(verdicts: tuple[str, ...]) -> str:
        test = st.sampled_from(_TESTS)
        text = f"{pick(draw, verdicts)} door"
        if not once_in(draw, 4):
            text += f" when {draw(test)} {pick(draw, ('and', 'or'))} {draw(test)}"
        return text if once_in(draw, 2) else f"{text} unless {draw(test)}"

    default = pick(draw, ("deny", "deny", "ask", "allow"))
    verdicts = _VERDICTS if default == "deny" else ("ask", "deny", "deny")
    body = tuple(rule(verdicts) for _ in range(draw(st.integers(1, 4))))
    files = [(GLOBAL, ("policy for every agent", f"default {default}", *body))]
    if once_in(draw, 2):
        header = pick(draw, ('policy for agent "ann"', 'policy for role "guest"'))
        files.append(("agents/other.policy", (header, rule(("ask", "deny")))))
    return PolicyText(files=tuple(files))


def _universe() -> Iterator[tuple[dict[str, Any], Caller]]:
    for mode, count, name, role in itertools.product(_MODES, (None, *_COUNTS), _NAMES, _ROLES):
        input = {"mode": mode} if count is None else {"mode": mode, "count": count}
        yield input, Caller(agent=name, role=role, scope=GuestScope(allowed_tools=("*",)))


def test_of_a_whole_universe_everything_is_decided_as_by_trying_it_all() -> None:
    tally = Tally()
    facts = Facts(history=())

    @settings(max_examples=examples(400))
    @given(_of_doors(), _of_doors())
    def law(left: PolicyText, right: PolicyText) -> None:
        try:
            old, new = (build_over(text, _CATALOG).program for text in (left, right))
        except Unsound:
            return
        changes = set()
        for input, caller in _universe():
            before, after = (
                answer(program, "door", input, caller, facts).decision.verdict
                for program in (old, new)
            )
            changes.add("looser" if after < before else "tighter" if after > before else "same")
        rows = _compared(old, new).tools
        assert {one.looser.found for one in rows} <= {"yes", "no"}
        assert {one.tighter.found for one in rows} <= {"yes", "no"}
        assert any(one.looser.found == "yes" for one in rows) == ("looser" in changes)
        assert any(one.tighter.found == "yes" for one in rows) == ("tighter" in changes)
        tally.case(*changes)

    law()
    tally.shows("looser")
    tally.shows("tighter")
