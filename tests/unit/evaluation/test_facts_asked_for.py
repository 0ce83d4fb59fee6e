"""Which facts a decision requests, and its result where they are missing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from policy.evaluation import DeclaredResources, Evaluation
from policy.evaluation.fact_readers import fact_reader
from policy.evaluation.truth import Unknown
from policy.model import Caller, Facts, Resolvers
from tests.unit.program.compiling import HERE, ask, program, tools, verdict

NOWHERE = Facts()


@pytest.mark.parametrize(
    ("body", "tool", "input"),
    [
        ("no: deny file_read when reads workspace", "file_read", {"path": "/srv/a"}),
        ('no: deny file_read when reads "docs/**"', "file_read", {"path": "/srv/a"}),
        ('no: deny file_read when reads "~/.ssh/**"', "file_read", {"path": "/srv/a"}),
        ('no: deny file_read when reads "/etc/**"', "file_read", {"path": "a"}),
        ("no: deny t when now within 08:00..18:00", "t", {}),
        ('no: deny t when workspace starts with "/srv"', "t", {}),
    ],
)
def test_what_nobody_said_of_the_world_is_unknown(
    body: str, tool: str, input: dict[str, object]
) -> None:
    decision = ask(program(f"default allow\n{body}"), tool, input, facts=NOWHERE).decision
    assert decision.verdict == "deny"
    assert decision.reasons[0].undecided


def test_links_are_followed_once_a_path_and_decision() -> None:
    asked: list[str] = []

    def follow(path: str) -> str | None:
        asked.append(path)
        return path

    policy = program(
        "default allow\n"
        'a: deny file_read when reads "/etc/**"\n'
        'b: deny file_read when reads ["/opt/**", "/var/**"]\n'
        'c: ask file_read unless reads only "/srv/**"\n'
    )
    facts = replace(HERE, resolvers=Resolvers(path=follow))
    assert verdict(policy, "file_read", {"path": "/srv/x"}, facts=facts) == "allow"
    assert asked.count("/srv/x") == 1
    verdict(policy, "file_read", {"path": "/srv/x"}, facts=facts)
    assert asked.count("/srv/x") == 2


@pytest.mark.parametrize("silent", ["folds", "other_names"])
def test_a_disk_that_does_not_answer_lets_nothing_in(silent: str) -> None:
    def fails(path: str) -> bool:
        raise OSError(path)

    def is_itself(path: str) -> str:
        return path

    policy = program(
        "default ask\n"
        'write: allow file_delete when writes only "/srv/readme.md"\n'
        'no: deny file_delete when writes "/srv/readme.md"\n'
    )
    given = {"path": "/srv/README.MD" if silent == "folds" else "/srv/readme.md"}
    facts = replace(HERE, resolvers=Resolvers(path=is_itself, **{silent: fails}))  # type: ignore[arg-type]
    decision = ask(policy, "file_delete", given, facts=facts).decision
    assert decision.verdict == "deny"
    assert any(reason.undecided for reason in decision.reasons if reason.rule == "no")


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("ls secret.txt", set()),
        ("cat notes.example", set()),
        ("curl a.example", {"a.example"}),
        ("some-tool ftp://b.example/x", {"b.example"}),
        ("curl -s --proxy=c.example https://b.example/x", {"b.example", "c.example"}),
    ],
)
def test_only_what_is_spelled_as_a_host_is_looked_up(command: str, names: set[str]) -> None:
    asked: set[str] = set()

    def look_up(name: str) -> tuple[str, ...]:
        asked.add(name)
        return ("93.184.216.34",)

    facts = replace(HERE, resolvers=Resolvers(host=look_up))
    policy = program("default allow\nno: deny * when connects to [private, loopback]")
    ask(policy, "bash_exec", {"command": command}, facts=facts)
    assert names <= asked
    assert not asked & {"secret.txt", "notes.example", "ls", "cat"}


def test_a_resource_that_stands_in_lists_is_read_wherever_it_stands() -> None:
    policy = program('default allow\nno: deny bulk when reads "/etc/**"')
    for paths in (["/etc/a"], ["/srv/a", "/etc/a"], [["/etc/a"]], [None, "/etc/a"]):
        assert verdict(policy, "bulk", {"paths": paths}) == "deny"
    for harmless in ([], [None], ["/srv/a"]):
        assert verdict(policy, "bulk", {"paths": harmless}) == "allow"


def test_the_lists_of_what_a_call_does_are_unknown_where_something_is_out_of_sight() -> None:
    policy = program('default allow\nno: deny * when "/nowhere" in call.reads')
    assert verdict(policy, "file_read", {"path": "/srv/a"}) == "allow"
    assert verdict(policy, "file_read", {"path": "/nowhere"}) == "deny"
    assert verdict(policy, "pay", {}) == "allow"
    for tool, input in (("mystery", {}), ("bash_exec", {"command": "some-tool x"})):
        decision = ask(policy, tool, input).decision
        assert decision.verdict == "deny"
        assert decision.reasons[0].undecided


def test_rules_that_an_index_finds_apart_see_one_world() -> None:
    asked: list[str] = []

    def look_up(name: str) -> tuple[str, ...]:
        asked.append(name)
        return ("10.0.0.1",) if len(asked) == 1 else ("8.8.8.8",)

    many = "\n".join(f'x{n}: deny pay when input.note == "n{n}"' for n in range(40))
    policy = program(
        f"default allow\n{many}\n"
        'a: deny web_fetch when input.url starts with "http" and connects to "10.0.0.0/8"\n'
        'b: deny web_fetch when input.method == "GET" and connects to "10.0.0.0/8"\n'
        'c: deny web_fetch when connects to "10.0.0.0/8"\n'
        + "\n".join(f'y{n}: deny web_fetch when input.url == "n{n}"' for n in range(40))
    )
    facts = replace(HERE, resolvers=Resolvers(host=look_up))
    given = {"url": "http://a.example/", "method": "GET"}
    decision = ask(policy, "web_fetch", given, facts=facts).decision
    assert asked == ["a.example"]
    assert {"a", "b", "c"} <= {reason.rule for reason in decision.reasons}


@pytest.mark.parametrize("path", [("t", "session"), ("call", "none"), ("session", "rôle"), ("x",)])
def test_a_fact_that_there_is_none_of_leaves_what_asks_for_it_open(path: tuple[str, ...]) -> None:
    """No text can name one; what was kept from before, and spoiled since, might."""
    read = fact_reader(path, DeclaredResources((), complete=True, unseen=False))
    spec = tools().get("file_read")
    assert spec is not None
    call = Evaluation(spec, {"path": "a"}, caller=Caller(), facts=Facts(), slots=0)
    assert isinstance(read(call), Unknown)
