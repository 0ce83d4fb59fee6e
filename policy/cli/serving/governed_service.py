"""The service that a server offers, as the caller of each call sees it."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from policy.audit import JsonlSink
from policy.cli.approvers import ApprovalMode, SettingsNow
from policy.generation import ApprovalSettings, ClientSettings, ServiceSettings
from policy.model import Caller
from policy.service import GovernedService, ToolEvent, build_tool_service, limits_of
from policy.store import PolicyStore
from policy.tools import ToolHandler, builtin_handlers

if TYPE_CHECKING:
    from policy.proxy import ConnectedClient, Identities


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """The options of the command line; None leaves a setting to the configuration.

    Over stdio the caller is the parent process, and `over_http` the owner of a token, of which
    `token` is one that is not configured. Every other caller is anonymous, whatever the
    configuration is. `approving`
    returns how asks are answered under the configuration in force. A policy in the workspace is
    an error unless `policy_in_workspace` is set. `tools` are served, beside the built-in ones if
    there are any.
    """

    workspace: Path | None
    audit: Path | None
    agent: str | None
    approving: Callable[[SettingsNow], ApprovalMode]
    over_http: bool
    token: str | None = None
    tools: tuple[ToolHandler, ...] = ()
    policy_in_workspace: bool = False
    builtin_tools: bool = True


_ANONYMOUS = Caller(agent="anonymous", role="anonymous")
_NOT_TRUSTED = (
    "the client is not trusted to tell what the user wrote: "
    "`[serve] said` or `[serve.clients.NAME] said` is not set"
)
_SHARED = (
    "the configuration names the session of the client, so other connections share it, "
    "and what one of them tells of its user is disregarded"
)


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
        # Sessions of another process are others, even where the client is the same.
        self._process = secrets.token_hex(16)
        self._tools_changed: Callable[[], None] = _nothing
        self.approving = ApprovalMode()
        self._service = self._build()

    @property
    def identities(self) -> Identities:
        """Whose tokens HTTP clients may send, by the configuration in force."""
        from policy.proxy import KnownIdentities

        return KnownIdentities(lambda: self.clients, token=self.serving.token)

    @property
    def clients(self) -> ClientSettings:
        """Those who have tokens of their own under the configuration now in force."""
        generation = self._store.current
        return ClientSettings() if generation is None else generation.settings.clients

    def on_tools(self, changed: Callable[[], None]) -> None:
        """Call `changed` whenever the service has other tools; from any thread."""
        self._tools_changed = changed

    @property
    def workspace(self) -> str:
        """The folder that the tools work in, or that has the workspaces of sessions."""
        service = self._service
        if service.workspaces is not None:
            return service.workspaces.root
        return service.workspace or os.getcwd()

    @property
    def workspace_line(self) -> str:
        """Where tools work, for people."""
        kind = "workspace" if self._service.workspaces is None else "workspaces of sessions in"
        return f"{kind} {self.workspace}"

    @property
    def service(self) -> GovernedService:
        """The service for no caller in particular."""
        if not self._configured and self._store.current is not None:
            self._service = self._build()
        return self._service

    @property
    def caller(self) -> Caller:
        """The caller under the configuration now in force, of a client that is not told apart."""
        generation = self._store.current
        named = Caller() if generation is None else generation.settings.caller or Caller()
        return replace(named, agent=self.serving.agent or named.agent)

    def __call__(self, client: ConnectedClient) -> GovernedService:
        """Return the service for the caller of a call that arrives now."""
        return self.service.bound_to(self.caller_of(client), client=client)

    def disregards(self, client: ConnectedClient) -> str | None:
        """Return why what a client tells of its user's messages does not count; None: it counts."""
        identity = client.identity
        known = None if identity is None or identity.caller is None else identity
        if not (self.clients.said if known is None else known.said):
            return _NOT_TRUSTED
        return _SHARED if _is_named(self._configured_caller(client).session) else None

    def caller_of(self, client: ConnectedClient) -> Caller:
        """Return who calls through a client.

        Each connection is a session of its own, unless the configuration names one for all.
        """
        identity = client.identity
        caller = self._configured_caller(client)
        if caller is _ANONYMOUS or _is_named(caller.session):
            return caller
        # Requests that stand for themselves have nothing in common but whose they are. What may
        # change about their caller, as groups do, must not begin a session without labels.
        of = client.connection or ("" if identity is None else identity.name)
        digest = hashlib.sha256(f"{self._process} {of}".encode()).hexdigest()
        return replace(caller, session=f"mcp-{digest[:16]}")

    def _configured_caller(self, client: ConnectedClient) -> Caller:
        """Return the caller of a client, in the session that the configuration names if any."""
        identity = client.identity
        if identity is None:
            return _ANONYMOUS if self.serving.over_http else self.caller
        return identity.caller or self.caller

    def _build(self) -> GovernedService:
        generation = self._store.current
        self._configured = generation is not None
        said = ServiceSettings() if generation is None else generation.settings.service
        if generation is not None:
            self.approving = self.serving.approving(self._approvals)
        audit = self.serving.audit or said.audit
        builtin = builtin_handlers(limits_of(said)) if self.serving.builtin_tools else ()
        service = build_tool_service(
            self._store,
            approver=self.approving.ask,
            approvals=self.approving.ledger,
            audit=None if audit is None else JsonlSink(audit),
            workspace=self.serving.workspace,
            home=said.home,
            policy_in_workspace=self.serving.policy_in_workspace,
            tools=(*builtin, *self.serving.tools),
        )
        service.subscribe(self._listener)
        service.registry.subscribe(lambda change: self._tools_changed())
        return service

    def _approvals(self) -> ApprovalSettings | None:
        generation = self._store.current
        return None if generation is None else generation.settings.approvals


def _is_named(session: str) -> bool:
    return session != Caller().session


def _nothing() -> None:
    return None
