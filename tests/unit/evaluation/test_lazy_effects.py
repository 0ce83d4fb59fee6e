"""A decision computes only the effects that its rules read, each at most once."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from policy.model import Facts, Resolvers
from policy.programs import Profiles, analyse_script
from tests.unit.program.compiling import HERE, ask, program, verdict


def _rules(letter: str) -> str:
    """Return ten rules on what a command reads and writes."""
    verbs = ["reads", "writes"] * 5
    return "".join(
        f'{letter}{number}: deny bash_exec when {verb} "/srv/{number}/**"\n'
        for number, verb in enumerate(verbs)
    )


class World:
    """Resolvers that count what they are asked."""

    def __init__(self) -> None:
        self.paths: Counter[str] = Counter()
        self.hosts: Counter[str] = Counter()

    def facts(self) -> Facts:
        return replace(HERE, resolvers=Resolvers(path=self._path, host=self._host))

    def _path(self, path: str) -> str:
        self.paths[path] += 1
        return path

    def _host(self, name: str) -> tuple[str, ...]:
        self.hosts[name] += 1
        return ("192.0.2.1",)


def test_a_rule_on_what_runs_follows_no_links_and_asks_for_no_addresses() -> None:
    world = World()
    asked = program('default allow\nno: deny bash_exec when runs "git push *"\n')
    command = {"command": "cat a/b > c; curl https://a.example/ -o d"}
    assert verdict(asked, "bash_exec", command, facts=world.facts()) == "allow"
    assert not world.paths and not world.hosts


def test_a_rule_on_hosts_follows_no_links() -> None:
    world = World()
    asked = program('default allow\nno: deny bash_exec when connects to "private"\n')
    command = {"command": "curl https://a.example/ -o d"}
    assert verdict(asked, "bash_exec", command, facts=world.facts()) == "allow"
    assert world.hosts == {"a.example": 1} and not world.paths


def test_ten_rules_follow_each_path_once() -> None:
    world = World()
    asked = program("default allow\n" + _rules("r"))
    command = {"command": "cat a/b c a/b > d"}
    assert verdict(asked, "bash_exec", command, facts=world.facts()) == "allow"
    read = ("/workspace/a/b", "/workspace/c", "/workspace/d")
    assert {path: world.paths[path] for path in read} == dict.fromkeys(read, 1)
    assert set(world.paths.values()) == {1}


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Return a count of the scripts that are taken apart."""
    found: Counter[str] = Counter()

    def counting(text: str, profiles: Profiles) -> object:
        found[text] += 1
        return analyse_script(text, profiles)

    monkeypatch.setattr("policy.evaluation.effect_reader.analyse_script", counting)
    return found


def test_layers_that_declare_the_same_take_a_script_apart_once(scripts: Counter[str]) -> None:
    files = {
        "global.policy": f"policy for every agent\ndefault allow\n{_rules('g')}",
        "agents/ann.policy": f'policy for agent "ann"\n{_rules("a")}',
    }
    decision = ask(program(files), "bash_exec", {"command": "cat a/b > c"}).decision
    assert decision.verdict == "allow"
    assert scripts == {"cat a/b > c": 1}


def test_a_script_that_no_rule_asks_about_is_not_taken_apart(scripts: Counter[str]) -> None:
    asked = program('default allow\nno: deny bash_exec when session.role == "guest"\n')
    ask(asked, "bash_exec", {"command": "cat a"})
    assert not scripts
