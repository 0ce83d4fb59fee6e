"""The policy and folders of one decider, and the files that no call may write."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass

from policy.daemon.agents import AGENTS
from policy.daemon.endpoint import DaemonFiles, EndpointUnusable
from policy.daemon.own_program import own_files
from policy.daemon.request import Request


@dataclass(frozen=True, slots=True, kw_only=True)
class HookContext:
    """Everything that requests must have in common to be answered by one decider.

    `settings_folder` is where the agent's user keeps its settings, None: in the usual place.
    """

    policy: str
    agent: str
    home: str
    project: str
    settings_folder: str | None
    workspace: str | None
    audit: str | None

    @classmethod
    def of(cls, request: Request) -> HookContext:
        """Return the context that a request comes from."""
        return cls(
            policy=request.policy,
            agent=request.agent,
            home=request.home,
            project=request.project or request.cwd,
            settings_folder=request.settings_folder,
            workspace=request.workspace,
            audit=request.audit,
        )

    def kind_of(self, file: str) -> str | None:
        """Return, for people, what a guarded file belongs to; None if that is the policy."""
        settings = self.settings()
        if file in (*settings, *map(os.path.realpath, settings)):
            return "the settings of a coding agent, where its hook stands"
        program = [*own_files(), *map(os.path.realpath, own_files())]
        if any(file == place or file.startswith(f"{place}/") for place in program):
            return "Placet's own program"
        return None

    def settings(self) -> list[str]:
        """Return the settings of agents, those of this one's user and those in the project."""
        return [*self._own_settings(), *self._settings("~"), *self.project_settings()]

    def guarded(self) -> list[str]:
        """Return what no call may write: agents' settings, the daemon's files, our own program."""
        named = own_files() + self._settings("~") + self._own_settings()
        if os.name == "posix":
            with suppress(EndpointUnusable):  # without a place for it there is no daemon either
                named += DaemonFiles(self.policy).files
        return [*named, *(os.path.realpath(path) for path in named)]

    def project_settings(self) -> list[str]:
        """Return the settings of agents in the project, which lie among its files."""
        named = self._settings(".")
        return [*named, *(os.path.realpath(path) for path in named)]

    def _own_settings(self) -> list[str]:
        """Return the settings of this agent in the folder that its user has named for them."""
        own = AGENTS.get(self.agent)
        if own is None or self.settings_folder is None:
            return []
        names = {os.path.basename(place) for place in own.settings}
        return [os.path.join(self.settings_folder, name) for name in sorted(names)]

    def _settings(self, base: str) -> list[str]:
        """Return the settings of all agents in the home folder (`~`), or in the project (`.`)."""
        folder = self.home if base == "~" else self.project
        places = (place for agent in AGENTS.values() for place in agent.settings)
        return [os.path.join(folder, place[2:]) for place in places if place.startswith(base)]
