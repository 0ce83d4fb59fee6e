"""What resource tests imply about each other never excludes what the engine finds of a call."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from policy.catalog import Resource, SchemaView
from policy.checks import checked
from policy.evaluation import DeclaredResources, Evaluation, Indeterminate
from policy.model import Caller, Facts, Resolvers, SandboxTier
from policy.solving import Clauses, Model, Search
from policy.symbolic.reading import Scope, compiled
from policy.symbolic.resource_facts import ResourceFacts
from tests.unit.verify.proving import tool

ITEMS = st.sampled_from(
    (
        "/a/**",
        "/a/b/**",
        "/a/*",
        "/A/b",
        "/*/b",
        "/a/b",
        "**/b",
        "**/B/**",
        "**/b/**",
        "**/?",
        "/**",
        "~/**",
        "~/b",
        "./**",
        "./b/*",
    )
)
PLAIN = st.lists(ITEMS, min_size=1, max_size=2)
EXCEPT = st.lists(ITEMS, max_size=1)


def _set(included: list[Any], excluded: list[str]) -> checked.ValueSet:
    return checked.ValueSet(kind="paths", included=tuple(included), excluded=tuple(excluded))


SETS = st.builds(_set, PLAIN, EXCEPT) | st.builds(
    lambda inner, more, out: _set([inner, *more], out),
    st.builds(_set, PLAIN, EXCEPT),
    st.lists(ITEMS, max_size=1),
    EXCEPT,
)
TESTS = st.builds(
    lambda form, values: checked.ResourceTest(
        verb="reads", form=form, operand=values, permits=False, text=""
    ),
    st.sampled_from(("some", "some", "outside", "only")),
    SETS,
)


def _only(*items: str) -> checked.ResourceTest:
    return checked.ResourceTest(
        verb="reads", form="only", operand=_set([*items], []), permits=False, text=""
    )


PATHS = st.sampled_from(
    (
        *("/a/b", "/a", "/A/B", "/a/b/c", "/", "b", "c/b", "~/b", "~", "/x/../a/b/", "*/b"),
        *("/home/u/ws/b/c", "/a\u200b/b", "/h/b", "\\", "/x/b/y"),
    )
)
# None of these is a folder that an item spells: proofs take such for no links.
LINKS = {"/x/b/y": "/a/c", "/h/b": "/A/B/b", "/home/u/ws/b/c": "/b"}
FILE = tool("file", {"p": {"type": "string"}}, Resource(verb="reads", steps=("p",)))
TREE = tool("tree", {"p": {"type": "string"}}, Resource(verb="reads", steps=("p",), tree=True))
MANY = tool(
    "many",
    {"p": {"type": "array", "items": {"type": "string"}}},
    Resource(verb="reads", steps=("p", "*")),
)


@given(
    spec=st.sampled_from((FILE, TREE, MANY)),
    tests=st.lists(TESTS, min_size=1, max_size=5),
    paths=st.lists(PATHS, min_size=0, max_size=2),
    complete=st.booleans(),
    folds=st.booleans(),
    links=st.booleans(),
    confined=st.sampled_from((None, "seen", "unseen")),
)
@example(
    spec=FILE,
    tests=[_only("/a/**"), _only("/a/**"), _only("/a/**", "**/b")],
    paths=["/a/b"],
    complete=True,
    folds=False,
    links=False,
    confined="unseen",
)
def test_the_truths_of_a_call_satisfy_what_is_required(
    spec: Any,
    tests: list[Any],
    paths: list[str],
    *,
    complete: bool,
    folds: bool,
    links: bool,
    confined: str | None,
) -> None:
    unseen = confined == "unseen"
    declared = DeclaredResources(spec.resources, complete=complete, unseen=unseen)
    sandbox = SandboxTier(name="bubblewrap", enforces=frozenset({"reads"}))
    given_input = {"p": tuple(paths)} if spec is MANY else {"p": "".join(paths[:1]) or "/a"}
    resolvers = Resolvers(
        path=(lambda path: LINKS.get(path, path)) if links else None,
        folds=(lambda path: True) if folds else None,
    )
    facts = Facts(
        cwd="/home/u/ws",
        home="/home/u",
        workspace="/home/u/ws",
        resolvers=resolvers,
        sandbox=None if confined is None else sandbox,
    )
    call = Evaluation(spec, given_input, caller=Caller(), facts=facts, slots=0)
    clauses = Clauses()
    resources = ResourceFacts(clauses, SchemaView(spec.schema), ordinary=clauses.variable())
    for number, test in enumerate(tests):
        scope = Scope(declared, absent_is_false=bool(number % 2))
        found = resources.truth_of(test, scope)
        truth = compiled(test, scope)(call)
        known = None if isinstance(truth, Indeterminate) else truth
        clauses.require(found.holds if known is True else -found.holds)
        clauses.require(found.fails if known is False else -found.fails)
    with Search(clauses, steps=1_000) as search:
        assert isinstance(search.solve(), Model)
