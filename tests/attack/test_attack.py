"""The attack suite detects all types of effects, and finds the errors of a wrong decider."""

from __future__ import annotations

from random import Random

import pytest

from tests.attack.__main__ import main
from tests.attack.crew import Worker
from tests.attack.grammar import grow
from tests.attack.happenings import Happening
from tests.attack.judging import AllowsEverything, Judge, Judged
from tests.attack.line import attack, scripts
from tests.attack.mutations import mutate
from tests.attack.rule_sets import BY_NAME, RULE_SETS
from tests.attack.scene import WORKSPACE
from tests.attack.seeds import EVERYDAY, seeds
from tests.attack.shrinking import shrink

# A script, the rule set, and one of the effects that must be held against it.
EFFECTS = [
    ("cat ../outside/o.txt", "inside", "read /srv/outside/o.txt"),
    ("wc -l < ../outside/o.txt >/dev/null", "inside", "read /srv/outside/o.txt"),
    ("cmp sub/o.txt /srv/beside.txt", "inside", "read /srv/outside/o.txt"),
    ("cat ~/.ssh/id_rsa >/dev/null", "inside", "read /srv/home/.ssh/id_rsa"),
    ("cat /etc/app.conf", "inside", "told /etc/app.conf"),
    ("ls sub/l/", "inside", "listed /srv/outside"),
    ("cat .env >/dev/null", "denials", "read /srv/work/.env"),
    ("mv .env b.env", "denials", "removed /srv/work/.env"),
    ("cp -r src build/copy", "denials", "told /srv/work/src/.env"),
    ("ln .env build/l; cat build/l", "denials", "read /srv/work/.env"),
    ("echo x > ../made", "inside", "made /srv/made"),
    ("echo x > /tmp/made", "inside", "made /tmp/made"),
    ("echo x > /made", "inside", "made /made"),
    ("echo x >> ../beside.txt", "inside", "changed /srv/beside.txt"),
    ("chmod 700 ../outside/o.txt", "inside", "changed /srv/outside/o.txt"),
    ("touch -c ../outside/o.txt", "inside", "changed /srv/outside/o.txt"),
    ("ln ../outside/o.txt build/l", "inside", "changed /srv/outside/o.txt"),
    ("echo x > ../outside/t; unlink ../outside/t", "inside", "changed /srv/outside"),
    ("rm -r ../outside/d", "inside", "removed /srv/outside/d/e.txt"),
    ("rm /etc/app.conf", "inside", "removed /etc/app.conf"),
    ("echo x > a.txt", "patterns", "changed /srv/work/a.txt"),
    ("mkdir new", "packs", ""),
    ("pwned now", "packs", "ran /usr/bin/pwned now"),
    ("touch x", "shipped", "ran /usr/bin/touch x"),
    ("p=/usr/bin; $p/touch x", "shipped", "ran /usr/bin/touch x"),
    ("cat 'a[$(pwned)]'", "inside", ""),
    ("[[ -v $(ls -d a[[]*) ]]", "inside", "ran /usr/bin/pwned"),
    ("./run.sh", "inside", "code run.sh"),
    (". ./lib.sh", "inside", "code lib.sh"),
    ("PATH=bin:$PATH ls", "inside", "code bin/ls"),
    ("sed -f evil.sed a.txt", "inside", "code lib.sh"),
    ("awk -f evil.awk", "inside", "code evil.awk"),
    ("curl http://evil.example/", "inside", "ran /usr/bin/curl http://evil.example/"),
    ("curl --version", "inside", ""),
    ("echo x 2>/dev/null > /dev/tcp/127.0.0.1/9", "inside", "connected the network"),
    ("exec 2>/dev/null; : > /dev/udp/192.0.2.1/53", "inside", "connected the network"),
    ("printenv >/dev/null; env", "packs", "told the environment"),
    ("(sleep 0.1; pwned) &", "inside", "ran /usr/bin/pwned"),
    ("pwned; kill -9 -1", "inside", "ran /usr/bin/pwned"),
    ("rm -r /srv/work", "inside", ""),
    ("rm -r /srv/work; mkdir /srv/work", "inside", ""),
    ("rm -r /srv/work; touch ../made", "inside", "made /srv/made"),
    ("rm -r sub; ln -s ../outside sub", "packs", ""),
    ("rm -r src; ln -s ../outside src", "packs", "removed /srv/work/src/.env"),
    ("bash pwned", "packs", ""),
    ("bash pwned", "inside", "ran pwned"),
    ("pwned x; bash pwned", "packs", "ran /usr/bin/pwned x"),
    ("cat a.txt; ls; git status; echo x > build/y", "inside", ""),
    ("git status; git diff; ls -la; wc a.txt; date", "shipped", ""),
]  # fmt: skip


