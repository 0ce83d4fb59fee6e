"""The filter of system calls, by an interpreter of its programs; the kernel runs it in the others.

Numbers of calls are compared with those of libseccomp.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import errno
import struct
from itertools import chain

import pytest

from policy.sandbox import CannotConfine
from policy.sandbox.seccomp.filter import filter_of
from policy.sandbox.seccomp.numbers import ARCHITECTURES
from policy.sandbox.seccomp.refusals import refusals, refusals_among_others

MACHINES = sorted(ARCHITECTURES)
ALLOWED, KILLED = 0x7FFF0000, 0x80000000
EVERYWHERE, AMONG_OTHERS = refusals(), refusals_among_others(())


def answer(
    program: bytes, machine: str, number: int, *arguments: int, audit: int | None = None
) -> int:
    """Run a filter on one call, as <linux/filter.h> describes it."""
    padded = (*arguments, 0, 0, 0, 0, 0, 0)[:6]
    own = ARCHITECTURES[machine].audit
    call = struct.pack("=IIQ6Q", number, own if audit is None else audit, 0, *padded)
    accumulator, at = 0, 0
    while True:
        code, yes, no, value = struct.unpack_from("=HBBI", program, 8 * at)
        at += 1
        match code:
            case 0x20:
                (accumulator,) = struct.unpack_from("=I", call, value)
            case 0x54:
                accumulator &= value
            case 0x15:
                at += yes if accumulator == value else no
            case 0x35:
                at += yes if accumulator >= value else no
            case 0x45:
                at += yes if accumulator & value else no
            case 0x06:
                return int(value)
            case _:
                raise AssertionError(code)


def failing(error: int) -> int:
    return 0x00050000 | error


@pytest.mark.parametrize("machine", MACHINES)
def test_the_numbers_are_those_of_libseccomp(machine: str) -> None:
    found = ctypes.util.find_library("seccomp")
    if found is None:
        pytest.skip("libseccomp is not installed here")
    resolve = ctypes.CDLL(found).seccomp_syscall_resolve_name_arch
    for name, number in ARCHITECTURES[machine].numbers.items():
        # Calls that are newer than the library are unknown to it.
        assert resolve(ARCHITECTURES[machine].audit, name.encode()) in {number, -1}, name
    assert resolve(ARCHITECTURES[machine].audit, b"io_uring_setup") == 425


def test_each_refusal_names_a_call_once() -> None:
    known = set(chain.from_iterable(each.numbers for each in ARCHITECTURES.values()))
    for refused in (EVERYWHERE, AMONG_OTHERS):
        names = [each.call for each in refused]
        assert len(names) == len(set(names))
        assert set(names) <= known


@pytest.mark.parametrize("machine", MACHINES)
def test_a_call_that_nothing_refuses_is_allowed(machine: str) -> None:
    program = filter_of(AMONG_OTHERS, machine=machine)
    numbers = ARCHITECTURES[machine].numbers
    refused = {numbers.get(each.call) for each in AMONG_OTHERS}
    for number in set(range(700)) - refused:
        assert answer(program, machine, number, 0xFFFFFFFF, 0xFFFFFFFF) == ALLOWED


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("call", "arguments", "error"),
    [
        ("io_uring_setup", (), errno.ENOSYS),
        ("clone3", (), errno.ENOSYS),
        ("openat2", (), errno.ENOSYS),
        ("keyctl", (), errno.EPERM),
        ("mount", (), errno.EPERM),
        ("bpf", (), errno.EPERM),
        # CLONE_NEWUSER, and what `fork` and threads ask for
        ("clone", (0x10000000 | 17,), errno.EPERM),
        ("clone", (0x01200011,), None),
        ("clone", (0x3D0F00,), None),
        ("unshare", (0x10000000,), errno.EPERM),
        ("unshare", (0x80,), errno.EPERM),
        ("unshare", (0x400,), None),
        # The kernel looks at 32 bits of a request.
        ("ioctl", (0, 0x5412), errno.EPERM),
        ("ioctl", (0, 0x5412 | 1 << 32), errno.EPERM),
        ("ioctl", (0, 0x541C), errno.EPERM),
        ("ioctl", (0, 0x5413), None),
        ("socket", (1, 1), None),
        ("socket", (10, 2), None),
        ("socket", (40, 1), errno.EAFNOSUPPORT),
        ("socketpair", (1, 2), None),
        ("fchmodat", (0, 0, 0o4755), errno.EPERM),
        ("fchmodat", (0, 0, 0o2755), errno.EPERM),
        ("fchmodat", (0, 0, 0o1777), None),
        # The mode counts where a file is made: with O_CREAT or O_TMPFILE
        ("openat", (0, 0, 0o101, 0o4755), errno.EPERM),
        ("openat", (0, 0, 0o20200002, 0o4755), errno.EPERM),
        ("openat", (0, 0, 0o101, 0o755), None),
        ("openat", (0, 0, 0o200001, 0o4755), None),
        ("mknodat", (0, 0, 0o104755), errno.EPERM),
        ("prlimit64", (1,), None),
        # RLIMIT_CORE stays, and is read; the address of a new one has 64 bits.
        ("setrlimit", (4, 0x1000), 0),
        ("setrlimit", (7, 0x1000), None),
        ("prlimit64", (0, 4, 0x1000), 0),
        ("prlimit64", (0, 4, 1 << 32), 0),
        ("prlimit64", (0, 4, 0, 0x1000), None),
        ("prlimit64", (0, 7, 0x1000), None),
        ("shmget", (), None),
    ],
)
def test_what_every_sandbox_refuses(
    machine: str, call: str, arguments: tuple[int, ...], error: int | None
) -> None:
    number = ARCHITECTURES[machine].numbers[call]
    found = answer(filter_of(EVERYWHERE, machine=machine), machine, number, *arguments)
    assert found == (ALLOWED if error is None else failing(error))


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("call", "arguments", "error"),
    [
        ("socket", (1, 1), errno.EAFNOSUPPORT),
        ("socket", (2, 1), errno.EAFNOSUPPORT),
        ("socketpair", (1, 1), None),
        # SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, and SOCK_SEQPACKET
        ("socketpair", (1, 0x80801), None),
        ("socketpair", (1, 5), None),
        ("socketpair", (1, 2), errno.EAFNOSUPPORT),
        ("socketpair", (2, 1), errno.EAFNOSUPPORT),
        ("prlimit64", (0,), None),
        ("prlimit64", (77,), errno.EPERM),
        ("prlimit64", (77, 4, 0x1000), errno.EPERM),
        ("prlimit64", (0, 4, 0x1000), 0),
        ("setrlimit", (4, 0x1000), 0),
        ("setpriority", (0, 0), None),
        ("setpriority", (0, 77), errno.EPERM),
        # PRIO_PGRP and PRIO_USER, of the caller; the kernel looks at 32 bits
        ("setpriority", (1, 0), errno.EPERM),
        ("setpriority", (2, 0), errno.EPERM),
        ("setpriority", (2 | 1 << 32, 1 << 32), errno.EPERM),
        ("ioprio_set", (1, 0), None),
        ("ioprio_set", (1, 77), errno.EPERM),
        ("ioprio_set", (0, 0), errno.EPERM),
        ("ioprio_set", (2, 0), errno.EPERM),
        ("ioprio_set", (3, 0), errno.EPERM),
        ("sched_setattr", (0,), None),
        ("sched_setscheduler", (77,), errno.EPERM),
        ("shmget", (), errno.EPERM),
        ("keyctl", (), errno.EPERM),
    ],
)
def test_what_is_refused_besides_where_others_are_in_sight(
    machine: str, call: str, arguments: tuple[int, ...], error: int | None
) -> None:
    number = ARCHITECTURES[machine].numbers[call]
    found = answer(filter_of(AMONG_OTHERS, machine=machine), machine, number, *arguments)
    assert found == (ALLOWED if error is None else failing(error))


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_by_other_numbers_end_the_program(machine: str) -> None:
    program = filter_of(EVERYWHERE, machine=machine)
    i386 = 0x40000003
    assert answer(program, machine, 20, audit=i386) == KILLED


def test_x32_is_another_set_of_numbers() -> None:
    program = filter_of(EVERYWHERE, machine="x86_64")
    assert answer(program, "x86_64", 0x40000000 | 39) == KILLED


def test_an_unknown_machine_is_never_left_without_a_filter() -> None:
    with pytest.raises(CannotConfine, match="cannot be filtered on riscv64"):
        filter_of(EVERYWHERE, machine="riscv64")
