"""How many resources the words of a call may name, before it may do anything."""

from __future__ import annotations

import pytest

from policy.generation import shipped_profiles
from policy.programs import CommandEffect, ScriptAnalysis, analyse_script

_PARTS = ":".join(f"a{number}" for number in range(3_000))
_PROFILES = shipped_profiles()


def _effects(script: str) -> list[CommandEffect]:
    analysis = analyse_script(script, _PROFILES)
    assert isinstance(analysis, ScriptAnalysis)
    return [one for each in analysis.commands for one in each.effects]


@pytest.mark.parametrize(
    "script",
    [
        f"PYTHONPATH={_PARTS} python3 a.py",
        f"protoc -I{_PARTS} a.proto",
        f"curl -F 'a=@{_PARTS.replace(':', ',')}' http://a.example",
        f"git log -L 1:{_PARTS}",
        "; ".join(f"PYTHONPATH={':'.join(f'a{n}.{m}' for m in range(30))} ls" for n in range(100)),
        f"sed {' '.join(f'-i.{n}' for n in range(100))} p {' '.join(f'a{n}' for n in range(100))}",
    ],
)
def test_more_resources_than_are_looked_at_are_unknown(script: str) -> None:
    found = _effects(script)
    assert any(one.verb == "reads" and one.word is None for one in found)
    assert len(found) < 10_000
    spelled = sum(len(one.word.text) for one in found if one.word is not None)
    assert spelled < 2_000_000 + 20 * len(script)


@pytest.mark.parametrize(
    "script",
    [
        f"git add {' '.join(f'src/a{number}.py' for number in range(1_500))}",
        f"PYTHONPATH={':'.join(['src'] * 5_000)} python3 a.py",
        f"PYTHONPATH={':'.join(f'a{number}' for number in range(500))} python3 a.py",
        "git log -L '/^def a:b/,+3:src/a:b.py'",
    ],
)
def test_a_command_of_many_files_names_each(script: str) -> None:
    found = _effects(script)
    assert found
    assert all(one.word is not None for one in found)


@pytest.mark.parametrize(
    ("program", "unit"),
    [("sed '{}' a", "s/a/b/;"), ("awk '{}' a", "1;"), ("sqlite3 a.db '{}'", "select 1;")],
)
def test_a_program_in_an_argument_that_is_too_long_may_do_anything(program: str, unit: str) -> None:
    short, long = (program.format(unit * (size // len(unit))) for size in (60_000, 70_000))
    assert not any(one.verb == "writes" and one.word is None for one in _effects(short))
    assert any(one.verb == "writes" and one.word is None for one in _effects(long))


def test_a_script_of_too_many_quotes_and_signs_is_not_read() -> None:
    fine, most = (f"echo {'`' * parts}" for parts in (6_000, 20_000))
    assert isinstance(analyse_script(fine, _PROFILES), ScriptAnalysis)
    assert not isinstance(analyse_script(most, _PROFILES), ScriptAnalysis)
