"""Rules that a check says to be without effect, against the solver: without one, nothing changes.

The checks are quick and look at parts of conditions. The solver reads both policies as a whole, and
what it shows has been decided by the engine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from policy.catalog import Catalog, Origin, Resource, ToolSpec
from policy.checks import PolicySources, check
from policy.decision import GenerationId, Visibility, visibility_of
from policy.diagnostics import Diagnostic
from policy.layers import merge
from policy.model import Caller, Facts, Source
from policy.program import Program, compile_policy
from policy.syntax import parse
from policy.values import is_ordinary, role_of
from policy.verify import Change, Witness, compare, prove
from tests.examples import FULL, examples
from tests.laws.calls import once_in, pick
from tests.laws.policies import GLOBAL, PolicyText
from tests.laws.situations import Tally

# What each of these says: without the rule, every call is decided as with it.
WITHOUT_EFFECT = frozenset(
    {
        "allow-without-effect",
        "effect-not-covered",
        "never-holds",
        "overruled-rule",
        "redundant-allow",
        "unreached-ask",
    }
)
_FILE = ToolSpec(
    name="file",
    origin=Origin(tool="file"),
    schema={
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "size": {"type": "integer", "minimum": 0, "maximum": 3},
            "mode": {"enum": ["r", "w"]},
            "note": {"type": "string"},
        },
        "required": ["path", "mode"],
        "additionalProperties": False,
    },
    resources=(Resource(verb="reads", steps=("path",)),),
    complete=True,
)
_NOTE = ToolSpec(
    name="note",
    origin=Origin(tool="note"),
    schema={
        "type": "object",
        "properties": {"size": {"type": "integer"}, "note": {"type": "string"}},
        "additionalProperties": False,
    },
    complete=True,
)
_CATALOG = Catalog(specs=(_FILE, _NOTE), complete=True)
_TESTS = {
    "file": (
        *(f"input.size {op} {n}" for op in ("<", ">=", "==", "!=") for n in (0, 2, 4)),
        *(f'input.mode == "{mode}"' for mode in ("r", "w", "x")),
        "input.mode is absent",
        "input.path is a number",
    ),
    "note": tuple(f"input.size {op} {n}" for op in ("<", ">") for n in (1, 3)),
    "any": (
        "input.note is present",
        "input.note is absent",
        'input.note == "ab"',
        'input.note like "a*"',
        'input.note like "b*"',
        'input.note starts with "ab"',
        "length(input.note) > 2",
        'session.role == "guest"',
        'session.role in ["guest", "clerk"]',
        'agent.name == "ann"',
    ),
}
_OF_FILES = {
    True: ("reads only", "reads any", "not reads outside"),
    False: ("reads", "reads outside", "not reads only"),
}


def _test(draw: DrawFn, tool: str, *, grants: bool) -> str:
    if tool == "file" and once_in(draw, 5):
        return f'{pick(draw, _OF_FILES[grants])} "{pick(draw, ("/a/**", "/a/b/**", "/c"))}"'
    test = pick(draw, (*_TESTS.get(tool, ()), *_TESTS["any"]))
    return f"not ({test})" if once_in(draw, 5) else test


def _rule(draw: DrawFn, verdicts: tuple[str, ...], tools: tuple[str, ...]) -> str:
    verdict, tool = pick(draw, verdicts), pick(draw, tools)
    text = f"{verdict} {tool}"
    if not once_in(draw, 4):
        word = pick(draw, ("and", "and", "or"))
        parts = [
            _test(draw, tool, grants=verdict == "allow") for _ in range(draw(st.integers(1, 3)))
        ]
        text += f" when {f' {word} '.join(parts)}"
    if once_in(draw, 4):
        text += f" unless {_test(draw, tool, grants=verdict != 'allow')}"
    return text + (" with approval" if verdict == "allow" and once_in(draw, 5) else "")


@st.composite
def _policies(draw: DrawFn) -> PolicyText:
    kinds, tools = ("allow", "allow", "ask", "deny"), ("file", "file", "note", "*")
    default = pick(draw, ("deny", "deny", "ask", "allow"))
    body = [_rule(draw, kinds, tools) for _ in range(draw(st.integers(2, 5)))]
    files = [(GLOBAL, ("policy for every agent", f"default {default}", *body))]
    if once_in(draw, 3):
        other = [_rule(draw, kinds, tools) for _ in range(draw(st.integers(1, 2)))]
        files.append(("agents/ann.policy", ('policy for agent "ann"', *other)))
    return PolicyText(files=tuple(files))


@dataclass(frozen=True, kw_only=True)
class _Rules:
    program: Program
    id: GenerationId = field(default_factory=lambda: GenerationId(number=1, digest="sha256:0"))

    def changes_since(self, _before: object) -> Iterator[Change]:
        """Yield nothing: these policies have neither settings nor pins."""
        return iter(())


def _built(policy: PolicyText) -> tuple[_Rules, tuple[Diagnostic, ...]]:
    """Return the program of a policy, whatever its checks say, and what they do."""
    trees = tuple(parse(Source(name=name, text=text)).tree for name, text in policy.texts().items())
    checked = check(PolicySources(files=trees), _CATALOG)
    layered = merge(checked.policies, _CATALOG)
    rules = _Rules(program=compile_policy(layered.policy, _CATALOG))
    return rules, (*checked.diagnostics, *layered.diagnostics)


def _is_beyond(shown: Witness | None) -> bool:
    """Return whether there is no call, or one with a value that no check considers.

    Such are a number that no double holds and a string with invisible characters: a test of it may
    be indeterminate where it would be true or false of every other value.
    """
    if shown is None:
        return True
    role = shown.situation.caller.role  # one that is spelled in another way is like no other, too
    values = (*shown.situation.input.values(), shown.situation.caller.agent, role)
    return role_of(role) != role or any(
        not is_ordinary(value)
        if isinstance(value, str)
        else isinstance(value, int) and abs(value) > 10**300
        for value in values
    )


def _without(policy: PolicyText, file: str, line: int) -> PolicyText:
    """Return a policy without the statement in a line of a file."""
    return PolicyText(
        files=tuple(
            (name, (*body[: line - 1], *body[line:]) if name == file else body)
            for name, body in policy.files
        )
    )


def _complaints(found: tuple[Diagnostic, ...]) -> Iterator[tuple[str, str, int]]:
    """Yield the code, the file and the line of each rule that is said to be without effect."""
    for one in found:
        if one.code not in WITHOUT_EFFECT or one.span is None:
            continue
        if "never allows" in one.message and not (
            # That an `allow` never allows is no complaint about the approval that it asks for,
            # and that a part of it does not is none about the whole.
            one.message.startswith("no clause") and not one.span.text.endswith(" with approval")
        ):
            continue
        yield one.code, one.span.file, one.span.line


def test_without_a_rule_that_is_said_to_be_without_effect_nothing_changes() -> None:
    tally, codes = Tally(), Counter[str]()

    @settings(max_examples=examples(150))
    @given(_policies())
    def law(policy: PolicyText) -> None:
        rules, found = _built(policy)
        for code, file, line in _complaints(found):
            codes[code] += 1
            rest, _ = _built(_without(policy, file, line))
            for row in compare(rules, rest).tools:
                for answer in (row.looser, row.tighter, row.approval):
                    assert _is_beyond(answer.witness), (code, file, line)
                    tally.case("proved" if answer.found == "no" else "undecided")

    law()
    tally.shows("proved", share=0.5)
    if settings().max_examples >= FULL:
        assert {code for code in WITHOUT_EFFECT if not codes[code]} == set(), codes


def test_of_a_tool_that_is_hidden_no_call_is_shown_that_is_not_denied() -> None:
    tally = Tally()
    callers = [(name, role) for name in ("ann", "zoe") for role in ("owner", "clerk")]

    @settings(max_examples=examples(100))
    @given(_policies(), st.sampled_from(callers), st.sampled_from(("file", "note")))
    def law(policy: PolicyText, who: tuple[str, str], tool: str) -> None:
        name, role = who
        rules, _ = _built(policy)
        caller = Caller(agent=name, role=role)
        if visibility_of(rules.program, tool, caller, Facts(history=())) is not Visibility.HIDDEN:
            tally.case("shown")
            return
        claim = f'prove always deny {tool} when agent.name == "{name}" and session.role == "{role}"'
        (proof,) = prove(_built(policy.adding(GLOBAL, claim))[0])
        shown = proof.counterexample
        assert shown is None or shown.unclear  # of a caller whose name or role is in disguise
        tally.case("hidden")

    law()
    tally.shows("hidden")
