"""The tables of `placet.toml`, as they are validated, and the `Settings` that they say."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType, UnionType
from typing import Annotated, Any, Literal, Self, Union, get_args, get_origin

from pydantic import AfterValidator, BaseModel, Field, model_validator

from policy.catalog import VERBS, Language, Resource
from policy.generation.client_settings import ClientSettings
from policy.generation.client_tables import Clients, JwtTable, client_settings
from policy.generation.history_tables import HistoryTable, history_settings
from policy.generation.mcp_tables import McpTable, servers_of
from policy.generation.plugin_tables import PluginTable, plugin_settings
from policy.generation.python_tables import PythonTable, python_settings
from policy.generation.sandbox_tables import SandboxTable, sandbox_settings
from policy.generation.setting_types import STRICT, FolderFile, LongSpan, Seconds, Somebody
from policy.generation.settings import (
    ApprovalSettings,
    AskedIn,
    BashSettings,
    CatalogueSettings,
    CodeSettings,
    LooseningMode,
    PinSettings,
    ProofMode,
    ReloadSettings,
    ServiceSettings,
    Settings,
    ToolSettings,
    WebSettings,
)
from policy.generation.toml_positions import Path
from policy.model import Caller, Verdict

_SHORTEST_KEPT = timedelta(days=2)


def _kept(span: timedelta) -> timedelta:
    # A question may wait for a day, and a call run for another one.
    if span < _SHORTEST_KEPT:
        raise ValueError('the workspace of a running call is never removed: `"2d"` at least')
    return span


def _inside(name: str) -> str:
    if not name or name.startswith("/") or posixpath.normpath(name) != name or name[:2] == "..":
        raise ValueError("a folder is named by its path in the workspace, such as `.venv/bin`")
    if ":" in name:
        raise ValueError("a folder with a `:` in its name cannot stand in PATH")
    return name


InWorkspace = Annotated[str, AfterValidator(_inside)]
ContextKind = Literal["string", "text", "number", "boolean", "list", "object", "time", "any"]
Header = Literal["every", "agent", "agents", "role"]


class _Table(BaseModel):
    model_config = STRICT


class _AgentPermissions(_Table):
    tools: Any = None
    filter: Any = None


class _Permissions(_Table):
    tools: Any = None
    filter: Any = None
    agents: dict[str, _AgentPermissions] = {}


class _Policies(_Table):
    tool_permissions: Any = None


class _Catalogue(_Table):
    files: list[FolderFile] = []
    servers: dict[str, FolderFile] = {}
    complete: bool | None = None


class _Tool(_Table):
    requires_confirmation: bool = False
    exec_class: bool | None = None
    timeout: Seconds | None = None
    category: str | None = None
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    reads: list[str] = []
    writes: list[str] = []
    runs: list[str] = []
    connects: list[str] = []
    sends: list[str] = []
    complete: bool = False
    unseen: bool = False


class _Timeouts(_Table):
    default: Seconds | None = None
    tools: dict[str, Seconds] = {}


class _Bash(_Table):
    timeout: Seconds = BashSettings().timeout
    output: int = Field(default=BashSettings().output, ge=0, le=100_000_000)
    path: list[InWorkspace] = []


class _Code(_Table):
    languages: list[Language] = []


class _Web(_Table):
    timeout: Seconds = WebSettings().timeout
    body: int = Field(default=WebSettings().body, ge=0, le=100_000_000)


_Kept = Annotated[LongSpan, AfterValidator(_kept)]


class _Service(_Table):
    workspace: str | None = Field(default=None, min_length=1)
    workspaces: str | None = Field(default=None, min_length=1)
    workspaces_keep: _Kept | None = None
    workspaces_size: int | None = Field(default=None, ge=1, le=10**15)
    workspaces_files: int | None = Field(default=None, ge=1, le=10_000_000)
    home: str | None = Field(default=None, min_length=1)
    audit: str | None = Field(default=None, min_length=1)
    bash: _Bash = _Bash()
    code: _Code = _Code()
    python: PythonTable = PythonTable()
    web: _Web = _Web()

    @model_validator(mode="after")
    def _works_in_one_place(self) -> Self:
        if self.workspace is not None and self.workspaces is not None:
            raise ValueError(
                "`workspace` is one folder for all sessions, and `workspaces` has one for each: "
                "name one of the two"
            )
        for name in ("workspaces_keep", "workspaces_size", "workspaces_files"):
            if getattr(self, name) is not None and self.workspaces is None:
                raise ValueError(f"`{name}` is for `workspaces`: name their folder")
        return self


class _Serve(_Table):
    agent: str = Caller().agent
    session: str = Caller().session
    role: str = Caller().role
    user: str | None = None
    groups: list[str] = []
    said: bool = False
    message_bytes: int = Field(default=ClientSettings().message_bytes, ge=1_000, le=64_000_000)
    clients: Clients = {}
    jwt: JwtTable | None = None


class _Pins(_Table):
    new: Literal["ask", "deny"] = "ask"


class _Reload(_Table):
    proofs: ProofMode = ReloadSettings().proofs
    loosening: LooseningMode = ReloadSettings().loosening
    steps: int = Field(default=ReloadSettings().steps, ge=1, le=100_000_000)


class _Approvals(_Table):
    store: str | None = Field(default=None, min_length=1)
    timeout: Seconds = ApprovalSettings().timeout
    ask: AskedIn = ApprovalSettings().ask
    per_session: int = Field(default=ApprovalSettings().per_session, ge=0, le=1_000_000)
    groups: dict[Somebody, list[Somebody]] = {}


class SettingsTables(_Table):
    """Every table of the file. The contents of `permissions` and `policies` are rules."""

    permissions: _Permissions = _Permissions()
    policies: _Policies = _Policies()
    context: dict[str, ContextKind] = {}
    catalogue: _Catalogue = _Catalogue()
    tools: dict[str, _Tool] = {}
    timeouts: _Timeouts = _Timeouts()
    binders: dict[str, list[Header]] | None = None
    service: _Service = _Service()
    serve: _Serve | None = None
    approvals: _Approvals | None = None
    plugins: dict[str, PluginTable] = {}
    pins: _Pins = _Pins()
    history: HistoryTable = HistoryTable()
    reload: _Reload = _Reload()
    sandbox: SandboxTable = SandboxTable()
    mcp: McpTable = McpTable()

    @model_validator(mode="after")
    def _has_a_file_for_each_use(self) -> Self:
        stores = {
            "[service] audit": self.service.audit,
            "[approvals] store": None if self.approvals is None else self.approvals.store,
            "[history] store": self.history.store,
        }
        uses: dict[str, str] = {}
        for use, written in stores.items():
            path = posixpath.normpath(written or use)
            if path in uses:
                # Each would write over what the other one keeps.
                raise ValueError(f"`{uses[path]}` and `{use}` are the same file: name two")
            uses[path] = use
        return self


def keys_at(path: Path) -> tuple[str, ...]:
    """Return the keys that the table at `path` may have."""
    kind: Any = SettingsTables
    for step in path:
        kind = _kind_below(kind, step)
    return tuple(kind.model_fields) if _is_table(kind) else ()


def _kind_below(kind: Any, step: str) -> Any:
    """Return the type at the key `step` of a table of this type."""
    if _is_table(kind):
        kind = kind.model_fields[step].annotation
        for part in get_args(kind) if get_origin(kind) in (Union, UnionType) else ():
            if part is not type(None):
                return part
        return kind
    return get_args(kind)[1] if get_origin(kind) is dict else None


def _is_table(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def settings_of(file: SettingsTables, tables: Mapping[str, Any], *, root: str) -> Settings:
    """Return what the file says; `tables` are those that are rules."""
    binders = file.binders
    return Settings(
        context=MappingProxyType(dict(file.context)),
        catalogue=CatalogueSettings(
            files=tuple(file.catalogue.files),
            servers=MappingProxyType(dict(file.catalogue.servers)),
            complete=file.catalogue.complete,
        ),
        tools=MappingProxyType({name: _tool(tool) for name, tool in file.tools.items()}),
        timeout=file.timeouts.default or Settings().timeout,
        timeouts=MappingProxyType(dict(file.timeouts.tools)),
        binders=(
            None
            if binders is None
            else MappingProxyType({name: tuple(words) for name, words in binders.items()})
        ),
        service=_service(file.service, root),
        caller=None if file.serve is None else _caller(file.serve),
        clients=_clients(file.serve),
        history=history_settings(file.history, root),
        reload=ReloadSettings(
            proofs=file.reload.proofs,
            loosening=file.reload.loosening,
            steps=file.reload.steps,
        ),
        sandbox=sandbox_settings(file.sandbox, root),
        approvals=None if file.approvals is None else _approvals(file.approvals, root),
        plugins=MappingProxyType(
            {name: plugin_settings(one, root) for name, one in file.plugins.items()}
        ),
        pins=PinSettings(new=Verdict(file.pins.new)),
        mcp_servers=servers_of(file.mcp, root),
        mcp_files=tuple(file.mcp.files),
        tables=tables,
    )


def _tool(tool: _Tool) -> ToolSettings:
    return ToolSettings(
        requires_confirmation=tool.requires_confirmation,
        exec_class=tool.exec_class,
        timeout=tool.timeout,
        category=tool.category,
        read_only=tool.read_only,
        destructive=tool.destructive,
        idempotent=tool.idempotent,
        resources=tuple(
            Resource(verb=verb, steps=tuple(path.removeprefix("input.").split(".")))
            for verb in VERBS
            for path in getattr(tool, verb)
        ),
        complete=tool.complete,
        unseen=tool.unseen,
    )


def _absolute(path: str | None, root: str) -> str | None:
    return None if path is None else posixpath.normpath(posixpath.join(root, path))


def _at_home_or_absolute(path: str | None, root: str) -> str | None:
    return path if path is not None and path.startswith("~/") else _absolute(path, root)


def _approvals(approvals: _Approvals, root: str) -> ApprovalSettings:
    return ApprovalSettings(
        store=_absolute(approvals.store, root),
        timeout=approvals.timeout,
        per_session=approvals.per_session,
        ask=approvals.ask,
        groups=MappingProxyType(
            {group: tuple(dict.fromkeys(people)) for group, people in approvals.groups.items()}
        ),
    )


def _service(service: _Service, root: str) -> ServiceSettings:
    return ServiceSettings(
        workspace=_absolute(service.workspace, root),
        workspaces=_at_home_or_absolute(service.workspaces, root),
        workspaces_keep=service.workspaces_keep,
        workspaces_size=service.workspaces_size,
        workspaces_files=service.workspaces_files,
        home=_absolute(service.home, root),
        audit=_absolute(service.audit, root),
        bash=BashSettings(
            timeout=service.bash.timeout,
            output=service.bash.output,
            path=tuple(service.bash.path),
        ),
        code=CodeSettings(languages=tuple(dict.fromkeys(service.code.languages))),
        python=python_settings(service.python, root),
        web=WebSettings(
            timeout=service.web.timeout,
            body=service.web.body,
        ),
    )


def _clients(said: _Serve | None) -> ClientSettings:
    if said is None:
        return ClientSettings()
    return client_settings(said.clients, said.jwt, said=said.said, message_bytes=said.message_bytes)


def _caller(serve: _Serve) -> Caller:
    return Caller(
        agent=serve.agent,
        session=serve.session,
        role=serve.role,
        user=serve.user,
        groups=tuple(serve.groups),
    )
