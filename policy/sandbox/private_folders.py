"""Workspaces in the folders of the system, such as `/usr/src/app`, where Docker images have them.

Every confined program reads `/usr` and `/opt`. A workspace there is *private*: it is shown as far
as the plan of a program names it, as if it were anywhere else.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from policy.sandbox.containment import is_within
from policy.sandbox.name_search import outermost
from policy.sandbox.system_files import PROGRAMS
from policy.sandbox.system_view import in_system

# A folder in them may be a workspace; they themselves are more than one.
_SHARED = ("/opt", "/usr", "/usr/local", "/usr/share")


def private_folders(folders: Iterable[str]) -> tuple[str, ...]:
    """Return those of some folders that are in a folder of the system, each without links."""
    return tuple(outermost(in_system(map(os.path.realpath, folders))))


def problem_of_workspace(path: str) -> str | None:
    """Return why a path without links can be no workspace, None if it can.

    Programs that are not confined run what such a folder holds.
    """
    programs = {os.path.realpath(each) for each in PROGRAMS}
    shared = {os.path.realpath(each) for each in _SHARED}
    if path not in shared and not is_within(path, programs):
        held = next((each for each in sorted(programs) if is_within(each, (path,))), None)
        if held is None:
            return None
    return (
        f"{path} cannot be a workspace, since programs of the system are there: use a folder of "
        "its own, such as /usr/src/app or /opt/app"
    )
