"""The service that `serve` offers, as the caller of each call sees it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from policy.audit import JsonlSink
from policy.cli.approvers import ApprovalMode, SettingsNow
from policy.generation import ApprovalSettings, ServiceSettings
from policy.model import Caller
from policy.service import GovernedService, ToolEvent, build_tool_service, limits_of
from policy.store import PolicyStore
from policy.tools import ToolHandler, builtin_handlers


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """The options of the command line; None leaves a setting to the configuration.

    `authenticated` means that the caller is known: the parent process on stdio, the holder of the
    token over HTTP. Every other caller is anonymous, whatever the configuration is. `approving`
    returns how asks are answered under the configuration in force. A policy in the workspace is
    an error unless `policy_in_workspace` is set. `tools` are served beside the built-in ones.
    """

    workspace: Path | None
    audit: Path | None
    agent: str | None
    approving: Callable[[SettingsNow], ApprovalMode]
    authenticated: bool
    tools: tuple[ToolHandler, ...] = ()
    policy_in_workspace: bool = False


class GovernedServices:
    """Returns the service for the caller that the policy in force names at that moment.

    Workspace, audit file, limits and approval store are taken from the first generation and kept:
    a service that started without a policy is rebuilt when one is loaded, before that policy
    allows anything.
    """

    def __init__(
        self, store: PolicyStore, serving: ServeOptions, *, listener: Callable[[ToolEvent], None]
    ) -> None:
        self._store = store
        self.serving = serving
        self._listener = listener
        self._configured = False
        self.approving = ApprovalMode()
        self._service = self._build()

    @property
    def workspace(self) -> str:
        """The folder that the tools work in."""
        return self._service.workspace or os.getcwd()

    @property
    def caller(self) -> Caller:
        """The caller under the configuration now in force."""
        if not self.serving.authenticated:
            return Caller(agent="anonymous", role="anonymous")
        generation = self._store.current
        named = Caller() if generation is None else generation.settings.caller or Caller()
        return replace(named, agent=self.serving.agent or named.agent)

    def __call__(self) -> GovernedService:
        """Return the service for the caller of a call that arrives now."""
        if not self._configured and self._store.current is not None:
            self._service = self._build()
        return self._service.bound_to(self.caller)

    def _build(self) -> GovernedService:
        generation = self._store.current
        self._configured = generation is not None
        said = ServiceSettings() if generation is None else generation.settings.service
        if generation is not None:
            self.approving = self.serving.approving(self._approvals)
        audit = self.serving.audit or said.audit
        service = build_tool_service(
            self._store,
            approver=self.approving.ask,
            approvals=self.approving.ledger,
            audit=None if audit is None else JsonlSink(audit),
            workspace=self.serving.workspace,
            home=said.home,
            policy_in_workspace=self.serving.policy_in_workspace,
            tools=(*builtin_handlers(limits_of(said)), *self.serving.tools),
        )
        service.subscribe(self._listener)
        return service

    def _approvals(self) -> ApprovalSettings | None:
        generation = self._store.current
        return None if generation is None else generation.settings.approvals
