"""Scripts that a pattern names by a relative path, after changes of the folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import policy
from policy.environment import Disk
from policy.model import Verdict

_POLICY = """\
policy for every agent

default deny
a: allow bash_exec
  when runs only ["bash run.sh *", "bash tools/*.sh", "bash -c *", "source */bin/activate", "tar *"]
"""


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = Path(os.path.realpath(tmp_path_factory.mktemp("folder"))) / "ws"
    (folder / "sub").mkdir(parents=True)
    (folder / "other").mkdir()
    (folder / "link").symlink_to(".")
    (folder / "up").symlink_to("..")
    (folder.parent / "wslink").symlink_to("ws")
    return folder


@pytest.fixture(scope="module")
def generation(tmp_path_factory: pytest.TempPathFactory) -> policy.Generation:
    file = tmp_path_factory.mktemp("rules") / "global.policy"
    file.write_text(_POLICY)
    return policy.load(file)


def verdict(generation: policy.Generation, command: str, here: Path) -> Verdict:
    facts = policy.Facts(
        cwd=str(here), workspace=str(here), home="/none", resolvers=Disk().resolvers()
    )
    call = policy.ToolCall(tool="bash_exec", input={"command": command.replace("WS", str(here))})
    return generation.decide(call, facts=facts).verdict


@pytest.mark.parametrize(
    "command",
    [
        "bash run.sh",
        "cd WS && bash run.sh",
        "cd WS; bash run.sh x",
        "cd WS/ && bash tools/a.sh",
        "cd WS/sub/.. && bash run.sh",
        "cd WS/../wslink && bash run.sh",
        "cd sub && cd .. && bash run.sh",
        "cd link && bash run.sh",
        "cd up/ws && bash run.sh",
        "cd WS && source .venv/bin/activate",
        "bash -c 'cd WS && bash run.sh'",
    ],
)
def test_a_script_is_the_same_in_the_folder_of_the_call(
    command: str, generation: policy.Generation, here: Path
) -> None:
    assert verdict(generation, command, here) is Verdict.ALLOW


@pytest.mark.parametrize(
    "command",
    [
        "cd sub && bash run.sh",
        "cd sub; bash run.sh",
        "cd sub; cd ..; bash run.sh",
        "cd .. && bash run.sh",
        "cd WS/.. && bash run.sh",
        "cd WS && cd sub && bash run.sh",
        "cd WS/other && bash tools/a.sh",
        "cd WS || cd /tmp; bash run.sh",
        "cd up && bash run.sh",
        "cd $X && bash run.sh",
        "cd ~ && bash run.sh",
        "bash -c 'cd WS/sub && bash run.sh'",
        "bash -c 'cd sub'; (cd sub && bash run.sh)",
        "tar xf a.tar; cd sub && cd .. && bash run.sh",
        "for i in 1 2; do cd sub; bash run.sh; cd ..; done",
    ],
)
def test_a_script_is_another_elsewhere(
    command: str, generation: policy.Generation, here: Path
) -> None:
    assert verdict(generation, command, here) is Verdict.DENY
