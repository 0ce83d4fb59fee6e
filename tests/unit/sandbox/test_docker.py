"""Plans as arguments of `docker run`, read here and by the client of Docker; nothing is run."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.generation import ProcessLimits
from policy.sandbox import CannotConfine, SandboxPlan, docker_command
from tests.unit.sandbox.plans import PLAN


def command(plan: SandboxPlan = PLAN, image: str = "python:3.13") -> tuple[str, ...]:
    return docker_command(plan, ("pytest", "-q"), image=image, user=1000, group=100)


def mounts(plan: SandboxPlan) -> list[list[str]]:
    """Return the fields of each mount, read as Docker reads them."""
    prefix = "--mount="
    texts = [each.removeprefix(prefix) for each in command(plan) if each.startswith(prefix)]
    return [*csv.reader(texts, strict=True)]


def test_only_the_plan_is_mounted() -> None:
    bound = [each[1:] for each in mounts(PLAN) if each[0] == "type=bind"]
    assert bound == [
        ["source=/srv/data", "target=/srv/data", "readonly"],
        ["source=/work", "target=/work"],
        ["source=/work/.git", "target=/work/.git"],
        ["source=/work/.git/hooks", "target=/work/.git/hooks", "readonly"],
    ]
    assert ["type=tmpfs", "target=/tmp", "tmpfs-size=500000000"] in mounts(PLAN)


def test_the_options_are_these_and_no_others() -> None:
    names = {each.partition("=")[0] for each in command() if each.startswith("--")}
    assert names == {
        "--cap-drop",
        "--env",
        "--init",
        "--interactive",
        "--ipc",
        "--mount",
        "--network",
        "--read-only",
        "--rm",
        "--security-opt",
        "--ulimit",
        "--user",
        "--workdir",
    }
    assert command()[-3:] == ("python:3.13", "pytest", "-q")
    assert "--network=none" in command()
    assert "--network=bridge" in command(replace(PLAN, network="all"))


def test_limits_are_those_of_the_container() -> None:
    limits = ProcessLimits(processes=9, total_memory=50_000_000, cpu=7, open_files=64)
    found = command(replace(PLAN, limits=limits))
    assert {
        "--pids-limit=9",
        "--memory=50000000b",
        "--memory-swap=50000000b",
        "--ulimit=cpu=7:8",
        "--ulimit=nofile=64",
    } <= set(found)
    with pytest.raises(CannotConfine, match="no limit for `memory`"):
        command(replace(PLAN, limits=ProcessLimits(memory=5)))


@given(st.text(min_size=1))
def test_no_path_adds_a_field_to_its_mount(name: str) -> None:
    path = f"/srv/{name}"
    try:
        found = mounts(replace(PLAN, reads=(path,)))
    except CannotConfine:
        assert not name.isprintable()
        return
    assert ["type=bind", f"source={path}", f"target={path}", "readonly"] in found


@pytest.mark.skipif(shutil.which("docker") is None, reason="no client of Docker is installed")
def test_docker_knows_the_options_and_their_values() -> None:
    limits = ProcessLimits(processes=9, total_memory=50_000_000, cpu=7, open_files=64, file_size=9)
    done = subprocess.run(
        command(replace(PLAN, limits=limits, reads=('/a,"b',))),
        env={**os.environ, "DOCKER_HOST": "unix:///nonexistent/socket"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "annot connect to the Docker daemon" in done.stderr


@pytest.mark.parametrize("image", ["", "--privileged"])
def test_an_image_is_no_option(image: str) -> None:
    with pytest.raises(CannotConfine, match="no name of an image"):
        command(image=image)
