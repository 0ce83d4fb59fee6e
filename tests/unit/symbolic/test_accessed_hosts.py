"""What tests of hosts say of a call never excludes what the engine finds of it."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from policy.catalog import Resource, SchemaView
from policy.checks import checked
from policy.evaluation import DeclaredResources, Evaluation, Indeterminate
from policy.model import Caller, Facts, Resolvers
from policy.solving import Clauses, Model, Search
from policy.symbolic.reading import Scope, compiled
from policy.symbolic.resource_facts import ResourceFacts
from tests.examples import examples
from tests.unit.verify.proving import tool

ITEMS = st.sampled_from(
    (
        *(
            "*",
            "a.test",
            "*.a.test",
            "*.test",
            "b.a.test",
            "localhost",
            "*.localhost",
            "redirected",
        ),
        *("https://*", "http://a.test", "*:22", "a.test:8080", "10.0.0.0/8", "10.1.0.0/16"),
        *("0.0.0.0/0", "::/0", "::ffff:0:0/96", "2001:db8::/32", "[fd00::]/8", "10.1.2.3"),
        *("private", "loopback", "metadata", "reserved", "link_local", "192.0.0.0/22"),
        *("a.test/v1/**", "https://a.test/v1/*", "*/x", "a.test/**/x", "a.test/*/", "10.0.0.0/8/x"),
    )
)
PLAIN = st.lists(ITEMS, min_size=1, max_size=2)
EXCEPT = st.lists(ITEMS, max_size=1)


def _set(included: list[Any], excluded: list[str]) -> checked.ValueSet:
    return checked.ValueSet(kind="hosts", included=tuple(included), excluded=tuple(excluded))


SETS = st.builds(_set, PLAIN, EXCEPT) | st.builds(
    lambda inner, more, out: _set([inner, *more], out),
    st.builds(_set, PLAIN, EXCEPT),
    st.lists(ITEMS, max_size=1),
    EXCEPT,
)


def _resource_test(form: Any, values: checked.ValueSet) -> checked.ResourceTest:
    return checked.ResourceTest(verb="connects", form=form, operand=values, permits=False, text="")


TESTS = st.builds(
    _resource_test,
    st.sampled_from(("some", "some", "outside", "only")),
    SETS,
)
HOSTS = st.sampled_from(
    (
        *(
            "a.test",
            "A.Test.",
            "b.a.test",
            "test",
            "localhost",
            "x.localhost",
            "metadata",
            "a_b.test",
        ),
        *(
            "10.1.2.3",
            "0x0a010203",
            "8.8.8.8",
            "127.1",
            "0.0.0.0",
            "169.254.169.254",
            "192.0.0.192",
        ),
        *(
            "[::1]",
            "[2001:db8::1]",
            "[::ffff:10.1.2.3]",
            "[2002:0a01:0203::]",
            "[64:ff9b::a01:203]",
        ),
        *(
            "[64:ff9b:1:a01:2:300::]",
            "[2001:0:a01:203::f5fe:fdfc]",
            "bücher.test",
            "xn--bcher-kva.test",
        ),
        *("010.1.2.3", "a.test\u200b", "-a.test", "a--b.test"),
    )
)
TAILS = st.sampled_from(
    (
        *("", "/", "/v1", "/v1/", "/v1/x", "/v1//x", "//x", "/v1/;a/x", "/x;y", "/v1/%2e%2e/x"),
        *("/v1/../x", "/%2Fx", "?q", "#f", "/a/x?y", "//", "/;"),
    )
)
URLS = st.builds(
    lambda scheme, host, port, tail: scheme + host + port + tail,
    st.sampled_from(("", "https://", "http://", "ssh://", "HTTP://", "nothing://", "ftp://u@")),
    HOSTS,
    st.sampled_from(("", ":22", ":8080", ":")),
    TAILS,
)
ADDRESSES = st.lists(
    st.sampled_from(
        ("10.1.2.3", "10.200.0.1", "8.8.8.8", "127.0.0.1", "::1", "64:ff9b::a01:203", "nothing")
    ),
    max_size=2,
)
FETCH = tool("fetch", {"p": {"type": "string"}}, Resource(verb="connects", steps=("p",)))
OPEN = tool("open", {"p": {"type": "string"}}, Resource(verb="connects", steps=("p",), uri=True))
MANY = tool(
    "many",
    {"p": {"type": "array", "items": {"type": "string"}}},
    Resource(verb="connects", steps=("p", "*")),
)
SCRIPT = tool("sh", {"p": {"type": "string"}}, Resource(verb="runs", steps=("p",)))


@settings(max_examples=examples(400))
@given(
    st.sampled_from((FETCH, FETCH, MANY, OPEN, SCRIPT)),
    st.lists(TESTS, min_size=1, max_size=5),
    st.lists(URLS, min_size=0, max_size=2),
    st.booleans(),
    st.none() | ADDRESSES,
)
@example(
    FETCH,
    [
        _resource_test("some", _set(["10.0.0.0/8"], ["a.test"])),
        _resource_test("some", _set(["10.0.0.0/8"], [])),
    ],
    ["https://a.test/"],
    True,
    [],
)
def test_the_truths_of_a_call_satisfy_what_is_required(
    spec: Any, tests: list[Any], urls: list[str], complete: bool, found: list[str] | None
) -> None:
    declared = DeclaredResources(spec.resources, complete=complete, unseen=False)
    first = "".join(urls[:1]) or "a.test"
    given_input = {"p": tuple(urls) if spec is MANY else first}
    if spec is SCRIPT:
        given_input = {"p": f"curl {first}"}
    resolvers = Resolvers() if found is None else Resolvers(host=lambda name: tuple(found))
    facts = Facts(cwd="/w", home="/h", workspace="/w", resolvers=resolvers)
    call = Evaluation(spec, given_input, caller=Caller(), facts=facts, slots=0)
    clauses = Clauses()
    resources = ResourceFacts(clauses, SchemaView(spec.schema), ordinary=clauses.variable())
    for number, test in enumerate(tests):
        scope = Scope(declared, absent_is_false=bool(number % 2))
        truths = resources.truth_of(test, scope)
        truth = compiled(test, scope)(call)
        known = None if isinstance(truth, Indeterminate) else truth
        clauses.require(truths.holds if known is True else -truths.holds)
        clauses.require(truths.fails if known is False else -truths.fails)
    with Search(clauses, steps=2_000) as search:
        assert isinstance(search.solve(), Model)
