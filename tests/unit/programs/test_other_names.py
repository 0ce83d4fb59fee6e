"""Rules about a subcommand or a package meet it under its other names."""

from __future__ import annotations

from pathlib import Path

import pytest

import policy
from policy.model import Caller, Facts, ToolCall, Verdict

_FACTS = Facts(cwd="/srv/work", workspace="/srv/work", home="/home/ada")


def _verdict(rules: str, command: str, folder: Path) -> Verdict:
    text = f"policy for every agent\n\ndefault allow\n{rules}\n"
    (folder / "global.policy").write_text(text, encoding="utf-8")
    call = ToolCall(tool="bash_exec", input={"command": command})
    return policy.load(folder).decide(call, Caller(), facts=_FACTS).verdict


@pytest.mark.parametrize(
    ("pattern", "command"),
    [
        ("docker rm *", "docker container rm -f x"),
        ("docker container rm *", "docker rm x"),
        ("docker rmi *", "docker image remove x"),
        ("docker exec *", "docker container exec x ls"),
        ("docker ps *", "docker container ls -a"),
        ("yarn publish *", "yarn npm publish"),
        ("npx prisma db *", "npx prisma@5 db push"),
        ("npx prisma db *", "npx -y prisma@^5.1 db push"),
        ("prisma db *", "pnpm dlx prisma@latest db push"),
        ("ruff check *", "uvx ruff==0.4.1 check ."),
    ],
)
def test_a_denied_command_is_denied_by_its_other_name(
    pattern: str, command: str, tmp_path: Path
) -> None:
    assert _verdict(f'no: deny bash_exec when runs "{pattern}"', command, tmp_path) == "deny"


@pytest.mark.parametrize(
    ("pattern", "command"),
    [
        ("docker rm *", "docker container stop x"),
        ("docker image rm *", "docker container rm x"),
        ("npx prisma db *", "npx prisma@5 generate"),
    ],
)
def test_another_command_is_not(pattern: str, command: str, tmp_path: Path) -> None:
    assert _verdict(f'no: deny bash_exec when runs "{pattern}"', command, tmp_path) == "allow"


@pytest.mark.parametrize(
    ("pattern", "command", "covered"),
    [
        ("docker container logs *", "docker logs x", True),
        ("docker logs *", "docker container logs -f x", True),
        ("docker container *", "docker container logs x", True),
        ("npx eslint *", "npx eslint .", True),
        ("npx eslint@8 *", "npx eslint@8 .", True),
        # Another version is fetched, and may be another package than the project's program.
        ("npx tsc *", "npx tsc@5", False),
        ("npx eslint *", "npx eslint@npm:evil .", False),
        ("npx eslint *", "npx eslint@../evil .", False),
    ],
)
def test_what_is_covered(pattern: str, command: str, covered: bool, tmp_path: Path) -> None:
    rules = f'others: deny bash_exec unless runs only "{pattern}"'
    assert _verdict(rules, command, tmp_path) == ("allow" if covered else "deny")
