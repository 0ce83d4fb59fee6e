"""Starts programs in a sandbox, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace

from policy.processes import (
    LaunchedProgram,
    Launcher,
    ProgramToStart,
    SupervisedLauncher,
    require_program,
)
from policy.runtime import Threads, after_waiting
from policy.sandbox.confined_program import ConfinedProgram
from policy.sandbox.control_groups import counts_processes, groups_for
from policy.sandbox.denials import SandboxDenial
from policy.sandbox.driver import SandboxDriver
from policy.sandbox.network.connecting import Connect
from policy.sandbox.network.environment import proxy_environment
from policy.sandbox.network.inside_listener import InsideListener, NoListener
from policy.sandbox.network.proxy import HostProxy
from policy.sandbox.plan import CannotConfine, SandboxPlan
from policy.sandbox.readable_path import readable_path

# Not the pool that reloads and look-ups of host names share: no call takes what these need.
_THREADS = Threads("looking for the sandbox", most=4)
_PLANS = Threads("planning sandboxes", most=16, fair=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Streams:
    """The descriptors of a program's standard streams."""

    stdin: int
    stdout: int
    stderr: int


class SandboxMissing(OSError):
    """A program was not started, since it cannot be confined; the text says why.

    With `for_caller`, whoever called the tool is told, too.
    """

    def __init__(self, text: str, *, for_caller: bool = False) -> None:
        super().__init__(text)
        self.for_caller = for_caller


class SandboxTooWide(Exception):
    """A call was not sent to code that runs in a wider sandbox than its rules allow."""


class SandboxDenied(Exception):
    """A tool failed, and its sandbox seems to be why; the text says how it failed.

    `uncertain`: nobody knows whether it has run to its end.
    """

    def __init__(self, text: str, denial: SandboxDenial, *, uncertain: bool = False) -> None:
        super().__init__(text)
        self.denial = denial
        self.uncertain = uncertain


class ConfinedLauncher:
    """Starts each program confined as `plan_for` says at that time.

    Raises SandboxMissing where it cannot be confined: it never starts one with more access.
    `connect_for` returns what connects a program to hosts, where it reaches some of them.
    """

    def __init__(
        self,
        driver: SandboxDriver,
        plan_for: Callable[[ProgramToStart], SandboxPlan],
        *,
        launcher: Launcher | None = None,
        connect_for: Callable[[ProgramToStart], Connect] | None = None,
    ) -> None:
        self._driver = driver
        self._plan_for = plan_for
        self._launcher = launcher or SupervisedLauncher()
        self._connect_for = connect_for
        self._works = False

    async def with_plan(self, plan: SandboxPlan, connect: Connect) -> ConfinedLauncher:
        """Return a launcher of programs with a plan of their own, by the same driver."""
        await self.problem()
        other = ConfinedLauncher(
            self._driver,
            lambda program: plan,
            launcher=self._launcher,
            connect_for=lambda program: connect,
        )
        other._works = self._works
        return other

    async def launch(
        self, program: ProgramToStart, *, stdin: int, stdout: int, stderr: int
    ) -> ConfinedProgram:
        """Start a program confined; raise SandboxMissing, or another OSError."""
        problem = await self.problem()
        if problem is not None:
            raise SandboxMissing(problem)
        require_program(program)
        streams = _Streams(stdin=stdin, stdout=stdout, stderr=stderr)
        try:
            # It may look through a large workspace.
            plan = await _PLANS.run(self._plan_for, program)
            await after_waiting()
            if plan.network == "hosts":
                launched, proxy = await self._launch_proxied(plan, program, streams)
            else:
                launched, proxy = await self._launch(plan, program, streams), None
        except CannotConfine as error:
            raise SandboxMissing(str(error), for_caller=error.for_caller) from error
        except NoListener as error:
            raise SandboxMissing(str(error)) from error
        return ConfinedProgram(launched, plan, driver=self._driver, proxy=proxy)

    async def _launch(
        self,
        plan: SandboxPlan,
        program: ProgramToStart,
        streams: _Streams,
        *,
        inside: InsideListener | None = None,
    ) -> LaunchedProgram:
        with ExitStack() as until_started:
            groups = until_started.enter_context(groups_for(plan.limits))
            confined = self._driver.confined(_of_each(plan), program.arguments)
            start = until_started.enter_context(confined)
            if inside is not None:
                start = inside.waited_for_by(start)
            return await self._launcher.launch(
                replace(
                    program,
                    arguments=start.arguments,
                    env=readable_path(plan, program.env),
                    descriptors=(*program.descriptors, *start.descriptors),
                    groups=groups,
                    temporary=start.temporary,
                    guarded=start.guarded,
                    released=start.released,
                    core_dumps=False,
                    beside=None if inside is None else inside.beside,
                    # The sandbox itself starts in a folder that is there in any case.
                    folder="/",
                ),
                stdin=streams.stdin,
                stdout=streams.stdout,
                stderr=streams.stderr,
            )

    async def _launch_proxied(
        self, plan: SandboxPlan, program: ProgramToStart, streams: _Streams
    ) -> tuple[LaunchedProgram, HostProxy]:
        """Start a program that finds a proxy in place of a network."""
        if self._connect_for is None:
            raise CannotConfine("nothing here judges the connections of programs")
        proxy = None
        program = replace(program, env={**program.env, **proxy_environment()})
        with InsideListener() as inside:
            launched = await self._launch(plan, program, streams, inside=inside)
            try:
                proxy = HostProxy(await inside.listener(), self._connect_for(program))
            finally:
                if proxy is None:
                    await launched.end()
            proxy.start()
        return launched, proxy

    async def problem(self) -> str | None:
        """Return why nothing can be confined here; asked until it can, as it may be installed."""
        if self._works:
            return None
        problem = await _THREADS.run(self._driver.problem)
        self._works = problem is None
        return problem


def _of_each(plan: SandboxPlan) -> SandboxPlan:
    """Return a plan without what a control group limits: the system's own limit is of a user."""
    if plan.limits.processes is None or not counts_processes():
        return plan
    return replace(plan, limits=replace(plan.limits, processes=None))
