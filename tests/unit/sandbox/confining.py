"""Runs commands in a real sandbox."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from policy.generation import Reach
from policy.sandbox import Bubblewrap, SandboxPlan, plan_of

needs_bubblewrap = pytest.mark.skipif(
    shutil.which("bwrap") is None, reason="bubblewrap is not installed here"
)


def plan_in(workspace: Path, reach: Reach | None = None) -> SandboxPlan:
    """Return a plan for a workspace, with an empty home folder elsewhere."""
    home = "/home/somebody"
    return plan_of(reach or Reach(), folder=str(workspace), home=home, workspace=str(workspace))


def run(plan: SandboxPlan, script: str) -> subprocess.CompletedProcess[str]:
    """Run a script of bash confined, and return its status and output."""
    with Bubblewrap().confined(plan, ("bash", "-c", script)) as start:
        return subprocess.run(
            start.arguments,
            env={"PATH": os.environ["PATH"], "HOME": plan.home},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            pass_fds=start.descriptors,
            text=True,
            timeout=60,
            check=False,
        )
