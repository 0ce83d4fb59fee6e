"""`bash_exec`: a command line in the workspace, in a process group that does not outlive its call.

This confines nothing but time, output and environment: what a command may touch is the policy's
and the sandbox's matter.
"""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import Process
from contextlib import suppress
from typing import Any

from policy.errors import Execution, Timeout
from policy.service.handler import ExecutionContext
from policy.service.handlers.limits import Limits
from policy.service.handlers.native import Run

_NAME = "bash_exec"
_CHUNK = 65_536


def bash_exec(limits: Limits) -> Run:
    """Return what runs command lines, keeping `limits.output` bytes of each stream."""

    async def run(input: dict[str, Any], ctx: ExecutionContext) -> dict[str, Any]:
        process = await _started(input["command"], ctx)
        seconds = input.get("timeout")
        try:
            async with asyncio.timeout(seconds) as limit:
                return await _finished(process, limits.output)
        except TimeoutError as error:
            if not limit.expired():
                raise
            message = f"the command took longer than {seconds} seconds and was ended"
            raise Timeout(_NAME, message, seconds=float(seconds or 0)) from error
        finally:
            await _ended(process)

    return run


async def _started(command: str, ctx: ExecutionContext) -> Process:
    if ctx.workspace is None:
        raise Execution(_NAME, "there is no workspace to work in")
    if "\0" in command:
        raise Execution(_NAME, "a command line cannot hold a NUL character")
    try:
        return await asyncio.create_subprocess_exec(
            "bash",
            "--noprofile",
            "--norc",
            "-c",
            command,
            cwd=ctx.workspace,
            env=dict(ctx.env),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise Execution(_NAME, "the shell could not be started") from error


async def _finished(process: Process, most: int) -> dict[str, Any]:
    """Wait for the shell itself to end; what it left running ends with it."""
    assert process.stdout is not None
    assert process.stderr is not None
    out, err = _Kept(most), _Kept(most)
    reading = asyncio.gather(out.drain(process.stdout), err.drain(process.stderr))
    try:
        code = await process.wait()
        _kill(process)
        await reading
    finally:
        reading.cancel()
    return {
        "exit_code": code,
        "stdout": out.text(),
        "stderr": err.text(),
        "truncated": out.cut or err.cut,
    }


class _Kept:
    """The beginning of a stream; the rest is read, so that its writer goes on, and dropped."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._content = bytearray()
        self.cut = False

    async def drain(self, stream: asyncio.StreamReader) -> None:
        while chunk := await stream.read(_CHUNK):
            room = self._most - len(self._content)
            self._content += chunk[:room]
            self.cut = self.cut or len(chunk) > room

    def text(self) -> str:
        return self._content.decode("utf-8", "replace")


async def _ended(process: Process) -> None:
    """Kill the whole group and wait for the shell, also while the call is being cancelled."""
    _kill(process)
    await asyncio.shield(process.wait())


def _kill(process: Process) -> None:
    # The shell leads its group, so its number names the group as long as anybody is in it.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
