"""A program whose profile passes its words on is judged as strictly as an unknown one."""

from __future__ import annotations

from pathlib import Path
from tomllib import loads

import pytest

import policy
from policy.generation import shipped_profile_texts
from policy.model import Caller, Facts, ToolCall, Verdict

_PASSING = sorted(
    {
        name
        for file, text in shipped_profile_texts().items()
        if (profile := loads(text)).get("operands") == "passed-on..."
        and profile.get("style") == "listed"
        for name in (file.removesuffix(".toml"), *profile.get("siblings", ()))
    }
)
_RULES = """
policy for every agent

default deny
pushes: deny bash_exec when runs "git push *"
secrets: deny bash_exec when reads "**/.env"
settings: deny bash_exec when writes "**/.claude/**"
elsewhere: deny bash_exec when connects to "evil.example"
work: allow bash_exec
"""
_COVERED = """
policy for every agent

default deny
work: allow bash_exec when runs only [{programs}, "git *", "cat *", "cp *", "curl *"]
"""
_COMMANDS = (
    "{program} -x 'git push'",
    "{program} x 'cat .env'",
    "{program} --hook 'cat .en*'",
    "{program} --hook='cp a .claude/settings.json'",
    "{program} -y 'curl -s evil.example'",
    "{program} -y 'open(\".env\")'",
)


_FACTS = Facts(cwd="/srv/work", workspace="/srv/work", home="/home/ada")


def _allowed(rules: str, scripts: list[str], folder: Path) -> list[str]:
    (folder / "global.policy").write_text(rules, encoding="utf-8")
    generation = policy.load(folder)
    calls = [ToolCall(tool="bash_exec", input={"command": script}) for script in scripts]
    verdicts = [generation.decide(call, Caller(), facts=_FACTS).verdict for call in calls]
    return [one for one, verdict in zip(scripts, verdicts, strict=True) if verdict is Verdict.ALLOW]


def test_there_are_many_such_programs() -> None:
    assert len(_PASSING) > 100


@pytest.mark.parametrize("command", [*_COMMANDS, "{program} exec git push"])
def test_a_word_that_may_be_a_command_or_code_meets_every_deny(
    command: str, tmp_path: Path
) -> None:
    scripts = [command.format(program=program) for program in ("frobnicate", *_PASSING)]
    assert _allowed(_RULES, scripts, tmp_path) == []


@pytest.mark.parametrize("command", _COMMANDS)
def test_no_wildcard_covers_such_a_word(command: str, tmp_path: Path) -> None:
    programs = ("frobnicate", *_PASSING)
    rules = _COVERED.format(programs=", ".join(f'"{program} *"' for program in programs))
    scripts = [command.format(program=program) for program in programs]
    assert _allowed(rules, scripts, tmp_path) == []


def test_plain_words_are_no_commands(tmp_path: Path) -> None:
    commands = ("{program} src/a.ts --port 3000", "{program} build -t 'adds two numbers'")
    scripts = [each.format(program=program) for each in commands for program in _PASSING]
    assert _allowed(_RULES, scripts, tmp_path) == scripts


@pytest.mark.parametrize(
    ("command", "covered"),
    [
        ('frobnicate "hello world"', True),
        ('frobnicate "Fix the bug, please."', True),
        ('frobnicate "well-known words: three"', True),
        ('frobnicate "git push"', False),
        ('frobnicate "sudo evil"', False),
        ('frobnicate -x "hello world"', False),
        ('frobnicate run --exec "hello world"', False),
        ('frobnicate $x "hello world"', False),
        ('frobnicate "hello; world"', False),
        ('frobnicate "hello $(id)"', False),
        ('frobnicate "hello  world"', False),
        ('frobnicate "./hello world"', False),
        ('frobnicate "A=b hello"', False),
        ('frobnicate "hello --world"', False),
    ],
)
def test_a_text_of_plain_words_is_covered(command: str, covered: bool, tmp_path: Path) -> None:
    rules = _COVERED.format(programs='"frobnicate *", "frobnicate -x *", "frobnicate * --exec *"')
    assert _allowed(rules, [command], tmp_path) == ([command] if covered else [])


def test_a_text_may_be_a_command_that_a_rule_denies(tmp_path: Path) -> None:
    rules = _RULES.replace("git push *", "hello *")
    assert _allowed(rules, ['frobnicate "hello world"'], tmp_path) == []
