"""Resource tests evaluated as a batch give the same answers as each of them alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy.catalog import Resource, ToolSpec, builtin_catalog
from policy.checks import checked
from policy.evaluation import (
    ABSENT,
    DeclaredResources,
    Evaluation,
    Indeterminate,
    true_or_indeterminate,
)
from policy.evaluation.batched_tests import BatchedTests
from policy.evaluation.resource_tests import compile_resource_test
from policy.generation import shipped_profiles
from policy.model import Caller, Facts, Resolvers, ToolCall
from tests.examples import examples
from tests.laws.situations import Tally

_PROFILES = shipped_profiles()
# Few enough that what one spells is often in what another spells.
_PATTERNS = (
    ["/w/**", "/w/a/**", "/w/a", "/w/a/*", "/w/*/.env", "/links/**", "/links/b", "/**", "/", "/*",
     "~/a/**", "~/**", "a/**", "b", "**/.env", "**/a", "**/a/**", "**", "**/*.pem", "/home/**"]
)  # fmt: skip
_PLACES = (
    ["/w/a/b", "/w/a", "/w/b", "/w/a/.env", "/w/b/.env", "/", "~/a/b", "~/a", "/home/u/k.pem",
     "a/b", "b", "/links/b", "/links/a/b", "../b", "/w/A", "/w/\u00e9", "/home/é/a", "/etc/a", "~"]
)  # fmt: skip
_PATH_ITEMS: st.SearchStrategy[Any] = st.sampled_from(_PATTERNS) | st.sampled_from(
    [checked.WorkspaceItem(), checked.InlineCodeItem()]
)
_PATHS = st.sampled_from(_PLACES)
_NAMES = (
    "a.example b.a.example *.example *.a.example * localhost 10.0.0.0/8 private metadata"
    " https://a.example/v1/** a.example:8080".split()
)
_ENDPOINTS = (
    "https://a.example/v1/x http://b.a.example x.b.a.example localhost http://10.0.0.3/"
    " https://a.example:8080/ https://a.example/v1/%2e%2e/x metadata.google.internal ftp://".split()
)
_SPELLED = (
    ["git *", "git log *", "git log", "ls *", "cat *", "cat /w/*", "sudo ls *", "sudo *", "echo *",
     "* --help", "env A=1 ls", "mytool *", "gsed *", "sed *", "echo * > /w/a", "bash -c *"]
)  # fmt: skip
_SCRIPTS = (
    ["git log -n 3", "git log", "git log --output=/w/a", "git push --force", "git $X", "ls -la a",
     "cat /w/a", "cat /w/a /etc/b", "cat $X", "sudo ls a", "mytool x --y", "ls | cat", "A=1 ls",
     "echo hi > /w/a", "echo hi > /w/b", "echo hi", "cd /w && cat a", "bash -c 'ls'", "$X",
     "ls $(id)", "unknown 'git log'", "sed -i s/a/b/ f", "sed -n 3p f", "./ls", "ls --help",
     "env A=1 ls", "find . -name a -exec cat {} +", "", "é", "env", "xargs ls", "git log; ls",
     "python3 -c 1", "cat *.pem", "git", "unknown /w/a", "cat < /w/a"]
)  # fmt: skip
_HOST_ITEMS, _URLS = st.sampled_from(_NAMES), st.sampled_from(_ENDPOINTS)
_COMMAND_ITEMS, _COMMANDS = st.sampled_from(_SPELLED), st.sampled_from(_SCRIPTS)
_KINDS: dict[str, tuple[str, st.SearchStrategy[Any]]] = {
    "reads": ("paths", _PATH_ITEMS),
    "writes": ("paths", _PATH_ITEMS),
    "connects": ("hosts", _HOST_ITEMS),
    "runs": ("commands", _COMMAND_ITEMS),
}


def _sets(kind: Any, items: st.SearchStrategy[Any]) -> st.SearchStrategy[checked.ValueSet]:
    plain = st.builds(
        checked.ValueSet,
        kind=st.just(kind),
        included=st.lists(items, min_size=1, max_size=3).map(tuple) | st.just(()),
        excluded=st.lists(items, max_size=1).map(tuple),
    )
    return plain | st.builds(
        checked.ValueSet,
        kind=st.just(kind),
        included=st.lists(items | plain, min_size=1, max_size=2).map(tuple),
        excluded=st.lists(items | plain, max_size=1).map(tuple),
    )


def _tests(verb: str, forms: list[str]) -> st.SearchStrategy[checked.ResourceTest]:
    kind, items = _KINDS[verb]
    return st.builds(
        checked.ResourceTest,
        verb=st.just(verb),
        form=st.sampled_from(forms),
        operand=_sets(kind, items) | st.none() if "outside" in forms else _sets(kind, items),
        permits=st.booleans(),
        text=st.just("a test"),
    )


_MANY_TESTS = st.tuples(
    st.sampled_from(list(_KINDS)),
    st.sampled_from([["some", "any"], ["only"], ["some", "only"], ["some", "only", "outside"]]),
).flatmap(lambda chosen: st.lists(_tests(*chosen), min_size=1, max_size=6))
_FIELDS = (
    Resource(verb="reads", steps=("read",)),
    Resource(verb="writes", steps=("write", "*")),
    Resource(verb="writes", steps=("tree",), tree=True),
    Resource(verb="connects", steps=("url", "*")),
    Resource(verb="runs", steps=("command",)),
)
_ODD = st.sampled_from([None, 1, "a\\b", "~root/x", "\u200b"])
_INPUTS = st.fixed_dictionaries(
    {},
    optional={
        "read": _PATHS | _ODD,
        "write": st.lists(_PATHS, max_size=2) | _PATHS,
        "tree": _PATHS,
        "url": st.lists(_URLS, max_size=2) | _URLS,
        "command": _COMMANDS | _ODD,
        "note": st.sampled_from(["/w/a", "git log", "a.example", "words"]),
    },
)
_LINKS = {"/links": "/w", "/home/u/a": "/etc", "/etc": None}


def _led(path: str) -> str | None:
    for link, target in _LINKS.items():
        if path == link or path.startswith(link + "/"):
            return None if target is None else target + path[len(link) :]
    return path


_FACTS = st.builds(
    lambda home, workspace, path, folds, host: Facts(
        cwd="/w",
        home=home,
        workspace=workspace,
        resolvers=Resolvers(path=path, folds=folds, host=host),
    ),
    st.sampled_from(["/home/u", "/home", None]),
    st.sampled_from(["/w", "/links", None]),
    st.sampled_from([None, None, _led, lambda path: path]),
    st.sampled_from([None, lambda path: False, lambda path: path.startswith("/w")]),
    st.sampled_from([None, {}.get, {"a.example": ("10.0.0.1",)}.get]),
)


def test_batched_tests_answer_as_each_alone() -> None:
    tally = Tally()

    @settings(max_examples=examples(300))
    @given(
        tests=_MANY_TESTS,
        resources=st.sets(st.sampled_from(_FIELDS), min_size=1),
        flags=st.tuples(st.sampled_from([True, True, False]), st.booleans(), st.booleans()),
        input=_INPUTS,
        facts=_FACTS,
    )
    def law(
        tests: list[checked.ResourceTest],
        resources: set[Resource],
        flags: tuple[bool, bool, bool],
        input: dict[str, Any],
        facts: Facts,
    ) -> None:
        complete, unseen, covering = flags
        given = tuple(sorted(resources, key=lambda one: one.steps))
        quick, slow = _declared(given, complete=complete, unseen=unseen)
        together, numbers = _numbered(tests, quick, covering=covering)
        call = ToolCall(tool="tool", input=input)
        answers = together.ask(_evaluation(call, facts))
        alone = _evaluation(call, facts)
        for test, asked in zip(tests, numbers, strict=True):
            truth = compile_resource_test(test, slow, covering=covering)(alone)
            _agrees(answers, asked, truth, test)
            tally.case(f"{test.verb}, {type(answers).__name__}, {str(truth)[:9]}")

    law()
    for verb in _KINDS:
        tally.shows(f"{verb}, set, True", share=0.01)
        tally.shows(f"{verb}, set, False", share=0.01)


def _declared(
    resources: tuple[Resource, ...], *, complete: bool = True, unseen: bool = False
) -> tuple[DeclaredResources, DeclaredResources]:
    """Return declarations by which things are looked up, and the same without."""
    quick, slow = (
        DeclaredResources(
            resources, complete=complete, unseen=unseen, profiles=_PROFILES, prepared=prepared
        )
        for prepared in (True, False)
    )
    return quick, slow


def _numbered(
    tests: list[checked.ResourceTest], declared: DeclaredResources, *, covering: bool
) -> tuple[BatchedTests, list[tuple[int | None, int | None]]]:
    """Return the tests, and of each its numbers where what is absent is false, and open."""
    together = BatchedTests(tests[0].verb, declared)
    numbers = [
        (
            together.number(test, covering=covering, absent_is_false=True),
            together.number(test, covering=covering, absent_is_false=False),
        )
        for test in tests
    ]
    return together, numbers


def _agrees(answers: Any, numbers: tuple[int | None, int | None], truth: Any, test: object) -> None:
    for number, absent in zip(numbers, (False, Indeterminate("")), strict=True):
        assert number is not None
        settled = absent if truth is ABSENT else truth
        assert (number in answers) is (settled is True), test
        assert (~number in answers) is isinstance(settled, Indeterminate), test


def _all_agree(
    tests: list[checked.ResourceTest],
    inputs: list[Any],
    facts: Facts,
    *,
    covering: bool,
    note: str | None = None,
    resource: Resource | None = None,
) -> None:
    """Hold every test to its closure, on every input of the one field of their verb.

    With a `note` the tool is not known to do no more than what its fields declare.
    """
    verb = tests[0].verb
    resource = resource or Resource(verb=verb, steps=("it",))
    quick, slow = _declared((resource,), complete=note is None)
    together, numbers = _numbered(tests, quick, covering=covering)
    closures = [compile_resource_test(test, slow, covering=covering) for test in tests]
    for given_ in inputs:
        call = ToolCall(tool="tool", input={"it": given_, "note": note})
        answers, alone = together.ask(_evaluation(call, facts)), _evaluation(call, facts)
        for test, asked, closure in zip(tests, numbers, closures, strict=True):
            _agrees(answers, asked, closure(alone), (test, given_))


def _one(verb: Any, form: Any, *items: Any, outs: tuple[Any, ...] = ()) -> checked.ResourceTest:
    kind: Any = _KINDS[verb][0]
    values = checked.ValueSet(kind=kind, included=items, excluded=outs)
    return checked.ResourceTest(verb=verb, form=form, operand=values, permits=False, text="a test")


@pytest.mark.parametrize("form", ["some", "only", "outside"])
@pytest.mark.parametrize("resolve", [None, lambda path: path, _led])
def test_every_path_is_found_in_every_set(form: str, resolve: Any) -> None:
    seen = Resolvers(path=resolve, is_folder=lambda path: False)
    facts = Facts(cwd="/w", home="/home/u", workspace="/w", resolvers=seen)
    tests = [_one("writes", form, item) for item in _PATTERNS]
    tests += [_one("writes", form, "/w/**", outs=(item,)) for item in _PATTERNS]
    _all_agree(tests, [*_PLACES, ["/w/a", "/w/b"], []], facts, covering=False)
    # One set alone: no other may keep it from being looked up.
    for test in tests[::3]:
        _all_agree([test], [*_PLACES], facts, covering=False)


@pytest.mark.parametrize("form", ["some", "only", "outside"])
def test_a_path_with_all_below_it_is_found_in_every_set(form: str) -> None:
    facts = Facts(cwd="/w", home="/home/u", workspace="/w")
    tree = Resource(verb="writes", steps=("it",), tree=True)
    tests = [_one("writes", form, item) for item in _PATTERNS]
    tests += [_one("writes", form, "/w/**", outs=(item,)) for item in _PATTERNS]
    _all_agree(tests, [*_PLACES, ["/w/a", "/w/b"]], facts, covering=False, resource=tree)


def test_a_batch_uses_the_working_directory_of_its_own_call() -> None:
    items = (checked.WorkspaceItem(), "~/**", "a/**", "/w/a/**")
    tests = [_one("writes", form, item) for form in ("some", "only") for item in items]
    quick, slow = _declared((Resource(verb="writes", steps=("it",)),))
    together, numbers = _numbered(tests, quick, covering=False)
    closures = [compile_resource_test(test, slow, covering=False) for test in tests]
    homes, workspaces = ("/home/u", "/w", None), ("/w", "/srv", None)
    # From one call to the next one folder stays the same, the other does not.
    places = [(home, here) for home in homes for here in workspaces]
    places += [(home, here) for here in workspaces for home in homes]
    for home, workspace in places:
        facts = Facts(cwd="/w", home=home, workspace=workspace)
        for path in ("/w/a/b", "/srv/a", "/home/u/a", "~/a"):
            call = ToolCall(tool="tool", input={"it": path})
            answers, alone = together.ask(_evaluation(call, facts)), _evaluation(call, facts)
            for test, asked, closure in zip(tests, numbers, closures, strict=True):
                _agrees(answers, asked, closure(alone), (test, path, facts))


@pytest.mark.parametrize("form", ["some", "only", "outside"])
@pytest.mark.parametrize("resolve", [None, {"a.example": ("10.0.0.1",)}.get])
def test_every_endpoint_is_found_in_every_set(form: str, resolve: Any) -> None:
    facts = Facts(resolvers=Resolvers(host=resolve))
    plain = [name for name in _NAMES if "example" in name and "/" not in name and ":" not in name]
    for names in (_NAMES, plain):
        tests = [_one("connects", form, name) for name in names]
        tests += [_one("connects", form, "*.example", outs=(name,)) for name in names]
        _all_agree(tests, [*_ENDPOINTS, ["a.example", "b.a.example"], []], facts, covering=False)


@pytest.mark.parametrize("form", ["some", "only", "outside"])
@pytest.mark.parametrize("covering", [False, True])
def test_every_command_is_found_in_every_set(form: str, covering: bool) -> None:
    plain = [item for item in _SPELLED if not item.startswith(("sudo", "env", "bash"))]
    for items in (_SPELLED, plain):
        tests = [_one("runs", form, item) for item in items]
        tests += [_one("runs", form, item, "git push *") for item in items]
        _all_agree(tests, [*_SCRIPTS], Facts(cwd="/w"), covering=covering)


@pytest.mark.parametrize("form", ["some", "only", "outside"])
@pytest.mark.parametrize(
    ("verb", "things", "notes"),
    [
        ("writes", ["/w/a/b", "/w/b", ["/w/a", "/etc/a"], "/links/b", None], ["/w/a/b", "/etc/a"]),
        (
            "connects",
            ["b.a.example", ["a.example", "c.org"], None],
            ["https://a.example/", "c.org"],
        ),
        ("runs", ["git log", "ls -la a", None], ["git log", "ls"]),
    ],
)
def test_an_undeclared_string_may_be_in_every_set(
    form: str, verb: str, things: list[Any], notes: list[str]
) -> None:
    facts = Facts(cwd="/w", home="/home/u", workspace="/w")
    items = {"writes": _PATTERNS, "connects": _NAMES, "runs": _SPELLED}[verb]
    # One set alone too: no other may keep it from being looked up.
    for tests in ([_one(verb, form, item) for item in items], [_one(verb, form, items[1])]):
        for note in notes:
            _all_agree(tests, things, facts, covering=False, note=note)


def test_rules_are_reached_by_true_and_by_indeterminate_tests() -> None:
    tests = dict.fromkeys((1, 2, 3))
    assert sorted(true_or_indeterminate({0, 1, ~2, 4, ~5}, tests)) == [1, 2]
    # A path that links lead elsewhere is held against each set by itself.
    quick, _ = _declared((Resource(verb="writes", steps=("it",)),))
    together, _ = _numbered(
        [_one("writes", "some", item) for item in ("/w/**", "/links/b", "/srv/**")],
        quick,
        covering=False,
    )
    facts = Facts(cwd="/w", workspace="/w", resolvers=Resolvers(path=_led))
    call = ToolCall(tool="tool", input={"it": "/links/b"})
    answers = together.ask(_evaluation(call, facts))
    assert not isinstance(answers, set | frozenset)
    # The first two are numbered twice: as what is absent is false, and as it is open.
    assert true_or_indeterminate(answers, dict.fromkeys(range(1, 7))) == [1, 2, 3, 4]
    assert not any(number in answers for number in (1, 2))


_SPEC = ToolSpec(
    name="tool", origin=builtin_catalog().specs[0].origin, schema={"type": "object"}, complete=True
)


def _evaluation(call: ToolCall, facts: Facts) -> Evaluation:
    return Evaluation(_SPEC, call.input, caller=Caller(), facts=facts, slots=0)
