"""`code_exec`: a program in one of the configured languages, by an interpreter of this machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policy.catalog import CODE_EXEC, Language
from policy.tools.handler import ExecutionContext
from policy.tools.handlers.interpreter_run import Interpreted, require_short, run_code
from policy.tools.handlers.limits import Limits
from policy.tools.handlers.native import Run

# Each runs what it reads from its standard input.
_INTERPRETERS: Mapping[Language, str] = {
    "javascript": "node",
    "perl": "perl",
    "python": "python3",
    "ruby": "ruby",
}


def code_exec(limits: Limits) -> Run:
    """Return a function that runs programs, keeping `limits.output` bytes of each stream."""

    async def run(input: dict[str, Any], ctx: ExecutionContext) -> Any:
        asked, code = input.get("timeout"), input["code"]
        require_short(CODE_EXEC, code)
        program = Interpreted(code=code, interpreter=_INTERPRETERS[input["language"]])
        seconds = float(limits.command_seconds if asked is None else asked)
        done = await run_code(CODE_EXEC, program, seconds=seconds, ctx=ctx, limits=limits)
        return done.output()

    return run
