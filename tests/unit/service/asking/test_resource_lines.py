"""What an approver is shown of a call's effects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import policy
from policy.catalog import Resource
from policy.decision import Decision
from policy.model import Caller, Facts, Resolvers, ToolCall, Verdict
from policy.service import Guards, Judgement
from policy.service.asking.resource_lines import resource_lines, shown_lines
from tests.fakes import spec_of

FACTS = Facts(
    cwd="/work",
    home="/home/ada",
    workspace="/work",
    resolvers=Resolvers(path=lambda path: path.replace("/work/link", "/etc")),
)


def lines(resource: Resource, input: dict[str, Any], **spec: Any) -> tuple[str, ...]:
    call = ToolCall(tool="echo", input=input)
    judged = Judgement(
        decision=Decision(verdict=Verdict.ASK, call=call, asked=call, reasons=()),
        facts=FACTS,
        guards=Guards(),
        judge=None,
        spec=spec_of("echo", resources=(resource,), **spec),
    )
    return resource_lines(judged, Caller())


def test_paths_are_shown_where_they_lead() -> None:
    path = Resource(verb="writes", steps=("path",), tree=False)
    assert lines(path, {"path": "a/../b"}) == ("writes /work/b",)
    assert lines(path, {"path": "link/x"}) == ("writes /etc/x (through /work/link/x)",)
    assert lines(path, {}) == ()
    assert "cannot be read" in lines(path, {"path": "$HOME/x"})[0]


def test_trees_elements_and_odd_values_are_shown_as_what_they_are() -> None:
    tree = Resource(verb="reads", steps=("path",), tree_field="recursive")
    assert lines(tree, {"path": "a", "recursive": True}) == ("reads /work/a and all below",)
    each = Resource(verb="sends", steps=("to", "*"))
    plain, hidden = shown_lines(lines(each, {"to": ["a@b.example", "c\u202e"]}))
    assert plain == "sends to a@b.example"
    assert "\u202e" not in hidden
    odd = lines(Resource(verb="writes", steps=("n",)), {"n": 5})
    assert odd == ("writes (not known) (cannot be read: not a string)",)


def test_hosts_are_shown_as_rules_read_them() -> None:
    url = Resource(verb="connects", steps=("url",))
    assert lines(url, {"url": "HTTP://Example.COM./a"}) == ("connects to http://example.com:80/a",)
    assert lines(url, {"url": "https://[::1]/"}) == ("connects to https://[::1]:443/",)
    assert "cannot be read" in lines(url, {"url": "http://a\\@b"})[0]


def test_what_a_tool_does_not_tell_is_said() -> None:
    path = Resource(verb="reads", steps=("path",), tree=False)
    told = lines(path, {"path": "a"}, complete=False, unseen=True)
    assert told[0] == "reads /work/a"
    assert "not known from its arguments" in told[1]
    assert "may do more" in told[2]


def test_many_are_cut_for_people_only_and_the_cut_is_counted() -> None:
    each = Resource(verb="sends", steps=("to", "*"))
    every = lines(each, {"to": [f"a{n}" for n in range(60)]})
    shown = shown_lines(every)
    assert (len(every), len(shown)) == (60, 51)
    assert shown[-1] == "and 10 more"
    assert len(shown_lines(("reads /" + "a" * 9_000,))[0]) < 600


def of_command(command: str, tmp_path: Path) -> tuple[str, ...]:
    (tmp_path / "global.policy").write_text("policy for every agent\ndefault ask\n")
    generation = policy.load(tmp_path)
    caller, facts = Caller(), Facts(cwd="/work", home="/home/ada", workspace="/work")
    answer = generation.answer("bash_exec", {"command": command}, caller=caller, facts=facts)
    assert answer.admitted is not None
    judged = Judgement(
        decision=answer.decision,
        facts=facts,
        guards=Guards(),
        judge=generation,
        spec=answer.admitted.spec,
    )
    return resource_lines(judged, caller)


def test_commands_are_shown_with_what_they_run_read_write_and_connect_to(tmp_path: Path) -> None:
    told = of_command("cd sub && cat a.txt > ../b.txt && curl -o c http://X.example/d", tmp_path)
    assert "runs cat a.txt > ../b.txt" in told
    assert "reads /work/sub/a.txt, by cat" in told
    assert "writes /work/b.txt, by cat" in told
    assert "connects to http://x.example:80/d, by curl" in told
    assert "writes /work/sub/c, by curl" in told


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("bash -c 'rm -rf x'", "runs rm -rf x"),
        ("frobnicate /etc/passwd", "may do anything with its arguments: frobnicate /etc/passwd"),
        ("cat $X", "cannot be read"),
        ("if", "cannot be read"),
    ],
)
def test_what_is_hidden_in_a_command_is_said_too(command: str, said: str, tmp_path: Path) -> None:
    assert any(said in line for line in of_command(command, tmp_path))


def test_the_same_call_is_told_the_same_way(tmp_path: Path) -> None:
    first, again = (of_command("cat a b; rm c", tmp_path) for _ in range(2))
    assert first == again
