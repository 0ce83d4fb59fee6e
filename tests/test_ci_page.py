"""The GitHub Action, the pre-commit hooks and the page about both work, and agree."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.preloaded import placet_in

ROOT = Path(__file__).resolve().parents[1]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
HOOKS: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
PAGE = (ROOT / "docs" / "ci.md").read_text("utf-8")
EXAMPLES = {
    name: yaml.safe_load(text)
    for name, text in re.findall(r"```yaml\n# (\S+)\n(.*?)```", PAGE, re.DOTALL)
}

POLICY = """\
policy for every agent

default deny
read: allow file_read when reads only workspace
"""
MESSY = POLICY.replace("default deny", "default   deny")
WARNED = POLICY + 'strings unused = "a"\n'
WRONG = POLICY.replace("file_read", "file_raed")
LONG = pytest.mark.long


@pytest.fixture
def commands(tmp_path: Path) -> dict[str, str]:
    """An environment with `placet` on the path, as the action finds it."""
    bin = tmp_path / "bin"
    bin.mkdir()
    placet_in(bin)
    return {**os.environ, "PATH": f"{bin}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}


def steps(uses: str) -> list[dict[str, Any]]:
    return [step for step in ACTION["runs"]["steps"] if uses in step]


def check(
    folder: Path, environment: dict[str, str], **inputs: str
) -> tuple[dict[str, str], str, int]:
    """Run the steps of the action that are scripts of its own, as a runner would.

    Returns the outputs of the check, its log, and the exit status of the last step.
    """
    _, checking, result = steps("run")  # the first one installs
    given = {name: each.get("default", "") for name, each in ACTION["inputs"].items()} | inputs
    output = folder / "output"
    output.touch()

    def run(step: dict[str, Any], values: dict[str, str]) -> subprocess.CompletedProcess[str]:
        env = {
            name: re.sub(r"\$\{\{ *(\S+) *\}\}", lambda found: values[found[1]], value)
            for name, value in step["env"].items()
        }
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=folder,
            env={
                **environment,
                **env,
                "RUNNER_TEMP": str(folder),
                "GITHUB_OUTPUT": str(output),
            },
            capture_output=True,
            text=True,
            check=False,
        )

    done = run(checking, {f"inputs.{name}": value for name, value in given.items()})
    assert done.returncode == 0, done.stderr
    told = dict(line.split("=", 1) for line in output.read_text().splitlines())
    ended = run(result, {f"steps.check.outputs.{name}": value for name, value in told.items()})
    return told, done.stdout + done.stderr, ended.returncode


@pytest.mark.parametrize(
    ("text", "inputs", "status", "said"),
    [
        (POLICY, {}, 0, "fine: 1 policy file"),
        (WRONG, {}, 1, "error[unknown-tool]"),
        (MESSY, {}, 1, "-default   deny"),
        pytest.param(MESSY, {"format": "false"}, 0, "fine: 1 policy file", marks=LONG),
        pytest.param(WARNED, {}, 0, "warning[unused-name]", marks=LONG),
        pytest.param(WARNED, {"strict": "true"}, 1, "warning[unused-name]", marks=LONG),
    ],
)
def test_the_action_ends_as_the_policy_deserves(
    tmp_path: Path,
    commands: dict[str, str],
    text: str,
    inputs: dict[str, str],
    status: int,
    said: str,
) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "global.policy").write_text(text)
    told, log, ended = check(tmp_path, commands, **inputs)
    assert (ended, told["status"]) == (status, str(status))
    assert said in log
    report = yaml.safe_load(Path(told["sarif"]).read_text("utf-8"))
    assert report["version"] == "2.1.0"
    wrong = text in (WRONG, WARNED)
    assert bool(report["runs"][0]["results"]) is wrong


def test_the_action_names_files_as_the_repository_does(
    tmp_path: Path, commands: dict[str, str]
) -> None:
    folder = tmp_path / "deep" / "my rules"
    folder.mkdir(parents=True)
    (folder / "global.policy").write_text(WRONG)
    told, _, _ = check(tmp_path, commands, policy="deep/my rules")
    (found,) = yaml.safe_load(Path(told["sarif"]).read_text("utf-8"))["runs"][0]["results"]
    place = found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert place == "deep/my%20rules/global.policy"


@pytest.mark.parametrize(
    "policy",
    [
        "$(touch hacked)",
        "--explain=x",
        pytest.param("nowhere", marks=LONG),
        pytest.param("", marks=LONG),
    ],
)
def test_an_action_without_a_policy_fails_and_reports_nothing(
    tmp_path: Path, commands: dict[str, str], policy: str
) -> None:
    told, log, ended = check(tmp_path, commands, policy=policy)
    assert ended == 2
    assert "sarif" not in told
    assert "nothing is at" in log
    assert not (tmp_path / "hacked").exists()


def test_the_action_takes_a_catalogue(tmp_path: Path, commands: dict[str, str]) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "global.policy").write_text(POLICY.replace("file_read", "refund"))
    (tmp_path / "tools.json").write_text('[{"name": "refund", "inputSchema": {"type": "object"}}]')
    _, log, _ = check(tmp_path, commands, catalog="tools.json")
    assert "unknown-tool" not in log


def test_the_action_installs_beside_the_python_of_the_job(tmp_path: Path) -> None:
    # A Python that makes an environment in which every command is told to a file.
    python = tmp_path / "a python"
    told = tmp_path / "told"
    python.write_text(
        f'#!/bin/sh\nmkdir -p "$3/bin"\n'
        f'printf \'#!/bin/sh\\nprintf "%%s\\\\n" "$@" > "{told}"\\n\' > "$3/bin/python"\n'
        'chmod +x "$3/bin/python"\n'
    )
    python.chmod(0o755)
    temporary = tmp_path / "runner temp"
    temporary.mkdir()
    install, checking, _ = steps("run")
    assert install["env"] == {"PYTHON": "${{ steps.python.outputs.python-path }}"}
    (setup,) = [step for step in steps("uses") if step.get("id") == "python"]
    assert setup["with"]["update-environment"] is False
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", install["run"]],
        env={
            "PATH": os.environ["PATH"],
            "PYTHON": str(python),
            "RUNNER_TEMP": str(temporary),
            "GITHUB_ACTION_PATH": "/srv/_actions/my org/placet/v1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert told.read_text().splitlines()[-1] == "/srv/_actions/my org/placet/v1[sql]"
    assert 'PATH="$RUNNER_TEMP/placet/bin:$PATH"' in checking["run"]


def test_an_empty_list_of_options_is_no_error_in_an_old_bash() -> None:
    # Before bash 4.4, which macOS does not have, `"${options[@]}"` of no options ends `set -u`.
    script = steps("run")[1]["run"]
    assert '"${options[@]}"' not in script.replace('${options[@]+"${options[@]}"}', "")


def test_no_script_of_the_action_contains_an_expression() -> None:
    # An input that is pasted into a script would be run by it.
    assert all("${{" not in step["run"] for step in steps("run"))


def test_the_page_lists_the_inputs_of_the_action() -> None:
    listed = dict(re.findall(r"^\| `(\w+)` \| .* \| (.*) \|$", PAGE, re.MULTILINE))
    defaults = {name: each["default"] for name, each in ACTION["inputs"].items()}
    assert {name: text.strip("`").replace("none", "") for name, text in listed.items()} == defaults


def test_the_examples_of_the_page_use_what_there_is() -> None:
    (job,) = EXAMPLES[".github/workflows/policy.yml"]["jobs"].values()
    (used,) = [step for step in job["steps"] if step["uses"].startswith("your-org/placet@")]
    assert set(used["with"]) <= set(ACTION["inputs"])
    (repository,) = EXAMPLES[".pre-commit-config.yaml"]["repos"]
    assert [hook["id"] for hook in repository["hooks"]] == [hook["id"] for hook in HOOKS]


@LONG
def test_the_lines_for_other_systems_run(tmp_path: Path, commands: dict[str, str]) -> None:
    shutil.copytree(ROOT / "rules", tmp_path / "rules")
    install, *lines = EXAMPLES[".gitlab-ci.yml"]["policy"]["script"]
    assert install.startswith("pip install ")
    for line in lines:
        done = subprocess.run(["bash", "-c", line], cwd=tmp_path, env=commands, check=False)
        assert done.returncode == 0
    assert (tmp_path / "report.xml").read_text().startswith("<?xml")


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["id"])
def test_a_hook_runs_as_the_framework_runs_it(
    tmp_path: Path, commands: dict[str, str], hook: dict[str, Any]
) -> None:
    assert hook["language"] == "python"
    assert hook["pass_filenames"] is False
    assert re.search(hook["files"], "rules/agents/writer.policy")
    assert not re.search(hook["files"], "README.md")
    words = [*hook["entry"].split(), *hook["args"]]
    (tmp_path / "rules").mkdir()
    for text, status in ((POLICY, 0), (WRONG, 0 if hook["id"] == "placet-fmt" else 1)):
        (tmp_path / "rules" / "global.policy").write_text(text)
        done = subprocess.run(words, cwd=tmp_path, env=commands, capture_output=True, check=False)
        assert done.returncode == status
