"""`bash_exec`: a command line in the workspace; its processes end with the call.

Only time, output and environment are limited here: what a command may access is up to the policy
and the sandbox.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from asyncio.subprocess import Process
from contextlib import suppress
from typing import Any, Self

from policy.model import Execution, Timeout
from policy.tools.handler import ExecutionContext
from policy.tools.handlers import supervisor
from policy.tools.handlers.limits import Limits
from policy.tools.handlers.native import Run
from policy.tools.handlers.shell_start import script_to_run, shell_arguments, shell_environment

_NAME = "bash_exec"
# Marks every process below a call as not started by a person: commands for people only, such as
# answering approval requests, refuse to run if it is set.
CALL_VARIABLE = "PLACET_CALL"
_CHUNK = 65_536
# Without the environment or site-packages, so that it starts fast and loads only this file.
_SUPERVISED = ("-I", "-S", supervisor.__file__)
# How long the supervisor may take to end what was started; longer than its own patience.
_GRACE = 4.0
_ENDING: set[asyncio.Task[None]] = set()


def bash_exec(limits: Limits) -> Run:
    """Return a function that runs command lines, keeping `limits.output` bytes of each stream.

    The call's own `timeout` overrides the configured one, but not the limit of the service.
    """

    async def run(input: dict[str, Any], ctx: ExecutionContext) -> dict[str, Any]:
        asked = input.get("timeout")
        seconds = float(limits.command_seconds if asked is None else asked)
        try:
            async with asyncio.timeout(seconds) as limit:
                return await _finished(input["command"], ctx, limits)
        except TimeoutError as error:
            if not limit.expired():
                raise
            message = f"the command took longer than {seconds:g} seconds and was ended"
            raise Timeout(_NAME, message, seconds=seconds) from error

    return run


async def _finished(command: str, ctx: ExecutionContext, limits: Limits) -> dict[str, Any]:
    """Wait for the shell itself to end; processes it left running end with it.

    The pipes are made here: asyncio's would wait for every process that still holds them.
    """
    most, script = limits.output, script_to_run(_NAME, command)
    async with _Kept(most) as out, _Kept(most) as err:
        streams = (out.write_end, err.write_end)
        started = await _started(script, ctx, limits, streams=streams)
        out.let_go()
        err.let_go()
        try:
            reading = asyncio.gather(out.drain(), err.drain())
            try:
                code = await started.process.wait()
                _kill(started.process)
                await reading
            finally:
                reading.cancel()
                await asyncio.gather(reading, return_exceptions=True)
        finally:
            # Also while the call is being cancelled.
            await started.end()
    return {
        "exit_code": code,
        "stdout": out.text(),
        "stderr": err.text(),
        "truncated": out.cut or err.cut,
    }


async def _started(
    script: str, ctx: ExecutionContext, limits: Limits, *, streams: tuple[int, int]
) -> _Started:
    if ctx.workspace is None:
        raise Execution(_NAME, "there is no workspace to work in")
    if "\0" in script:
        raise Execution(_NAME, "a command line cannot hold a NUL character")
    shell = shell_arguments(script)
    env = shell_environment(ctx.env, workspace=ctx.workspace, inside=limits.command_path)
    env[CALL_VARIABLE] = _NAME
    if shutil.which(shell[0], path=env.get("PATH", os.defpath)) is None:
        raise Execution(_NAME, "the shell could not be started")
    watched, life = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *_SUPERVISED,
            *shell,
            cwd=ctx.workspace,
            env=env,
            stdin=watched,
            stdout=streams[0],
            stderr=streams[1],
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        os.close(life)
        raise Execution(_NAME, "the shell could not be started") from error
    except BaseException:
        # The supervisor sees its server gone, and ends what was started meanwhile.
        os.close(life)
        raise
    finally:
        os.close(watched)
    return _Started(process, life)


class _Started:
    """A supervised command. `life` is the pipe whose closing ends the command."""

    def __init__(self, process: Process, life: int) -> None:
        self.process = process
        self._life = life

    async def end(self) -> None:
        """Have every process of the command ended, even if waiting for it is cancelled."""
        os.close(self._life)
        if self.process.returncode is None:
            ending = asyncio.ensure_future(self._ended())
            _ENDING.add(ending)
            ending.add_done_callback(_ENDING.discard)
            await asyncio.shield(ending)

    async def _ended(self) -> None:
        try:
            async with asyncio.timeout(_GRACE):
                await self.process.wait()
        except TimeoutError:
            _kill(self.process)
            await self.process.wait()
        # The command may have stopped or killed its supervisor.
        _kill(self.process)


class _Kept:
    """The beginning of what is written to a pipe.

    The rest is read too, so that its writer can go on, and dropped.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._content = bytearray()
        self._stream = asyncio.StreamReader()
        self._transport: asyncio.ReadTransport | None = None
        self.write_end = -1
        self.cut = False

    async def __aenter__(self) -> Self:
        read_end, self.write_end = os.pipe()
        self._transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(self._stream), os.fdopen(read_end, "rb")
        )
        return self

    async def __aexit__(self, *ignored: object) -> None:
        self.let_go()
        if self._transport is not None:
            self._transport.close()

    def let_go(self) -> None:
        """Close this process's end for writing, so that the stream ends with its last writer."""
        if self.write_end >= 0:
            os.close(self.write_end)
            self.write_end = -1

    async def drain(self) -> None:
        """Read to the end."""
        while chunk := await self._stream.read(_CHUNK):
            room = self._most - len(self._content)
            self._content += chunk[:room]
            self.cut = self.cut or len(chunk) > room

    def text(self) -> str:
        """Return the kept bytes as text."""
        return self._content.decode("utf-8", "replace")


def _kill(process: Process) -> None:
    # The supervisor leads the group, so the group keeps its number while it has members.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
