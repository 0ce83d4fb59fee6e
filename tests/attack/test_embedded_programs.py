"""Programs in arguments (sed, awk, jq, SQL, find) do no more than their rules allow."""

from __future__ import annotations

import shutil
from random import Random

import pytest

from tests.attack.crew import Worker
from tests.attack.grammar import grow
from tests.examples import examples

# Each is one reading's text, name or pattern and the command of the real program.
EVASIONS = [
    "sed ':a r .env' a.txt",
    "sed ':a w ../made' a.txt",
    "sed '1!b x e pwned\n:x' a.txt",
    "sed 'v 4.2 e pwned' a.txt",
    "sed 's/[]/]/g;s/;r .env\n#/x/' a.txt",
    "sed -n -e 'a\\' -e 's/x/q\ne pwned\n#/' a.txt",
    "sed 's/a/b/ w ../made' a.txt",
    "sqlite3 :memory: '. shell pwned'",
    "sqlite3 :memory: \".'shell' pwned\"",
    "jq -n '$ ENV'",
    "jq -n '$#x\nENV.API_TOKEN'",
    "cd src; find -L -fprintf o '%p'; cd ../sub; find -L -fprintf ../build/o '%p'",
]
HARMLESS = [
    "sed ':a;N;$!ba;s/\\n/ /g' a.txt",
    "sed -e '/x/{s/a/b/;b}' -e 's/[^]]*/[x]/' a.txt",
    'awk \'/"/ {n++} END {print n / 2 > "/dev/stderr"}\' a.txt',
    "jq -r --arg env x '.a == $env' a.txt",
    "sqlite3 build/x.db '.tables' 'select 1.5'",
    "find . -name '*.txt' -printf '%p'",
]
_PROGRAMS = ("sed", "gawk", "mawk", "original-awk", "jq", "sqlite3", "busybox", "find")


@pytest.mark.parametrize("script", EVASIONS)
def test_what_a_program_does_unseen_is_not_allowed(worker: Worker, script: str) -> None:
    program = script.removeprefix("cd src; ").split()[0]
    if shutil.which(program) is None:
        pytest.skip(f"it needs {program}")
    answer = worker.ask({"rules": "languages", "script": script})
    assert answer["forbidden"]
    assert not answer["allowed"]


@pytest.mark.parametrize("script", HARMLESS)
def test_a_harmless_program_is_allowed(worker: Worker, script: str) -> None:
    answer = worker.ask({"rules": "languages", "script": script})
    assert answer["allowed"]
    assert answer["forbidden"] == []


def test_no_program_in_an_argument_does_more_than_its_rules_allow(worker: Worker) -> None:
    rng = Random(29)
    allowed = 0
    for _ in range(examples(10_000)):
        script = grow(rng, "embedded")
        answer = worker.ask({"rules": "languages", "script": script, "if_allowed": True})
        allowed += answer["allowed"]
        assert not (answer["allowed"] and answer["forbidden"]), (script, answer["forbidden"])
    assert allowed


def test_the_grammar_has_each_language() -> None:
    rng = Random(1)
    grown = "\n".join(grow(rng, "embedded") for _ in range(500))
    assert all(program in grown for program in _PROGRAMS)
    assert "<sed" not in grown
