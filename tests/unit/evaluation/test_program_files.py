"""Patterns of programs in the workspace, such as `./** *`: which programs they cover on a disk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import policy
from tests.laws.workspaces import allows

_RUN = 'run: allow bash_exec when runs only ["./** *", "ls *", "ln *", "timeout *"]'
_SCRIPTS = 'run: allow bash_exec when runs only ["./scripts/*.sh *", "./gradlew *"]'
_NONE = 'run: allow bash_exec\nno: deny bash_exec when runs "./** *"'


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = Path(os.path.realpath(tmp_path_factory.mktemp("programs")))
    for name in ("ws/run.sh", "ws/gradlew", "ws/sub/run.sh", "ws/scripts/a.sh", "ws/scripts/x/b.sh",
                 "ws/venv/bin/eslint", "other/run.sh"):  # fmt: skip
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("echo x\n")
    (folder / "ws/rm").symlink_to("/bin/rm")
    (folder / "ws/inside").symlink_to("sub/run.sh")
    (folder / "ws/beside").symlink_to("../other")
    return folder / "ws"


def may_run(tmp_path: Path, rules: str, script: str, here: Path) -> bool:
    file = tmp_path / "global.policy"
    file.write_text(f"policy for every agent\n\ndefault deny\n{rules}\n")
    return allows(policy.load(file), script.replace("WS", str(here)), here)


@pytest.mark.parametrize(
    "script",
    [
        "./run.sh",
        "./run.sh a --verbose -x=1 b",
        "sub/run.sh",
        "WS/run.sh",
        "cd sub && ./run.sh && ../run.sh",
        "cd WS/sub && ../gradlew --info build",
        "cd sub; ./run.sh",
        "timeout 60 ./run.sh && ls",
        "./inside",
        "./gradlew build --stacktrace",
        "venv/bin/eslint src",
        "for f in a b; do ./run.sh $f; done",
        "ls | ./run.sh",
    ],
)
def test_a_program_in_the_workspace_is_covered(tmp_path: Path, script: str, here: Path) -> None:
    assert may_run(tmp_path, _RUN, script, here)


@pytest.mark.parametrize(
    "script",
    [
        # Outside of the workspace, by spelling or by a link.
        "../other/run.sh",
        "./x/../../other/run.sh",
        "./sub/../../other/run.sh",
        "beside/run.sh",
        "cd beside && ./run.sh",
        "./rm -rf x",
        "cd .. && other/run.sh",
        "cd / && ./run.sh",
        "~/run.sh",
        "/bin/rm -rf x",
        "WS/../other/run.sh",
        # By a link that the script makes.
        "ln -s /bin/rm new && ./new -rf x",
        "ln -sf /bin/rm run.sh; ./run.sh x",
        "ln -s / sub/root; sub/root/bin/rm x",
        # Found in PATH, or not known.
        "run.sh",
        "PATH=.:$PATH run.sh",
        "./$X",
        "./*.sh",
        '"$X"/run.sh',
        "cd $X && ./run.sh",
        "find . -execdir ./run.sh {} ';'",
        # Only the program is covered: not how it is run, what it runs, what it writes.
        "sudo ./run.sh",
        "find . -exec ./run.sh {} +",
        "./run.sh > out.txt",
        "LD_PRELOAD=x.so ./run.sh",
        "PAGER=./x.sh ./run.sh",
        "./env rm -rf /",
        "./bash -c 'rm x'",
        "./sudo rm x",
        "./python3 -c 'print(1)'",
        "./xargs rm",
        # Options that load code or run some, by name or by the profile of the program.
        "./run.sh --exec 'rm x'",
        "./run.sh --plugin=/tmp/x.so",
        "./run.sh -r/tmp/x.so",
        './run.sh "$X"',
        "./gradlew --init-script /tmp/x.gradle build",
        "venv/bin/eslint --plugin x src",
        "./git -c core.pager=x log",
    ],
)
def test_nothing_else_is_covered(tmp_path: Path, script: str, here: Path) -> None:
    assert not may_run(tmp_path, _RUN, script, here)


@pytest.mark.parametrize(
    ("script", "allowed"),
    [
        ("scripts/a.sh x", True),
        ("cd scripts && ./a.sh", True),
        ("scripts/x/b.sh", False),
        ("./run.sh", False),
        ("cd sub && scripts/a.sh", False),
        # A path without wildcards is one of the folder of the call, or of the workspace.
        ("./gradlew test", True),
        ("cd WS && ./gradlew test", True),
        ("cd sub && cd .. && ./gradlew test", True),
        ("cd sub && ./gradlew test", False),
        ("cd ../other && ./gradlew test", False),
    ],
)
def test_a_folder_or_a_name_may_be_spelled(
    tmp_path: Path, script: str, allowed: bool, here: Path
) -> None:
    assert may_run(tmp_path, _SCRIPTS, script, here) is allowed


@pytest.mark.parametrize(
    ("script", "allowed"),
    [
        ("ls", True),
        ("/opt/x/run.sh", True),
        ("./run.sh", False),
        ("beside/run.sh", False),
        ("./rm x", False),
        ("./$X", False),
        ("bash -c ./run.sh", False),
        ("find . -execdir ./run.sh ';'", False),
    ],
)
def test_a_deny_fails_closed(tmp_path: Path, script: str, allowed: bool, here: Path) -> None:
    assert may_run(tmp_path, _NONE, script, here) is allowed


@pytest.mark.parametrize("pattern", ["g*t *", "../x/* *", "./[ab] *"])
def test_other_programs_are_spelled_out(tmp_path: Path, pattern: str) -> None:
    file = tmp_path / "global.policy"
    rule = f'run: allow bash_exec when runs only "{pattern}"'
    file.write_text(f"policy for every agent\n\ndefault deny\n{rule}\n")
    with pytest.raises(policy.PolicyInvalid, match="names its program"):
        policy.load(file)


def test_without_a_workspace_nothing_is_covered(tmp_path: Path) -> None:
    file = tmp_path / "global.policy"
    file.write_text(f"policy for every agent\n\ndefault deny\n{_RUN}\n")
    call = policy.ToolCall(tool="bash_exec", input={"command": "./run.sh"})
    verdict = policy.load(file).decide(call, facts=policy.Facts(cwd="/srv/x")).verdict
    assert verdict is not policy.Verdict.ALLOW


_NAMED = 'run: allow bash_exec when runs only ["./** *", "python -m pytest *", "rm *"]'


@pytest.fixture(scope="module")
def environment(here: Path) -> Path:
    """The workspace with an environment of Python beside a folder that is linked."""
    python = next(
        place for place in ("/usr/bin/python3", "/usr/local/bin/python3") if os.path.exists(place)
    )
    for folder in ("ws/.venv/bin", "other/venv/bin"):
        (here.parent / folder).mkdir(parents=True, exist_ok=True)
        (here.parent / folder / "python").symlink_to(python)
    (here / ".venv/bin/pytest").symlink_to("/bin/rm")
    return here


@pytest.mark.parametrize(
    "script",
    ["./rm a.txt", ".venv/bin/python -m pytest -q", "cd sub && ../.venv/bin/python -m pytest"],
)
def test_a_link_to_the_installed_program_of_its_name_is_that_program(
    tmp_path: Path, script: str, environment: Path
) -> None:
    assert may_run(tmp_path, _NAMED, script, environment)
    assert not may_run(tmp_path, _RUN, script, environment)


@pytest.mark.parametrize(
    "script",
    [
        ".venv/bin/python -m evil",
        ".venv/bin/python x.py",
        ".venv/bin/pytest",
        "beside/venv/bin/python -m pytest",
        "../other/venv/bin/python -m pytest",
    ],
)
def test_another_program_or_folder_is_not(tmp_path: Path, script: str, environment: Path) -> None:
    assert not may_run(tmp_path, _NAMED, script, environment)
