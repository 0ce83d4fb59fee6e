"""`ConfinedProgram`: a running program in its sandbox, and what its sandbox has denied.

Where its connections are judged, it has a proxy in place of a network, which ends with it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from policy.processes import LaunchedProgram
from policy.runtime import Threads
from policy.sandbox.denials import SandboxDenial, denial_of, said_of_lost
from policy.sandbox.driver import SandboxDriver
from policy.sandbox.kept_names import made_paths, said_of_made
from policy.sandbox.network.connecting import RefusedConnection
from policy.sandbox.network.proxy import HostProxy
from policy.sandbox.plan import SandboxPlan

_LOG = logging.getLogger(__name__)
_THREADS = Threads("looking for what was made", most=4)


class ConfinedProgram:
    """A program that `driver` has confined by a plan."""

    def __init__(
        self,
        launched: LaunchedProgram,
        plan: SandboxPlan,
        *,
        driver: SandboxDriver,
        proxy: HostProxy | None = None,
    ) -> None:
        self._launched = launched
        self._plan = plan
        self._driver = driver
        self._proxy = proxy
        self._said = False
        self._made: tuple[str, ...] | None = None
        self._note: Callable[[tuple[str, ...]], None] | None = None

    @property
    def pid(self) -> int:
        """The leader of the program's process group."""
        return self._launched.pid

    @property
    def returncode(self) -> int | None:
        """The exit status; None while it runs."""
        return self._launched.returncode

    @property
    def lost_name(self) -> str | None:
        """The protected name for which it was ended; None if it was not."""
        return self._launched.lost_name

    @property
    def tier(self) -> str:
        """The name of the driver that confines it."""
        return self._driver.name

    @property
    def refused(self) -> tuple[RefusedConnection, ...]:
        """The connections that it was refused so far, each once; none without a proxy."""
        return () if self._proxy is None else self._proxy.refused

    @property
    def made(self) -> tuple[str, ...]:
        """What others run or read as settings and did not exist at its start, but at its end.

        Empty until it has ended.
        """
        return self._made or ()

    def tell(self, note: Callable[[tuple[str, ...]], None]) -> None:
        """Call a function at its end with what has been made, if something has."""
        self._note = note

    async def wait(self) -> int:
        """Wait until the program has ended and return its exit status."""
        status = await self._launched.wait()
        if self.lost_name is not None and not self._said:
            self._said = True
            _LOG.warning("%s", said_of_lost(self.lost_name))
        return status

    def terminate(self) -> None:
        """Ask every process of its group to end."""
        self._launched.terminate()

    async def end(self) -> None:
        """Kill every process that it has started, itself too, and end its connections."""
        try:
            await self._launched.end()
        finally:
            if self._proxy is not None:
                await self._proxy.close()
        if self._made is None:
            await self._look_for_made()

    async def _look_for_made(self) -> None:
        self._made = await _THREADS.run(made_paths, self._plan.writes, self._plan.unkept)
        if self._made:
            _LOG.warning("%s", said_of_made(self._made, subject="a program"))
            if self._note is not None:
                self._note(self._made)

    def denial(
        self,
        status: int,
        errors: str,
        *,
        refused: tuple[str, ...] | None = None,
        subject: str = "this command",
    ) -> SandboxDenial | None:
        """Return why it failed by its sandbox, from its exit status and what it has said.

        `refused` are the connections that concern this failure, by default all of them.
        """
        if self.lost_name is not None:
            return SandboxDenial(tier=self.tier, lost=self.lost_name, subject=subject)
        by_proxy = tuple(each.target for each in self.refused)
        return denial_of(
            self._plan,
            tier=self.tier,
            closed=self._driver.narrowed(self._plan),
            refused=by_proxy if refused is None else refused,
            subject=subject,
            status=status,
            errors=errors,
        )


def refused_connections(program: LaunchedProgram) -> tuple[RefusedConnection, ...]:
    """Return the connections that a program was refused; none for one without a proxy."""
    return program.refused if isinstance(program, ConfinedProgram) else ()
