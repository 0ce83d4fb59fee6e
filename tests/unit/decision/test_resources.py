"""The origin of each resource of a call, as people see it."""

from __future__ import annotations

from dataclasses import replace

from policy.decision import ResourceUse, explain
from policy.model import Caller, Resolvers
from tests.unit.program.compiling import ANN, HERE, ask, program

_LINKS = {"/workspace/notes": "/root/.ssh"}


def follow(path: str) -> str:
    for link, target in _LINKS.items():
        if path == link or path.startswith(f"{link}/"):
            return target + path[len(link) :]
    return path


def uses(tool: str, input: dict[str, object], caller: Caller = ANN) -> list[ResourceUse]:
    facts = replace(HERE, resolvers=Resolvers(path=follow, is_folder=lambda _: False))
    asked = program("default allow")
    decision = ask(asked, tool, input, caller=caller, facts=facts).decision
    return list(explain(asked, decision, caller=caller, facts=facts).resources)


def test_a_file_of_a_command_says_which_command_reads_it_and_through_which_link() -> None:
    (read,) = [
        use
        for use in uses("bash_exec", {"command": "true; pwd; cat notes/id_rsa"})
        if use.verb == "reads"
    ]
    assert read == ResourceUse(
        verb="reads",
        resource="/workspace/notes/id_rsa",
        program="`cat`",
        place="third command",
        spelled="notes/id_rsa",
        leads_to="/root/.ssh/id_rsa",
        links=("/workspace/notes",),
    )


def test_what_stands_inside_a_command_says_in_which() -> None:
    (write,) = [
        use
        for use in uses("bash_exec", {"command": "sudo bash -c 'echo x > /etc/motd'"})
        if use.verb == "writes"
    ]
    assert write.resource == "/etc/motd"
    assert write.program == "a redirection of `echo`"
    assert write.place == "first command inside `bash` inside `sudo`"


def test_an_argument_says_its_place_in_the_input() -> None:
    (read, write) = uses("copy", {"from": "a", "to": "/tmp/../b"})
    assert (read.argument, read.spelled, read.resource) == ("input.from", "a", "/workspace/a")
    assert (write.argument, write.spelled, write.resource) == ("input.to", "/tmp/../b", "/b")


def test_what_cannot_be_read_says_why() -> None:
    unknown = [use for use in uses("bash_exec", {"command": "cat $F"}) if use.verb == "reads"]
    why = "a word of `cat $F` cannot be known before the shell runs it"
    assert [use.unknown for use in unknown] == [why]
