"""Builds the service around a policy store and tools: the whole stack, in one list."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Protocol, TypeAlias

from policy.approvals import Ledger
from policy.audit import AuditSink, JsonlSink
from policy.catalog import Catalog, ToolSpec
from policy.environment import FactSource, LookUp, look_up_host, open_workspaces
from policy.evaluation import Floor
from policy.generation import (
    ApprovalSettings,
    Generation,
    SandboxSettings,
    ServiceSettings,
    Settings,
    server_folders,
)
from policy.model import EMPTY, Caller, SandboxTier
from policy.processes import Launcher
from policy.runtime import Clock, utc_now
from policy.sandbox import writable_folders
from policy.service.acknowledging import Acknowledging
from policy.service.announcing import Announcing, ToolsOfPolicy
from policy.service.asking.asking import Asking
from policy.service.asking.ledgers import ledger_for, warn_of_another_store
from policy.service.configuration import Configurations
from policy.service.elevations import Elevations
from policy.service.facade import GovernedService
from policy.service.facade_operations import Recorded
from policy.service.freezes import Freezes
from policy.service.host_arguments import (
    folder_of,
    keep_from_tools,
    require_arguments,
    settle_reach,
    warn_without_policy,
)
from policy.service.host_objects import AnyApprover
from policy.service.judging.adjudicator import Adjudicator
from policy.service.judging.guards import GuardCell
from policy.service.judging.judge import Judge, NoPolicy
from policy.service.layers.audit import ExecAuditLayer
from policy.service.layers.context_rules import ContextRuleLayer
from policy.service.layers.dispatch import CoreDispatch
from policy.service.layers.follow import FollowLayer
from policy.service.layers.frozen_calls import FrozenCalls
from policy.service.layers.permission import PermissionLayer
from policy.service.layers.pin import PinLayer
from policy.service.layers.stop import StopLayer
from policy.service.layers.time_limits import TimeLimits
from policy.service.layers.timeout import SecondsFor, TimeoutLayer
from policy.service.program_launcher import (
    InForce,
    ProgramLauncher,
    confinement_of_running_call,
    confining,
    require_apart_from_programs,
)
from policy.service.recording.events import Events
from policy.service.recording.recorder import Recorder
from policy.service.restart_notice import say_what_waits
from policy.service.sandbox_connections import running_call, sandbox_connect_handler
from policy.service.sessions import Hearing, JudgedHistory, SessionLog, open_session_log
from policy.service.visible_tools import (
    Expected,
    VisibleTools,
    hiding,
    rule_lines_for,
    visibility_of_tools,
)
from policy.store import Acknowledgements, Freezer
from policy.tools import (
    Authored,
    Limits,
    Registration,
    ToolRegistry,
    ToolService,
    builtin_handlers,
    confined_by,
    handler_for,
)

Middleware: TypeAlias = Callable[[ToolService], ToolService]


class Store(ToolsOfPolicy, Protocol):
    """The part of a policy store that the service uses."""

    @property
    def current(self) -> Judge | None:
        """The generation in force."""
        ...

    @property
    def status(self) -> Any:
        """How fresh that generation is; `stale` is a bool."""
        ...

    @property
    def catalog(self) -> Catalog:
        """The tools that policies know."""
        ...


def build_tool_service(
    store: Store | None = None,
    *,
    tools: Iterable[Authored] | None = None,
    approver: AnyApprover | None = None,
    approvals: Ledger | None = None,
    audit: AuditSink | None = None,
    audit_required: bool = True,
    sessions: SessionLog | None = None,
    caller: Caller | None = None,
    workspace: str | os.PathLike[str] | None = None,
    home: str | os.PathLike[str] | None = None,
    context: Callable[[Caller], Mapping[str, Any]] = lambda caller: EMPTY,
    clock: Clock = utc_now,
    look_up: LookUp = look_up_host,
    default_timeout: float | None = None,
    timeouts: Mapping[str, float] | None = None,
    approval_timeout: float | None = None,
    asks_per_session: int | None = None,
    limits: Limits | None = None,
    policy_in_workspace: bool | None = None,
    launcher: Launcher | None = None,
) -> GovernedService:
    """Return the service that runs `tools` as the policy in `store` decides.

    Without a store everything is denied until a filter is set. `tools` default to the built-in
    ones; they work in `workspace`, by default the current folder, or with `[service] workspaces` in
    a folder of each session tree. `caller` is the caller of the
    service unless it is bound to another. `default_timeout` and `timeouts` (by tool) are in seconds
    and override those of the policy's configuration. `approvals` stores refusals and standing
    approvals, by default the store of an `ApprovalGate`, else memory; `sessions` keeps the earlier
    calls of sessions, in the file of `[history] store` or in memory. Workspace, home, audit file
    and limits default to the configuration as it was when the service was built; so do
    `approval_timeout` (seconds) and `asks_per_session`. If the policy is in the workspace, or
    contains it, a warning is logged; `policy_in_workspace` True allows it, False makes it an error.
    `launcher` starts programs, by default confined as `[sandbox]` in force says.

    Raises CatalogError or ToolError if two tools have the same name, PolicyInvalid if the policy
    has errors with these tools that it does not have without them, TypeError or ValueError for
    invalid arguments, such as an audit sink without a `write`, or with an async one, which nothing
    would await, an approver that cannot be asked, a gate with another store than `approvals`, a
    workspace that is not a folder, and a policy in reach of the tools that must not be
    (PolicyInReach), and WorkspaceUnusable if sessions cannot have their own.
    """
    require_arguments(
        store=store,
        audit=audit,
        approvals=approvals,
        caller=caller,
        context=context,
        clock=clock,
        look_up=look_up,
        limits=limits,
        seconds={
            **(timeouts or {}),
            "default_timeout": default_timeout,
            "approval_timeout": approval_timeout,
        },
        asks_per_session=asks_per_session,
    )
    ledger = ledger_for(approver, approvals)
    guards = GuardCell(ledger=ledger)
    guards.set_approver(approver)
    warn_of_another_store(approver, store)
    given_folder = None if workspace is None else folder_of(workspace)
    given = None if tools is None else tuple(handler_for(each) for each in tools)
    announcing = Announcing(store)
    registry = ToolRegistry(announcing)
    # First, because a policy that names these tools loads only once it knows them, and its
    # configuration applies from the first call on.
    announcing.at_start(given or (), by=registry)
    configured = _configured(store)
    settings, asked = configured.service, configured.approvals or ApprovalSettings()
    folder, workspaces, place = given_folder, None, getattr(store, "path", None)
    if folder is None and settings.workspaces is not None:
        keep = settings.workspaces_keep
        require_apart_from_programs(settings.workspaces)
        workspaces = open_workspaces(settings.workspaces, policy=place, keep=keep)
    else:
        folder = folder or os.path.realpath(settings.workspace or os.getcwd())
        settle_reach(place, folder, wanted=policy_in_workspace)
    # `~` must mean the same folder in rules and in a shell.
    at_home = os.fspath(home or settings.home or os.path.expanduser("~"))
    allowed = limits or limits_of(settings)
    handlers = tuple(builtin_handlers(allowed)) if given is None else given
    announcing.at_start(handlers, by=registry)
    warn_without_policy(store)
    say_what_waits(store, settings)
    if audit is None and settings.audit is not None:
        audit = JsonlSink(settings.audit)
    if sessions is None:
        sessions = open_session_log(configured.history)
    keep_from_tools(store, audit, ledger, sessions)
    events = Events()
    recorder = Recorder(audit, required=audit_required, events=events)
    recorder.close_interrupted()
    for handler in handlers:
        registry.register_known(handler)
    if any(handler.spec.exec_class for handler in handlers):
        registry.register_known(sandbox_connect_handler())
    hearing = Hearing(sessions)
    fact_source = FactSource(
        workspace=folder,
        workspaces=workspaces,
        home=at_home,
        clock=clock,
        look_up=look_up,
        context=context,
        history=partial(JudgedHistory, sessions),
        said=hearing.recall,
        server_folders=lambda: server_folders(_configured(store).mcp_servers),
    )
    no_policy = NoPolicy(lambda: registry.snapshot().catalog)

    def source() -> Judge | None:
        return no_policy if store is None else store.current

    starting = ProgramLauncher(
        partial(_in_force, source),
        workspace=folder,
        home=at_home,
        workspaces=workspaces,
        confinement=confinement_of_running_call,
    )
    stops = FrozenCalls(_freezer_of(store))
    adjudicator = Adjudicator(
        source=source,
        guards=guards,
        fact_source=fact_source,
        tools=registry.snapshot,
        stale=lambda: store is not None and bool(store.status.stale),
        freezer=stops.freezer,
        running=running_call,
        sandbox=partial(
            _sandbox, tools=registry.snapshot, starting=starting if launcher is None else None
        ),
    )
    asking = Asking(
        ledger=ledger,
        limit=asked.per_session if asks_per_session is None else asks_per_session,
        seconds=asked.timeout if approval_timeout is None else approval_timeout,
        clock=clock,
        stops=stops,
    )

    def outlook_of(who: Caller) -> Expected:
        judge = source()
        expected = visibility_of_tools(judge, guards.current, who, fact_source.facts(who))
        return hiding(expected, lambda name: adjudicator.is_another(name, judge))

    def spec_of(name: str) -> ToolSpec | None:
        entry = registry.snapshot().get(name)
        return None if entry is None else entry.handler.spec

    def recorded(inner: ToolService) -> ToolService:
        return ExecAuditLayer(inner, recorder=recorder, events=events, clock=clock)

    return GovernedService(
        stack=_layers(
            registry,
            recorded=recorded,
            adjudicator=adjudicator,
            asking=asking,
            sessions=sessions,
            seconds_for=TimeLimits(default_timeout, timeouts or {}, registry),
            stops=stops,
        ),
        registry=registry,
        guards=guards,
        events=events,
        elevations=Elevations(asking.requester, guards, recorded=recorded),
        configurations=Configurations(store, guards, recorded=recorded),
        hearing=hearing,
        freezes=Freezes(stops.freezer, guards, recorded=recorded),
        acknowledging=_acknowledging_of(store, guards, recorded=recorded),
        visibility=VisibleTools(
            outlook_of,
            lines_of=lambda who: rule_lines_for(source(), who, fact_source.facts(who)),
            spec_of=spec_of,
            foreseen=adjudicator.foreseen,
        ),
        caller=caller or Caller(),
        workspace=folder,
        workspaces=workspaces,
        env=_environment(folder, at_home),
        launcher=launcher or starting,
    )


def _layers(
    registry: ToolRegistry,
    *,
    recorded: Middleware,
    adjudicator: Adjudicator,
    asking: Asking,
    sessions: SessionLog,
    seconds_for: SecondsFor,
    stops: FrozenCalls,
) -> ToolService:
    """Return the registry's dispatch with every layer around it, in the fixed order."""
    return stacked(
        CoreDispatch(registry),
        # Around all others, so that a call that a tool returns is a call like any other.
        FollowLayer,
        # Outside everything that can refuse, so that denials, timeouts and crashes are recorded.
        recorded,
        # The call is read and judged once, by one generation; all further layers use that.
        lambda inner: PinLayer(inner, adjudicator),
        # Deny stops here; ask goes to the approver, who sees the call as it will run.
        lambda inner: PermissionLayer(
            inner, adjudicator=adjudicator, asking=asking, sessions=sessions
        ),
        # Forwards the judged call, rewritten or not.
        lambda inner: ContextRuleLayer(inner, adjudicator=adjudicator),
        # The last check of the emergency stop, which also ends running calls.
        lambda inner: StopLayer(inner, stops),
        # Inside of permission: waiting for a person does not use up the tool's time.
        lambda inner: TimeoutLayer(inner, seconds_for),
    )


