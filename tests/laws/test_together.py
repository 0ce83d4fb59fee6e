"""Laws of tests of resources that are asked together: each answers as it does by itself."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from policy.call import Caller, ToolCall
from policy.catalog import Resource, ToolSpec, builtin_catalog
from policy.checks import checked
from policy.facts import Facts, Resolvers
from policy.program.evaluation import DeclaredResources, Evaluation
from policy.program.resource_tests import compile_resource_test
from policy.program.together import Together
from policy.program.truth import ABSENT, Undecided
from policy.reload import shipped_profiles
from tests.laws.situations import Tally

_PROFILES = shipped_profiles()
_NAMES = st.sampled_from(["a", "b", "A", ".env", "k.pem", "etc", "é", "home", "w"])
_SEGMENTS = _NAMES | st.sampled_from(["*", "**", "a*", "*.pem", ".e*", "?"])
_PATH_ITEMS: st.SearchStrategy[Any] = st.builds(
    lambda start, parts, end: start + "/".join(parts) + end,
    st.sampled_from(["/", "", "~/", "**/", "/home/", "/w/"]),
    st.lists(_SEGMENTS, min_size=1, max_size=3),
    st.sampled_from(["", "/**", "/**", "/*"]),
) | st.just(checked.WorkspaceItem())
_PATHS = st.builds(
    lambda start, parts: start + "/".join(parts),
    st.sampled_from(["/", "", "~/", "/home/u/", "/w/", "/links/", "../"]),
    st.lists(_NAMES, max_size=4),
)
_HOST_ITEMS = st.sampled_from(
    "a.example b.a.example *.example *.a.example * localhost 10.0.0.0/8 private metadata"
    " https://a.example/v1/** a.example:8080".split()
)
_URLS = st.sampled_from(
    "https://a.example/v1/x http://b.a.example x.b.a.example localhost http://10.0.0.3/"
    " https://a.example:8080/ https://a.example/v1/%2e%2e/x metadata.google.internal ftp://".split()
)
_COMMAND_ITEMS = st.sampled_from(
    ["git *", "git log *", "ls *", "cat /w/*", "sudo id", "* --help", "env FOO=1 ls", "mytool *",
     "git push", "bash -c *", "gsed *", "sed *"]
)  # fmt: skip
_COMMANDS = st.sampled_from(
    ["git log -n 3", "git push --force", "ls -la a", "cat /w/a /etc/b", "sudo id", "mytool x --y",
     "ls | cat", "A=1 ls", "cd /w && cat a", "bash -c 'ls'", "echo hi > /w/a", "$X", "ls $(id)",
     "unknown 'git log'", "sed -i s/a/b/ f", "./ls", "find . -name a -exec cat {} +", "", "é",
     "env", "xargs ls", "git log; ls", "python3 -c 1", "cat *.pem", "git"]
)  # fmt: skip
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
        included=st.lists(items, max_size=3).map(tuple),
        excluded=st.lists(items, max_size=1).map(tuple),
    )
    return plain | st.builds(
        checked.ValueSet,
        kind=st.just(kind),
        included=st.lists(items | plain, min_size=1, max_size=2).map(tuple),
        excluded=st.lists(items | plain, max_size=1).map(tuple),
    )


def _tests(verb: str) -> st.SearchStrategy[checked.ResourceTest]:
    kind, items = _KINDS[verb]
    return st.builds(
        checked.ResourceTest,
        verb=st.just(verb),
        form=st.sampled_from(["some", "any", "only", "only", "outside"]),
        operand=_sets(kind, items) | st.none(),
        permits=st.booleans(),
        text=st.just("a test"),
    )


_MANY_TESTS = st.sampled_from(list(_KINDS)).flatmap(
    lambda verb: st.lists(_tests(verb), min_size=1, max_size=6)
)
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
_LINKS = {"/links": "/w", "/w/a": "/etc", "/home": "/Home", "/etc": None}


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


def test_tests_asked_together_answer_as_each_does_by_itself() -> None:
    tally = Tally()

    @settings(max_examples=600)
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
        quick, slow = (
            DeclaredResources(
                given, complete=complete, unseen=unseen, profiles=_PROFILES, prepared=prepared
            )
            for prepared in (True, False)
        )
        call = ToolCall(tool="tool", input=input)
        together = Together(tests[0].verb, quick)
        numbers = [
            together.number(test, covering=covering, absent_is_false=absent_is_false)
            for test in tests
            for absent_is_false in (True, False)
        ]
        answers = together.ask(_evaluation(call, facts))
        alone = _evaluation(call, facts)
        for place, test in enumerate(tests):
            truth = compile_resource_test(test, slow, covering=covering)(alone)
            for number, absent in zip(numbers[2 * place :], (False, Undecided("")), strict=False):
                assert number is not None
                settled = absent if truth is ABSENT else truth
                assert (number in answers) is (settled is True), test
                assert (~number in answers) is isinstance(settled, Undecided), test
            tally.case(f"{test.verb}, {type(answers).__name__}, {str(truth)[:9]}")

    law()
    for verb in _KINDS:
        tally.shows(f"{verb}, set, True", share=0.01)
        tally.shows(f"{verb}, set, False", share=0.01)


_SPEC = ToolSpec(
    name="tool", origin=builtin_catalog().specs[0].origin, schema={"type": "object"}, complete=True
)


def _evaluation(call: ToolCall, facts: Facts) -> Evaluation:
    return Evaluation(_SPEC, call.input, caller=Caller(), facts=facts, slots=0)
