"""Starts programs in a sandbox, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace

from policy.processes import LaunchedProgram, Launcher, ProgramToStart, SupervisedLauncher
from policy.runtime import Threads
from policy.sandbox.control_groups import counts_processes, groups_for
from policy.sandbox.driver import SandboxDriver
from policy.sandbox.plan import CannotConfine, SandboxPlan

# Not the pool that reloads and look-ups of host names share: no call takes what these need.
_THREADS = Threads("looking for the sandbox", most=4)


class SandboxMissing(OSError):
    """A program was not started, since it cannot be confined; the text says why."""


class ConfinedLauncher:
    """Starts each program confined as `plan_for` says at that time.

    Raises SandboxMissing where it cannot be confined: it never starts one with more access.
    """

    def __init__(
        self,
        driver: SandboxDriver,
        plan_for: Callable[[ProgramToStart], SandboxPlan],
        *,
        launcher: Launcher | None = None,
    ) -> None:
        self._driver = driver
        self._plan_for = plan_for
        self._launcher = launcher or SupervisedLauncher()
        self._works = False

    async def launch(
        self, program: ProgramToStart, *, stdin: int, stdout: int, stderr: int
    ) -> LaunchedProgram:
        """Start a program confined; raise SandboxMissing, or another OSError."""
        problem = await self.problem()
        if problem is not None:
            raise SandboxMissing(problem)
        try:
            plan = self._plan_for(program)
            with ExitStack() as until_started:
                groups = until_started.enter_context(groups_for(plan.limits))
                confined = self._driver.confined(_of_each(plan), program.arguments)
                start = until_started.enter_context(confined)
                return await self._launcher.launch(
                    replace(
                        program,
                        arguments=start.arguments,
                        descriptors=(*program.descriptors, *start.descriptors),
                        groups=groups,
                        temporary=start.temporary,
                        # The sandbox itself starts in a folder that is there in any case.
                        folder="/",
                    ),
                    stdin=stdin,
                    stdout=stdout,
                    stderr=stderr,
                )
        except CannotConfine as error:
            raise SandboxMissing(str(error)) from error

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
