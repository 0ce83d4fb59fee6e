"""Refusals -> a program for the kernel's filter of system calls (seccomp, classic BPF).

The program is a sequence of blocks, one for each refused call: it compares the number of the call,
and its arguments where the refusal depends on them. A call in no block is allowed. A call by the
numbers of another architecture (i386 and x32 on x86_64) ends the program: they would need tables of
their own, and one that was forgotten would be a way out.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator
from typing import NamedTuple, assert_never

from policy.sandbox.plan import CannotConfine
from policy.sandbox.seccomp.numbers import ARCHITECTURES, Architecture
from policy.sandbox.seccomp.refusals import HasBits, Is, IsNot, Refusal, Test

# <linux/filter.h>
_LOAD = 0x20
_AND = 0x54
_JUMP_EQUAL = 0x15
_JUMP_AT_LEAST = 0x35
_JUMP_BITS = 0x45
_RETURN = 0x06
# <linux/seccomp.h>: the answers, and where the parts of a call stand
_ALLOW = 0x7FFF0000
_FAIL = 0x00050000
_KILL = 0x80000000
_NUMBER = 0
_ARCHITECTURE = 4
_ARGUMENTS = 16


class Instruction(NamedTuple):
    """One instruction; a jump skips `yes` or `no` of those that follow."""

    code: int
    value: int
    yes: int = 0
    no: int = 0

    def packed(self) -> bytes:
        """Return it as the kernel reads it: `struct sock_filter`."""
        return struct.pack("=HBBI", self.code, self.yes, self.no, self.value)


def filter_of(refused: Iterable[Refusal], *, machine: str | None = None) -> bytes:
    """Return the program that refuses these calls; raise CannotConfine for an unknown machine."""
    name = os.uname().machine if machine is None else machine
    architecture = ARCHITECTURES.get(name)
    if architecture is None:
        raise CannotConfine(f"system calls cannot be filtered on {name}")
    return b"".join(each.packed() for each in _program(architecture, refused))


def _program(architecture: Architecture, refused: Iterable[Refusal]) -> Iterator[Instruction]:
    yield Instruction(_LOAD, _ARCHITECTURE)
    yield Instruction(_JUMP_EQUAL, architecture.audit, yes=1)
    yield Instruction(_RETURN, _KILL)
    yield Instruction(_LOAD, _NUMBER)
    if architecture.foreign is not None:
        yield Instruction(_JUMP_AT_LEAST, architecture.foreign, no=1)
        yield Instruction(_RETURN, _KILL)
    for refusal in refused:
        number = architecture.numbers.get(refusal.call)
        if number is not None:
            block = [*_block(refusal)]
            yield Instruction(_JUMP_EQUAL, number, no=len(block))
            yield from block
    yield Instruction(_RETURN, _ALLOW)


def _block(refusal: Refusal) -> Iterator[Instruction]:
    """Yield what answers one call, whatever its arguments."""
    failing = ((case, refusal.error) for case in refusal.cases)
    ignored = ((case, 0) for case in refusal.ignored)
    for case, error in (*failing, *ignored):
        answer = [Instruction(_RETURN, _FAIL | error)]
        for test in reversed(case):
            answer = [*_tested(test, otherwise=len(answer)), *answer]
        yield from answer
    if () not in refusal.cases:
        yield Instruction(_RETURN, _ALLOW)


def _tested(test: Test, *, otherwise: int) -> list[Instruction]:
    """Return what goes on where a test holds, and skips `otherwise` instructions where not."""
    # Both machines store the lower half of an argument first.
    half = 4 if isinstance(test, HasBits) and test.upper else 0
    load = Instruction(_LOAD, _ARGUMENTS + 8 * test.argument + half)
    match test:
        case HasBits():
            return [load, Instruction(_JUMP_BITS, test.bits, no=otherwise)]
        case Is():
            last = len(test.values) - 1
            return [
                load,
                *(
                    Instruction(
                        _JUMP_EQUAL, value, yes=last - place, no=otherwise if place == last else 0
                    )
                    for place, value in enumerate(test.values)
                ),
            ]
        case IsNot():
            last = len(test.values) - 1
            return [
                load,
                Instruction(_AND, test.bits),
                *(
                    Instruction(_JUMP_EQUAL, value, yes=last - place + otherwise)
                    for place, value in enumerate(test.values)
                ),
            ]
    assert_never(test)
