"""The workspace that `decide` and `explain` judge a call in, and where it comes from."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Literal

from policy.generation import Generation
from policy.model import Facts

# A service that was started in the root folder was not started in a project.
_ROOT = "/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """A workspace, and where it comes from."""

    path: str
    origin: Literal["call", "placet.toml", "current folder"]

    def as_json(self) -> dict[str, str]:
        """Return it as the output of `decide` contains it."""
        return {"path": self.path, "from": self.origin}


def with_workspace(facts: Facts, generation: Generation) -> tuple[Facts, Workspace | None]:
    """Return the facts with a workspace, and where it comes from; None if there is none."""
    if facts.workspace is not None:
        return facts, Workspace(path=facts.workspace, origin="call")
    configured = generation.settings.service.workspace
    if configured is not None:
        return facts, Workspace(path=configured, origin="placet.toml")
    here = _current_folder()
    if here is None:
        return facts, None
    return replace(facts, workspace=here), Workspace(path=here, origin="current folder")


def _current_folder() -> str | None:
    try:
        here = os.getcwd()
    except FileNotFoundError:  # it was removed
        return None
    return None if here == _ROOT else here
