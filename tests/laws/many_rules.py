"""Many rules on one tool, of every kind of condition, for laws about rules that share tests."""

from __future__ import annotations

from functools import cache
from random import Random

from policy.catalog import Catalog, Origin, Resource, ToolSpec
from policy.checks import CheckedPolicy
from policy.syntax import tree
from tests.laws.conditions import written
from tests.laws.engine import Unsound, build_over
from tests.laws.policies import GLOBAL, PolicyText

FIELDS = ("path", "host", "size", "flag")
SPEC = ToolSpec(
    name="pay",
    origin=Origin(kind="host", tool="pay"),
    schema={"type": "object", "additionalProperties": True},
    resources=(Resource(verb="reads", steps=("path",)),),
    complete=True,
    category="money",
)
TOOLS = Catalog(specs=(SPEC,), complete=True)
WORDS = (
    "",
    "/",
    "/a",
    "/a/",
    "/a/b",
    "/a/b/c",
    "/b/",
    "x.org",
    ".org",
    "a",
    "é",
    "e\u0301",
    "\u200b",
)
NUMBERS = ("0", "1", "-1", "0.5", "0.3", "9007199254740992", "9007199254740993")


def atom(random: Random) -> str:
    """Draw a condition without `and`, `or` and `not`."""
    name = f"input.{random.choice(FIELDS)}"
    word, other = (f'"{random.choice(WORDS)}"' for _ in range(2))
    number = random.choice(NUMBERS)
    return random.choice(
        [
            *(f"{name} == {word}", f"{name} != {word}", f"{name} == {number}", f"{name} == true"),
            *(f"{name} starts with {word}", f"{name} starts with {word}"),
            *(f"{name} ends with {word}", f"{name} contains {word}"),
            *(f'{name} like "/a*"', f'{name} like "*b"', f'{name} like "/a/?"'),
            *(f"{name} in [{word}, {other}]", f"{name} in [{word}, {other}]"),
            *(f"{name} not in [{word}, {other}]", f"{word} in {name}"),
            *(f"{name} < {number}", f"{name} <= {number}", f"{name} > {number}"),
            *(f"{name} >= {number}", f"{name} + 1 > {number}", f"-{name} < {number}"),
            *(f"{name} * 2 < {number}", f"1 - {name} < {number}", f"max({name}, 0) > {number}"),
            *(f"{name} contains /^(a|b)/", f"{name} contains /a+b/", f"{name} matches /.*org/"),
            *(f"{name} is present", f"{name} is absent", "input.flag"),
            *(f"{name} is {written(what)}" for what in (*tree.STATES, *tree.TYPE_NAMES)),
            *('session.role == "dev"', 'session.role in ["dev", "é"]', 'agent.name like "a*"'),
            *('tool.category == "money"', f"(any w in {name}: w == {word})"),
            *(f"(all w in {name}: w == {word})", f"count(w in {name}: w == {word}) == 1"),
            *(f"{name}[0] == {word}", f'{name}["a"] == {word}', f'{name} == {{a: "a"}}'),
            f"{name} == {{a: null}}",
            *("after pay within 5m", "after note", "after [bank__*, note] within 301s", "after *"),
            *(f"{name} named by user", "user.said is present"),
            *(f"(any c in calls(pay): c.input.path == {name})", f"{name} from outside"),
            *(f"{name} in results(pay).path", "latest(c in calls(pay): c.input.flag).age < 5m"),
            *("now within 08:00..18:00", 'now - time("2026-11-21T11:30:00Z") < 1h'),
            *('reads "/a/**"', 'reads only "/a/**"', 'reads any "/a"', 'reads outside "/a/**"'),
        ]
    )


def condition(random: Random, depth: int = 2) -> str:
    """Draw a condition, with `and`, `or` and `not` up to a depth."""
    kind = random.randrange(6) if depth else 5
    if kind == 0:
        return f"not ({condition(random, depth - 1)})"
    if kind in (1, 2):
        word = "and" if kind == 1 else "or"
        return f"({condition(random, depth - 1)} {word} {condition(random, depth - 1)})"
    return atom(random)


def _rule(random: Random) -> str:
    verdict = random.choice(["allow", "allow", "ask", "deny", "shadow deny", "shadow allow"])
    tests = [condition(random) for _ in range(random.choice([0, 1, 1, 2]))]
    when = f" when {' and '.join(tests)}" if tests else ""
    unless = f" unless {condition(random)}" if random.randrange(3) == 0 else ""
    approval = " with approval" if verdict == "allow" and random.randrange(4) == 0 else ""
    return f"{verdict} pay{when}{unless}{approval}"


@cache
def pool() -> tuple[CheckedPolicy, tree.PolicyFile]:
    """Return a layer of many rules that the checker accepts, and the tree of its one file."""
    random = Random(1)
    rules = [f"r{number}: {_rule(random)}" for number in range(900)]
    rules.append("label outside on results of pay")
    while True:
        policy = PolicyText(files=((GLOBAL, ("policy for every agent", *rules, "default allow")),))
        try:
            built = build_over(policy, TOOLS)
        except Unsound as refused:
            wrong = {e.span.line for e in refused.errors if e.span is not None}
            rules = [rule for line, rule in enumerate(rules, 2) if line not in wrong]
        else:
            (layer,) = built.program.policy.layers
            return layer, built.trees[0]
