"""`Settings`: what `placet.toml` configures besides rules, with its defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal, TypeAlias
from urllib.parse import unquote, urlsplit

from policy.catalog import Language, Resource
from policy.generation.client_settings import ClientSettings
from policy.generation.mcp_servers import McpServer, SecretReference
from policy.generation.plugin_settings import PluginSettings
from policy.generation.python_settings import PythonSettings
from policy.generation.sandbox_settings import SandboxSettings
from policy.model import EMPTY, Caller, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueSettings:
    """Files of the policy folder that list tools: the host's, and each MCP server's.

    `complete` means that no other tools exist; None leaves that to the catalogue.
    """

    files: tuple[str, ...] = ()
    servers: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    complete: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSettings:
    """What the configuration adds to one tool's definition; None and empty: nothing.

    `timeout` is in seconds.
    """

    requires_confirmation: bool = False
    exec_class: bool | None = None
    timeout: float | None = None
    category: str | None = None
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    resources: tuple[Resource, ...] = ()
    complete: bool = False
    unseen: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BashSettings:
    """Limits of `bash_exec`: seconds, and bytes of output that are kept.

    `path` are folders in the workspace whose programs it finds before all others.
    """

    timeout: float = 60.0
    output: int = 200_000
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeSettings:
    """The languages that `code_exec` runs; without any, there is no such tool."""

    languages: tuple[Language, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSettings:
    """Limits of `web_fetch`: seconds, and bytes of a body that are kept."""

    timeout: float = 20.0
    body: int = 2_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """Where the built-in tools work and what they may use; paths are absolute.

    `workspaces` is the folder in which each session has a workspace of its own, absolute or below
    `~/`, and `workspaces_keep` how long an unused one is kept, None: for good. `workspaces_size` is
    how many bytes each may have and `workspaces_files` how many files, None: no quota. `audit` is
    the file that records are appended to, None: none configured.
    """

    workspace: str | None = None
    workspaces: str | None = None
    workspaces_keep: timedelta | None = None
    workspaces_size: int | None = None
    workspaces_files: int | None = None
    home: str | None = None
    audit: str | None = None
    bash: BashSettings = field(default_factory=BashSettings)
    code: CodeSettings = field(default_factory=CodeSettings)
    python: PythonSettings = field(default_factory=PythonSettings)
    web: WebSettings = field(default_factory=WebSettings)


# Where questions are asked: in the queue, of the client's user, or of both.
AskedIn: TypeAlias = Literal["queue", "client", "both"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalSettings:
    """Where questions wait for people, for how long, how many there may be, and who is who.

    `ask` says whether the user of the client that makes a call may answer, too.
    `store` is an absolute path, None: a file of this user's own. `timeout` is in seconds,
    `per_session` a count. `groups` are the people of each group.
    """

    store: str | None = None
    timeout: float = 300.0
    per_session: int = 50
    ask: AskedIn = "queue"
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: EMPTY)

    def groups_of(self, person: str) -> tuple[str, ...]:
        """Return the groups of a person, in the order of the file."""
        return tuple(group for group, people in self.groups.items() if person in people)


@dataclass(frozen=True, slots=True, kw_only=True)
class HistorySettings:
    """Where the earlier calls of sessions are kept: `store` None: in memory.

    Else it is an absolute path, or the URL of a Redis server, which has a `://`; that server's
    `password` stands elsewhere.

    Of each session tree, at most `entries` calls and `bytes` bytes are kept one by one, and no
    result of more than `result_bytes`; each for `retention`, None: as long as there is room.
    Of what the user of a tree wrote, `said_bytes` are kept, and no message of more than
    `message_bytes`. `clear` are the people and groups who may clear the history of a session.
    """

    store: str | None = None
    password: SecretReference | None = None
    entries: int = 10_000
    bytes: int = 16_000_000
    result_bytes: int = 1_000_000
    retention: timedelta | None = None
    said_bytes: int = 500_000
    message_bytes: int = 200_000
    clear: tuple[str, ...] = ()

    @property
    def file(self) -> str | None:
        """The file that is kept, or the socket of a server on this machine; None: neither."""
        if self.store is None or "://" not in self.store:
            return self.store
        parts = urlsplit(self.store)
        return unquote(parts.path) if parts.scheme == "unix" else None


# What a claim does that is broken or undecided: keep the rules from being in force, or warn.
ProofMode: TypeAlias = Literal["require", "warn", "off"]


# What becomes of an edit that lets calls do more: it waits for people, warns, or is not looked for.
LooseningMode: TypeAlias = Literal["refuse", "warn", "allow"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReloadSettings:
    """What is proved and compared before rules are in force.

    `steps` bounds the search for each tool.
    """

    proofs: ProofMode = "require"
    loosening: LooseningMode = "warn"
    steps: int = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PinSettings:
    """What becomes of calls of a server's tool that is not pinned yet: `ask` or `deny`."""

    new: Verdict = Verdict.ASK


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One generation's configuration.

    `timeout` and `timeouts` are in seconds: for any tool, and by tool. `binders` None means the
    default. `caller` is who calls over `serve` and `gateway`, None: the transport decides;
    `clients` are those who have tokens of their own. `approvals` is None
    if there is no such table. `plugins` are what each plugin is granted, and how it runs.
    `mcp_servers` are all MCP servers, those of `mcp_files` too. `tables` are the tables that are
    rules, as written.
    """

    context: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    catalogue: CatalogueSettings = field(default_factory=CatalogueSettings)
    tools: Mapping[str, ToolSettings] = field(default_factory=lambda: EMPTY)
    timeout: float = 30.0
    timeouts: Mapping[str, float] = field(default_factory=lambda: EMPTY)
    binders: Mapping[str, tuple[str, ...]] | None = None
    service: ServiceSettings = field(default_factory=ServiceSettings)
    caller: Caller | None = None
    clients: ClientSettings = field(default_factory=ClientSettings)
    approvals: ApprovalSettings | None = None
    plugins: Mapping[str, PluginSettings] = field(default_factory=lambda: EMPTY)
    pins: PinSettings = field(default_factory=PinSettings)
    history: HistorySettings = field(default_factory=HistorySettings)
    reload: ReloadSettings = field(default_factory=ReloadSettings)
    sandbox: SandboxSettings = field(default_factory=SandboxSettings)
    mcp_servers: tuple[McpServer, ...] = ()
    mcp_files: tuple[str, ...] = ()
    tables: Mapping[str, Any] = field(default_factory=lambda: EMPTY)

    def timeout_of(self, tool: str) -> float:
        """Return the limit of one tool, in seconds."""
        own = self.tools[tool].timeout if tool in self.tools else None
        limits = [limit for limit in (own, self.timeouts.get(tool)) if limit is not None]
        return min(limits, default=self.timeout)
