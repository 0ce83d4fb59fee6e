"""`bash_exec`: a command line in the workspace; its processes end with the call.

Only time, output and environment are limited here: what a command may access is up to the policy,
and to the sandbox of the launcher.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any

from policy.model import Execution, Timeout
from policy.processes import LaunchedProgram, ProgramToStart
from policy.sandbox import SandboxMissing
from policy.tools.handler import ExecutionContext
from policy.tools.handlers.limits import Limits
from policy.tools.handlers.native import Run
from policy.tools.handlers.program_run import run_to_end
from policy.tools.handlers.shell_start import (
    missing_program,
    script_to_run,
    shell_arguments,
    shell_environment,
)

_NAME = "bash_exec"
# Marks every process below a call as not started by a person: commands for people only, such as
# answering approval requests, refuse to run if it is set.
CALL_VARIABLE = "PLACET_CALL"


def bash_exec(limits: Limits) -> Run:
    """Return a function that runs command lines, keeping `limits.output` bytes of each stream.

    The call's own `timeout` overrides the configured one, but not the limit of the service.
    """

    async def run(input: dict[str, Any], ctx: ExecutionContext) -> Any:
        asked = input.get("timeout")
        seconds = float(limits.command_seconds if asked is None else asked)
        try:
            async with asyncio.timeout(seconds) as limit:
                script = script_to_run(_NAME, input["command"])
                done = await run_to_end(
                    lambda out, err: _started(script, ctx, limits, streams=(out, err)),
                    most=limits.output,
                )
                return done.output()
        except TimeoutError as error:
            if not limit.expired():
                raise
            message = f"the command took longer than {seconds:g} seconds and was ended"
            raise Timeout(_NAME, message, seconds=seconds) from error

    return run


async def _started(
    script: str, ctx: ExecutionContext, limits: Limits, *, streams: tuple[int, int]
) -> LaunchedProgram:
    if ctx.workspace is None:
        raise Execution(_NAME, "there is no workspace to work in")
    if "\0" in script:
        raise Execution(_NAME, "a command line cannot hold a NUL character")
    shell = shell_arguments(script)
    env = shell_environment(ctx.env, workspace=ctx.workspace, inside=limits.command_path)
    env[CALL_VARIABLE] = _NAME
    program = ProgramToStart(arguments=shell, env=env, folder=ctx.workspace)
    nothing = os.open(os.devnull, os.O_RDONLY)
    try:
        return await ctx.launcher.launch(
            program, stdin=nothing, stdout=streams[0], stderr=streams[1]
        )
    except SandboxMissing:
        raise
    except FileNotFoundError as error:
        raise Execution(_NAME, missing_program(shell[0])) from error
    except (OSError, ValueError) as error:
        raise Execution(_NAME, "the shell could not be started") from error
    finally:
        os.close(nothing)
