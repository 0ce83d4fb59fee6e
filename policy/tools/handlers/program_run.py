"""Runs one program to its end: what it has printed, and its exit status."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from policy.processes import KeptOutput, LaunchedProgram
from policy.sandbox import ConfinedProgram, SandboxDenial, said_of_made
from policy.tools.service import ToolOutput

_LOG = logging.getLogger(__name__)
# Starts the program with these descriptors as its standard output and standard error.
Start: TypeAlias = Callable[[int, int], Awaitable[LaunchedProgram]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramResult:
    """What a program has printed, and its exit status; `denial` is why its sandbox made it fail."""

    value: dict[str, Any]
    denial: SandboxDenial | None = None

    def output(self) -> dict[str, Any] | ToolOutput:
        """Return what a handler returns: the value, or with a denial an output that has both."""
        if self.denial is None:
            return self.value
        return ToolOutput(value=self.value, denial=self.denial)


async def run_to_end(start: Start, *, most: int) -> ProgramResult:
    """Wait for the program itself to end; processes it left running end with it.

    `most` bytes of each stream are kept. Where a sandbox seems to be why it failed, the result says
    so, beside what it has printed.
    """
    async with KeptOutput(most) as out, KeptOutput(most) as err:
        started = await start(out.write_end, err.write_end)
        out.let_go()
        err.let_go()
        try:
            reading = asyncio.gather(out.drain(), err.drain())
            try:
                code = await started.wait()
                await reading
            finally:
                reading.cancel()
                await asyncio.gather(reading, return_exceptions=True)
        finally:
            # Also while the call is being cancelled.
            await started.end()
    result: dict[str, Any] = {
        "exit_code": code,
        "stdout": out.text(),
        "stderr": err.text(),
        "truncated": out.cut or err.cut,
    }
    if not isinstance(started, ConfinedProgram):
        return ProgramResult(value=result)
    denial = started.denial(code, err.text())
    if denial is not None:
        _LOG.info("%s", denial.sentence())
        result["sandbox"] = denial.record()
    if started.made:
        result["sandbox"] = _with_made(result.get("sandbox"), started)
    return ProgramResult(value=result, denial=denial)


def _with_made(reported: dict[str, Any] | None, program: ConfinedProgram) -> dict[str, Any]:
    """Return what is reported of a sandbox with what appeared while a program ran in it."""
    said = said_of_made(program.made, subject="this command")
    if reported is None:
        reported = {"tier": program.tier, "denied": []}
    message = " ".join(filter(None, (reported.get("message"), said)))
    return {**reported, "message": message, "made": [*program.made]}
