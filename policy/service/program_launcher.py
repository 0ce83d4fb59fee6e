"""Starts the programs of built-in tools, confined as the configuration in force says."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from policy.catalog import STARTS_PROGRAMS
from policy.environment import SessionWorkspaces, WorkspaceUnusable, look_up_host
from policy.evaluation import Floor
from policy.generation import (
    ConfiningDriver,
    ProcessLimits,
    PythonSettings,
    Reach,
    SandboxSettings,
)
from policy.model import Confinement, GenerationId, SandboxTier
from policy.processes import LaunchedProgram, Launcher, ProgramToStart, SupervisedLauncher
from policy.sandbox import (
    WAYS_ON,
    ConfinedLauncher,
    ConfinedProgram,
    Connect,
    ListedHosts,
    SandboxDriver,
    SandboxMissing,
    SandboxPlan,
    driver_named,
    plan_of,
    problem_of_workspace,
    protected_paths,
    tier_of,
    unenforced,
)
from policy.service.in_flight import enclosing_call
from policy.service.sandbox_connections import connections_of_running_call
from policy.tools import NativeHandler, Registration

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class InForce:
    """What confines programs now: the settings, and the files that no program may write.

    `generation` is the policy that they are of, and `writable` all that code in some sandbox may
    write.
    """

    settings: SandboxSettings
    floor: Floor
    generation: GenerationId | None = None
    python: PythonSettings = field(default_factory=PythonSettings)
    writable: tuple[str, ...] = ()


class ProgramLauncher:
    """A launcher that asks for each program how it is confined: an edit applies to the next one.

    Programs may write in `workspace`, or in that of `workspaces` in which they start, and find an
    empty folder at `home` unless it is configured. `confinement` returns what the rules let the
    program touch that is to be started.
    """

    def __init__(
        self,
        in_force: Callable[[], InForce],
        *,
        workspace: str | None,
        home: str,
        workspaces: SessionWorkspaces | None = None,
        unconfined: Launcher | None = None,
        confinement: Callable[[], Confinement | None] = lambda: None,
    ) -> None:
        self._in_force = in_force
        self._confinement = confinement
        self._workspace = workspace
        self._workspaces = workspaces
        self._home = home
        self._unconfined = unconfined or SupervisedLauncher()
        self._drivers: dict[ConfiningDriver, SandboxDriver] = {}
        self._confined: dict[ConfiningDriver, ConfinedLauncher] = {}
        self._has_tried = False
        self._warned_of = ""

    async def launch(
        self, program: ProgramToStart, *, stdin: int, stdout: int, stderr: int
    ) -> LaunchedProgram:
        """Start a program; raise SandboxMissing where it has to be confined and cannot be."""
        settings = self._in_force().settings
        try:
            _require_enforced(self._confinement(), settings)
            chosen = await self._chosen(settings)
            launched = await chosen.launch(program, stdin=stdin, stdout=stdout, stderr=stderr)
        except SandboxMissing as error:
            self._warn(f"no program is started: {error}")
            raise
        call = enclosing_call()
        if call is not None:
            call.sandbox = launched.tier if isinstance(launched, ConfinedProgram) else "none"
            if isinstance(launched, ConfinedProgram):
                launched.tell(call.note_made)
        return launched

    async def _chosen(self, settings: SandboxSettings) -> Launcher:
        """Return what starts programs by these settings; raise SandboxMissing."""
        if settings.driver == "off":
            problem: str | None = "`[sandbox] driver` is off"
        else:
            confined = self._confined_by(settings.driver)
            problem = await confined.problem()
            if problem is None:
                return confined
        if settings.required:
            raise SandboxMissing(f"{problem}; {WAYS_ON}")
        self._warn(f"programs are not confined, and `[sandbox]` permits that: {problem}")
        return self._unconfined

    def _confined_by(self, driver: ConfiningDriver) -> ConfinedLauncher:
        """Return what starts programs by a driver, which is tried once for all of them."""
        if driver not in self._confined:
            self._confined[driver] = ConfinedLauncher(
                self._driver(driver),
                self._plan,
                launcher=self._unconfined,
                connect_for=self._connect,
            )
        return self._confined[driver]

    def _driver(self, name: ConfiningDriver) -> SandboxDriver:
        """Return the driver of a name, the same each time."""
        if name not in self._drivers:
            self._drivers[name] = driver_named(name)
        return self._drivers[name]

    def name_in_use(self, settings: SandboxSettings) -> str | None:
        """Return the name of the driver that rules are told of; None: of none.

        For `best`, drivers are tried, once; it is `best` as long as none of them works.
        """
        if settings.driver == "off" or not settings.named:
            return None
        driver = self._driver(settings.driver)
        if settings.driver == "best" and not self._has_tried:
            self._has_tried = True
            driver.problem()
        return driver.name

    def _plan(self, program: ProgramToStart) -> SandboxPlan:
        now = self._in_force()
        if program.installs is not None:
            return _installing(
                program,
                program.installs,
                now.python,
                home=self._home,
                private=self._private(),
                writable=now.writable,
            )
        workspace = self._workspace
        if self._workspaces is not None:
            workspace = self._workspaces.containing(program.folder or "")
        return plan_of(
            now.settings.reach,
            folder=program.folder or workspace or self._home,
            home=self._home,
            workspace=workspace,
            kept=protected_paths(now.floor),
            confinement=self._confinement(),
            search=now.settings.search,
            libraries=program.libraries,
            private=self._private(),
            writable=now.writable,
        )

    def _private(self) -> tuple[str, ...]:
        """Return the folder of the workspace, or of those of all sessions."""
        root = self._workspace if self._workspaces is None else self._workspaces.root
        return () if root is None else (root,)

    def _connect(self, program: ProgramToStart) -> Connect:
        """Return what connects a program: by calls of its own if a call has started it."""
        installs = program.installs is not None
        judged = connections_of_running_call(lambda: self._in_force().generation, installs=installs)
        if judged is not None:
            return judged
        now = self._in_force()
        hosts = now.python.hosts if installs else now.settings.reach.connects
        return ListedHosts(hosts, look_up_host)

    def _warn(self, text: str) -> None:
        """Log a warning, once until there is another one: every command would repeat it."""
        if text != self._warned_of:
            self._warned_of = text
            _LOG.warning("%s", text)


def _installing(
    program: ProgramToStart,
    folder: str,
    python: PythonSettings,
    *,
    home: str,
    private: tuple[str, ...],
    writable: tuple[str, ...],
) -> SandboxPlan:
    """Return what a program may touch that installs packages in a folder: that, and an index."""
    reach = Reach(
        reads=program.libraries,
        writes=(folder,),
        network="hosts" if python.hosts else "none",
        limits=ProcessLimits(file_size=python.size),
    )
    return plan_of(
        reach, folder=folder, home=home, workspace=None, private=private, writable=writable
    )


def _require_enforced(confinement: Confinement | None, settings: SandboxSettings) -> None:
    """Raise for a call that is allowed because of a sandbox that an edit has taken away."""
    problem = unenforced(confinement, tier_of(settings, tools=frozenset()))
    if problem is not None:
        raise SandboxMissing(problem)


def require_apart_from_programs(workspaces: str) -> None:
    """Raise WorkspaceUnusable for a folder of workspaces that holds programs of the system."""
    problem = problem_of_workspace(os.path.realpath(os.path.expanduser(workspaces)))
    if problem is not None:
        raise WorkspaceUnusable(problem)


def confinement_of_running_call() -> Confinement | None:
    """Return what the rules let the programs of the call touch whose tool is running here."""
    call = enclosing_call()
    judgement = None if call is None else call.judgement
    return None if judgement is None else judgement.decision.confinement


def confining(
    settings: SandboxSettings, tools: Mapping[str, Registration], *, name: str | None = None
) -> SandboxTier | None:
    """Return what confines the programs of those of the tools that start some by the launcher.

    `name` is that of the driver in use.
    """
    if settings.driver == "off":
        return None
    own = (name for name in STARTS_PROGRAMS if _is_native(tools.get(name)))
    return tier_of(settings, tools=frozenset(own), name=name)


def _is_native(entry: Registration | None) -> bool:
    return entry is not None and isinstance(entry.handler, NativeHandler)
