"""`ProxiedProgram`: a running program whose connections are judged; the proxy ends with it."""

from __future__ import annotations

from policy.processes import LaunchedProgram
from policy.sandbox.network.connecting import RefusedConnection
from policy.sandbox.network.proxy import HostProxy


class ProxiedProgram:
    """A program, and the proxy that it finds in place of a network."""

    def __init__(self, launched: LaunchedProgram, proxy: HostProxy) -> None:
        self._launched = launched
        self._proxy = proxy

    @property
    def pid(self) -> int:
        """The leader of the program's process group."""
        return self._launched.pid

    @property
    def returncode(self) -> int | None:
        """The exit status; None while it runs."""
        return self._launched.returncode

    @property
    def refused(self) -> tuple[RefusedConnection, ...]:
        """The connections that it was refused so far, each once."""
        return self._proxy.refused

    async def wait(self) -> int:
        """Wait until the program has ended and return its exit status."""
        return await self._launched.wait()

    def terminate(self) -> None:
        """Ask every process of its group to end."""
        self._launched.terminate()

    async def end(self) -> None:
        """Kill every process that it has started, and end its connections."""
        try:
            await self._launched.end()
        finally:
            await self._proxy.close()
