"""Where a set names inline code, only code that the call contains in full is like a script."""

from __future__ import annotations

from pathlib import Path

import pytest

from policy.model import Verdict
from tests.corpora.judging import judge, told

_POLICY = """
policy for every agent

default deny
commands known = "python -c * *", "python <<< *", "python - <<< *", "node -e * *", "cat *",
  "find *", "xargs *", "git push *"
paths mine = "./**", inline_code
hosts near = "a.example", inline_code
paths keys = "**/.env" except inline_code
commands asked = "git push *" except inline_code

work: allow bash_exec
  when runs only known and reads anything and writes anything and connects to anything
  unless reads outside mine or writes outside mine or connects outside near
no-keys: deny * when reads keys
ask-push: ask * when runs asked
"""


@pytest.mark.parametrize(
    "command",
    [
        "python3 -c 'print(1)'",
        "cat a | python3 -c 'import sys'",
        "python3 <<'E'\nprint(1)\nE",
        "python3 - <<'E'\nprint(1)\nE",
        "cat <(python3 -c 'print(1)')",
        "node -e '1' a.txt",
        "cd sub && python3 -c 'print(1)' && cat b",
    ],
)
def test_code_in_the_call_is_treated_as_a_script(command: str, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b").write_text("x")
    command = command.replace("\\\n", "\n")
    decision = judge(_POLICY, "bash_exec", {"command": command}, workspace=tmp_path)
    assert decision.verdict is Verdict.ALLOW, told(decision)
    narrow = _POLICY.replace(", inline_code", "").replace(" except inline_code", "")
    decision = judge(narrow, "bash_exec", {"command": command}, workspace=tmp_path)
    assert decision.verdict is not Verdict.ALLOW


@pytest.mark.parametrize(
    "command",
    [
        # Code that the call does not contain, or not all of it.
        'python3 -c "$CODE"',
        'python3 -c "print($X)"',
        'python3 -c "$(cat a)"',
        "python3 -c `cat a`",
        "python3 -c $'x'$Y",
        "cat a | python3",
        "cat a | python3 -",
        "python3 - < a",
        'python3 <<< "$X"',
        "python3 <<E\nprint($X)\nE",
        "python3 <<E\n$(cat a)\nE",
        "python3 /dev/stdin <<< 'print(1)'",
        "python3 -i -c 'print(1)'",
        "python3 -c 'print(1)' < /etc/passwd",
        "X='import os'; python3 -c \"$X$Y\"",
        "cat a | xargs -I{} python3 -c 'print(\"{}\")'",
        "find . -exec python3 -c 'open(\"{}\")' \\;",
        # What else the script does.
        "python3 -c 'x'; cat /etc/passwd",
        "python3 -c 'x' /etc/passwd",
        "node -e 'x' ../secret",
        "python3 -c 'x' > /tmp/out",
        "python3 -c 'x'; cat .env",
        "python3 -c 'x'; curl https://a.example",
        "PYTHONSTARTUP=a python3 -c 'x'",
        "LD_PRELOAD=./x.so python3 -c 'x'",
        "PATH=. python3 -c 'x'",
        "./python3 -c 'x'",
        "cd .. && cat a; python3 -c 'x'",
        "python3 -c 'x'; ln -s /etc l",
        "cat $(python3 -c 'print(\"/etc/passwd\")')",
        "$(python3 -c 'print(1)')",
        "eval \"$(python3 -c 'print(1)')\"",
        "python3 -c 'print(1)' | sh",
        "python3 -m timeit 'x'",
        "sudo python3 -c 'x'",
    ],
)
def test_other_code_and_the_rest_of_the_script_are_judged_as_before(
    command: str, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text("x")
    decision = judge(_POLICY, "bash_exec", {"command": command}, workspace=tmp_path)
    assert decision.verdict is not Verdict.ALLOW, told(decision)


def test_a_push_beside_inline_code_asks(tmp_path: Path) -> None:
    command = "python3 -c 'x' && git push"
    decision = judge(_POLICY, "bash_exec", {"command": command}, workspace=tmp_path)
    assert decision.verdict is Verdict.ASK, told(decision)


def test_rules_that_say_nothing_of_inline_code_fail_closed(tmp_path: Path) -> None:
    for rule in (
        'no: deny * when reads "/etc/**"',
        'no: deny * when writes "/etc/**"',
        'no: deny * when connects to "b.example"',
        'no: deny * when runs "git push *"',
    ):
        decision = judge(
            f"{_POLICY}\n{rule}\n",
            "bash_exec",
            {"command": "python3 -c 'x'"},
            workspace=tmp_path,
        )
        assert decision.verdict is Verdict.DENY, rule


def test_the_floor_asks_about_inline_code_unless_an_allow_names_it(tmp_path: Path) -> None:
    call = {"command": "python3 -c 'x'"}
    allow = 'x: allow bash_exec when runs only "python -c * *"'
    bare = f"policy for every agent\n\ndefault deny\n{allow}\n"
    assert judge(bare, "bash_exec", call, workspace=tmp_path).verdict is Verdict.ASK
    assert judge(_POLICY, "bash_exec", call, workspace=tmp_path).verdict is Verdict.ALLOW