def _in_force(source: Callable[[], Judge | None]) -> InForce:
    """Return what confines programs by the policy in force; without one, nothing is started."""
    judge = source()
    if isinstance(judge, Generation):
        settings = judge.settings
        return InForce(
            settings=settings.sandbox,
            floor=judge.floor,
            generation=judge.id,
            python=settings.service.python,
            writable=writable_folders(settings),
        )
    return InForce(settings=SandboxSettings(), floor=Floor())


def _sandbox(
    judge: Judge,
    tool: str,
    *,
    tools: Callable[[], Mapping[str, Registration]],
    starting: ProgramLauncher | None,
) -> SandboxTier | None:
    """Return what confines the code of a tool; of a built-in one, what the policy configures."""
    found = tools()
    entry = found.get(tool)
    own = None if entry is None else confined_by(entry.handler)
    if own is not None or starting is None or not isinstance(judge, Generation):
        return own
    settings = judge.settings.sandbox
    return confining(settings, found, name=starting.name_in_use(settings))


def _freezer_of(store: Store | None) -> Freezer:
    """Return the emergency stop of a store's policy; without a store, one for this process."""
    found = getattr(store, "freezer", None)
    return found if isinstance(found, Freezer) else Freezer()


def _acknowledging_of(
    store: Store | None, guards: GuardCell, *, recorded: Recorded
) -> Acknowledging:
    """Return how edits of a store's policy are acknowledged; without a store, none ever waits."""
    found = getattr(store, "acknowledgements", None)
    kept = found if isinstance(found, Acknowledgements) else Acknowledgements()
    return Acknowledging(kept, guards, recorded=recorded, reload=getattr(store, "reload", None))


def stacked(core: ToolService, *outermost_first: Middleware) -> ToolService:
    """Return `core` with the middlewares around it, the first of them outermost."""
    service = core
    for around in reversed(outermost_first):
        service = around(service)
    return service


def _configured(store: Store | None) -> Settings:
    """Return the settings of the policy's configuration."""
    judge = None if store is None else store.current
    return judge.settings if isinstance(judge, Generation) else Settings()


def limits_of(settings: ServiceSettings) -> Limits:
    """Return the limits of the built-in tools that a configuration sets."""
    return Limits(
        workspace_bytes=settings.workspaces_size,
        workspace_files=settings.workspaces_files,
        output=settings.bash.output,
        body=settings.web.body,
        command_seconds=settings.bash.timeout,
        command_path=settings.bash.path,
        code_languages=settings.code.languages,
        python=settings.python,
        web_seconds=settings.web.timeout,
    )


def _environment(folder: str | None, home: str) -> Mapping[str, str]:
    """Return the environment of programs: where programs are found, and no secrets."""
    path = os.environ.get("PATH", "/usr/local/bin:/usr/bin:/bin")
    env = {"PATH": path, "HOME": home, "LANG": "C.UTF-8"}
    return env if folder is None else {**env, "PWD": folder}
