"""`PATH` as a confined program gets it: the folders that it may read, and no others.

A program that is found in another folder cannot be started inside. And Python looks in `PATH` for
itself, to find its library: in a folder that cannot be read, it finds none.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from policy.sandbox.containment import is_within
from policy.sandbox.plan import SandboxPlan
from policy.sandbox.system_files import SYSTEM

_PATH = "PATH"
_DEFAULT = "/usr/local/bin:/usr/bin:/bin"


def readable_path(plan: SandboxPlan, env: Mapping[str, str]) -> dict[str, str]:
    """Return an environment whose `PATH`, if it has one, names folders that the plan can read."""
    if _PATH not in env:
        return dict(env)
    folders = [each for each in env[_PATH].split(os.pathsep) if _is_readable(plan, each)]
    return {**env, _PATH: os.pathsep.join(folders) or _DEFAULT}


def _is_readable(plan: SandboxPlan, folder: str) -> bool:
    if not os.path.isabs(folder):
        return True  # found from the folder that the program is in then
    spelled = os.path.normpath(folder)
    shown = (*plan.reads, *plan.writes, *SYSTEM)
    return all(
        is_within(each, shown) and not plan.hides(each)
        for each in {spelled, os.path.realpath(spelled)}
    )
