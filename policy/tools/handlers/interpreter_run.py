"""Runs a program by an interpreter of this machine, in the workspace, to its end.

The code is the interpreter's input, not an argument: it may be long, and it shows in no list of
processes.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field

from policy.model import Execution, Timeout
from policy.processes import LaunchedProgram, ProgramToStart
from policy.sandbox import SandboxMissing
from policy.tools.handler import ExecutionContext
from policy.tools.handlers.limits import Limits
from policy.tools.handlers.program_run import ProgramResult, run_to_end
from policy.tools.handlers.shell import CALL_VARIABLE
from policy.tools.handlers.shell_start import missing_program, shell_environment

LONGEST = 1_000_000  # characters of a program


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreted:
    """Code, and the interpreter that runs it: a name in PATH or an absolute path.

    `variables` are added to the environment, and `libraries` are folders that it may read.
    """

    code: str
    interpreter: str
    arguments: tuple[str, ...] = ("-",)
    variables: Mapping[str, str] = field(default_factory=dict)
    libraries: tuple[str, ...] = ()


def environment_for(
    tool: str, ctx: ExecutionContext, *, inside: tuple[str, ...] = ()
) -> dict[str, str]:
    """Return the environment of a program that a tool starts; raise Execution if it has none.

    Folders `inside` the workspace come first in PATH.
    """
    if ctx.workspace is None:
        raise Execution(tool, "there is no workspace to work in")
    env = shell_environment(ctx.env, workspace=ctx.workspace, inside=inside)
    return {**env, CALL_VARIABLE: tool}


def require_short(tool: str, code: str) -> None:
    """Raise Execution for a program that is too long."""
    if len(code) > LONGEST:
        raise Execution(tool, f"a program has at most {LONGEST:,} characters")


async def run_code(
    tool: str, program: Interpreted, *, seconds: float, ctx: ExecutionContext, limits: Limits
) -> ProgramResult:
    """Return what a program has printed, keeping `limits.output` bytes of each stream."""
    try:
        async with asyncio.timeout(seconds) as limit:
            return await run_to_end(
                lambda out, err: _started(tool, program, ctx, limits, out, err), most=limits.output
            )
    except TimeoutError as error:
        if not limit.expired():
            raise
        message = f"the program took longer than {seconds:g} seconds and was ended"
        raise Timeout(tool, message, seconds=seconds) from error


async def _started(
    tool: str, program: Interpreted, ctx: ExecutionContext, limits: Limits, out: int, err: int
) -> LaunchedProgram:
    env = {**environment_for(tool, ctx, inside=limits.command_path), **program.variables}
    if shutil.which(program.interpreter, path=env["PATH"]) is None:
        raise Execution(tool, missing_program(program.interpreter))
    to_start = ProgramToStart(
        # By its name: the first one in PATH may not be there in the sandbox.
        arguments=(program.interpreter, *program.arguments),
        env=env,
        folder=ctx.workspace,
        libraries=program.libraries,
    )
    # A file without a name, so that all of the code is there however fast it is read.
    with tempfile.TemporaryFile() as file:
        file.write(program.code.encode())
        file.seek(0)
        try:
            return await ctx.launcher.launch(to_start, stdin=file.fileno(), stdout=out, stderr=err)
        except SandboxMissing:
            raise
        except (OSError, ValueError) as error:
            message = f"`{program.interpreter}` could not be started"
            raise Execution(tool, message) from error
