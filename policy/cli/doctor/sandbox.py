"""What confines programs on this machine: each driver is tried, and what gets out of it."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from policy.generation import ConfiningDriver, Reach, SandboxSettings, configuration, read_folder
from policy.sandbox import NOT_TRIED, NotTried, driver_named, escapes, fix_for, plan_of

_DRIVERS: tuple[ConfiningDriver, ...] = ("bubblewrap", "landlock")


def sandbox_of(policy: Path, *, served: bool) -> dict[str, Any]:
    """Return what confines commands by this policy, and what each driver stops here.

    `problem` is why commands that have to be confined are not run; None if they are. It is `wrong`
    if a driver is named and the policy is one by which commands are `served`. `bash` is
    the shell of `bash_exec`, None where there is none.
    """
    settings = SandboxSettings()
    if policy.exists():
        settings = configuration(read_folder(policy)).settings.sandbox
    drivers = [_tried(name) for name in _DRIVERS]
    working = {each["name"] for each in drivers if each["problem"] is None}
    configured = settings.driver
    wanted = {"off": working, "best": working}.get(configured, working & {configured})
    missing = configured != "off" and not wanted
    return {
        "driver": configured,
        "named": settings.named,
        "wrong": missing and settings.named and served,
        "required": settings.required,
        "problem": f"`{configured}` does not work here" if missing else None,
        "bash": shutil.which("bash"),
        "drivers": drivers,
        "not_tried": [*NOT_TRIED],
    }


def _tried(name: ConfiningDriver) -> dict[str, Any]:
    driver = driver_named(name)
    problem = driver.problem()
    found: dict[str, Any] = {"name": name, "problem": problem, "fix": None, "reached": None}
    if problem is not None:
        return {**found, "fix": fix_for(name, problem)}
    with tempfile.TemporaryDirectory(prefix="placet-doctor-") as folder:
        workspace = os.path.realpath(folder)
        home = os.path.expanduser("~")
        plan = plan_of(Reach(), folder=workspace, home=home, workspace=workspace)
        try:
            return {**found, "reached": escapes(driver, plan)}
        except NotTried as error:
            return {**found, "problem": f"nothing could be tried in it: {error}"}
