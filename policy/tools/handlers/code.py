"""`code_exec`: a program in the workspace, run by an interpreter of this machine in a sandbox.

The code is the interpreter's input, not an argument: it may be long, and it shows in no list of
processes.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from policy.catalog import CODE_EXEC, Language
from policy.model import Execution, Timeout
from policy.processes import LaunchedProgram, ProgramToStart
from policy.sandbox import SandboxMissing
from policy.tools.handler import ExecutionContext
from policy.tools.handlers.limits import Limits
from policy.tools.handlers.native import Run
from policy.tools.handlers.program_run import run_to_end
from policy.tools.handlers.shell import CALL_VARIABLE
from policy.tools.handlers.shell_start import shell_environment

_LONGEST = 1_000_000  # characters of a program


@dataclass(frozen=True, slots=True)
class _Interpreter:
    """A program that runs what it reads from its standard input."""

    program: str
    arguments: tuple[str, ...] = ("-",)


_INTERPRETERS: Mapping[Language, _Interpreter] = {
    "javascript": _Interpreter("node"),
    "perl": _Interpreter("perl"),
    "python": _Interpreter("python3"),
    "ruby": _Interpreter("ruby"),
}


def code_exec(limits: Limits) -> Run:
    """Return a function that runs programs, keeping `limits.output` bytes of each stream."""

    async def run(input: dict[str, Any], ctx: ExecutionContext) -> dict[str, Any]:
        asked = input.get("timeout")
        seconds = float(limits.command_seconds if asked is None else asked)
        code = input["code"]
        if len(code) > _LONGEST:
            raise Execution(CODE_EXEC, f"a program has at most {_LONGEST:,} characters")
        try:
            async with asyncio.timeout(seconds) as limit:
                return await run_to_end(
                    lambda out, err: _started(input["language"], code, ctx, limits, out, err),
                    most=limits.output,
                )
        except TimeoutError as error:
            if not limit.expired():
                raise
            message = f"the program took longer than {seconds:g} seconds and was ended"
            raise Timeout(CODE_EXEC, message, seconds=seconds) from error

    return run


async def _started(
    language: Language, code: str, ctx: ExecutionContext, limits: Limits, out: int, err: int
) -> LaunchedProgram:
    if ctx.workspace is None:
        raise Execution(CODE_EXEC, "there is no workspace to work in")
    env = shell_environment(ctx.env, workspace=ctx.workspace, inside=limits.command_path)
    interpreter = _INTERPRETERS[language]
    if shutil.which(interpreter.program, path=env["PATH"]) is None:
        raise Execution(CODE_EXEC, f"`{interpreter.program}` is not installed on this machine")
    env[CALL_VARIABLE] = CODE_EXEC
    program = ProgramToStart(
        # By its name: the first one in PATH may not be there in the sandbox.
        arguments=(interpreter.program, *interpreter.arguments),
        env=env,
        folder=ctx.workspace,
    )
    # A file without a name, so that all of the code is there however fast it is read.
    with tempfile.TemporaryFile() as file:
        file.write(code.encode())
        file.seek(0)
        try:
            return await ctx.launcher.launch(program, stdin=file.fileno(), stdout=out, stderr=err)
        except SandboxMissing:
            raise
        except (OSError, ValueError) as error:
            raise Execution(CODE_EXEC, f"`{interpreter.program}` could not be started") from error