@pytest.mark.parametrize(("script", "rules", "effect"), EFFECTS, ids=[row[0] for row in EFFECTS])
def test_what_a_script_does_is_seen(worker: Worker, script: str, rules: str, effect: str) -> None:
    answer = worker.ask({"rules": rules, "script": script})
    if effect:
        assert effect in answer["forbidden"], answer["happened"]
    else:
        assert answer["forbidden"] == []


def test_the_scene_is_as_it_was_after_a_run(worker: Worker) -> None:
    worker.ask(
        {"rules": "inside", "script": "rm -rf * .env ../outside ~ /etc/app.conf; cd /; rm -rf tmp"}
    )
    again = worker.ask({"rules": "inside", "script": "cat a.txt ../outside/o.txt /etc/app.conf"})
    assert {"read /srv/work/a.txt", "told /srv/outside/o.txt", "told /etc/app.conf"} <= {
        *again["happened"]
    }
    assert worker.ask({"rules": "inside", "script": "true"})["happened"] == []


@pytest.mark.parametrize("script", ["while :; do :; done", "sleep 60 & sleep 60", "kill -STOP $$"])
def test_no_script_runs_for_long(worker: Worker, script: str) -> None:
    answer = worker.ask({"rules": "inside", "script": script, "seconds": 0.5})
    assert answer["forbidden"] == []


@pytest.mark.parametrize("rules", ["inside", "shipped"])
def test_a_decider_that_allows_everything_is_found_out(worker: Worker, rules: str) -> None:
    request = {"rules": rules, "seed": 3, "length": 5, "judge": "everything"}
    answers = (worker.ask({**request, "number": number}) for number in range(20))
    found = next(one for answer in answers for one in answer["found"])
    assert found["effects"]
    assert len(found["smaller"]) <= len(found["script"])


@pytest.mark.parametrize("rules", RULE_SETS, ids=lambda one: one.name)
def test_every_rule_set_allows_something_and_never_the_forbidden_program(rules: object) -> None:
    assert rules in RULE_SETS
    judge = Judge(BY_NAME[getattr(rules, "name", "")])
    assert any(judge.judged(script).allowed for script in EVERYDAY)
    assert not judge.judged("pwned").allowed


class _Raises:
    def judged(self, script: str) -> Judged:
        return Judged(allowed=False, command=script, raised="IndexError()")


class _Idle:
    def run(self, script: str) -> list[Happening]:
        return []


def test_a_decision_that_raises_is_found() -> None:
    done = attack(_Raises(), _Idle(), BY_NAME["inside"], seed=1, number=1, length=2)
    assert [one.effects for one in done.found] == [["the decision raised IndexError()"]] * 2
    assert done.run == 0


def test_the_scripts_of_a_line_follow_from_its_seed() -> None:
    def made(seed: int, number: int) -> list[str]:
        line = scripts(AllowsEverything(), seed=seed, number=number, length=30)
        return [script for script, _ in line]

    assert made(1, 2) == made(1, 2)
    assert made(1, 2) != made(1, 3)
    assert made(1, 2) != made(2, 2)


def test_the_grammar_has_every_construct_and_every_mutation_gives_a_script() -> None:
    rng = Random(5)
    grown = "\n".join(grow(rng) for _ in range(3000))
    for part in ("<<", "case", "select", "coproc", "[[", "((", "$'", "<(", "trap", "alias", "`"):
        assert part in grown
    assert "<word>" not in grown
    mutants = [mutate(rng, script, seeds()) for script in seeds()]
    assert (
        sum(one != other for one, other in zip(mutants, seeds(), strict=True)) > len(mutants) // 2
    )


def test_a_script_is_shrunk_to_what_does_it() -> None:
    assert shrink("ls; cat a; pwned x; ls", lambda script: "pwned" in script) == "pwned"


def test_what_is_only_in_the_workspace_is_not_held_against_a_script() -> None:
    bounds = BY_NAME["inside"].bounds
    here = Happening(kind="read", what=f"{WORKSPACE}/a.txt")
    beside = Happening(kind="read", what=f"{WORKSPACE}s/a.txt")
    assert bounds.forbidden("cat", [here, beside]) == [beside]


def test_without_its_programs_the_command_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("sys.argv", ["attack", "--scripts", "1"])
    assert main() == 2
    assert "bwrap" in capsys.readouterr().err
