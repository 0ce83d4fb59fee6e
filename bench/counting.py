"""Something to do in; how many instructions and calls Python makes of it, out.

Counts are the same on a busy machine as on an idle one, so that a few percent more are seen.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any


@dataclass(slots=True)
class Counts:
    """Instructions of the interpreter, and calls of functions: those in Python and those in C."""

    opcodes: int = 0
    calls: int = 0

    def per(self, number: int) -> dict[str, float]:
        """Return the counts for one of so many, to a hundredth."""
        return {"opcodes": round(self.opcodes / number, 2), "calls": round(self.calls / number, 2)}


@contextmanager
def counting() -> Iterator[Counts]:
    """Count what the functions do that are called inside, in this thread."""
    counts = Counts()

    def trace(frame: FrameType, event: str, _arg: Any) -> Any:
        if event == "opcode":
            counts.opcodes += 1
        elif event == "call":
            counts.calls += 1
            frame.f_trace_lines = False
            frame.f_trace_opcodes = True
        return trace

    def profile(_frame: FrameType, event: str, _arg: Any) -> None:
        if event == "c_call":
            counts.calls += 1

    before = sys.gettrace(), sys.getprofile()
    # A collection would run finalizers of whatever else there is.
    collecting = gc.isenabled()
    gc.collect()
    gc.disable()
    sys.setprofile(profile)
    sys.settrace(trace)
    try:
        yield counts
    finally:
        sys.settrace(before[0])
        sys.setprofile(before[1])
        if collecting:
            gc.enable()


def counted(do: Callable[[], Any]) -> Counts:
    """Return the counts of one call of `do`."""
    with counting() as counts:
        do()
    return counts
