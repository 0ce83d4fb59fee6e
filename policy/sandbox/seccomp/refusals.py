"""Which system calls are refused: those by which programs get out, or reach what attackers need.

The list begins with those of Flatpak and of systemd's `RestrictSUIDSGID`. What programs need and
can do no harm stays, `ptrace` too: it reaches a program's own processes only.
"""

from __future__ import annotations

import errno
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class HasBits:
    """Holds where an argument has one of these bits; of its `upper` 32 bits, or else the lower."""

    argument: int
    bits: int
    upper: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class IsNot:
    """Holds where the lower 32 bits of an argument, of which `bits` count, are no such value."""

    argument: int
    values: tuple[int, ...]
    bits: int = 0xFFFFFFFF


@dataclass(frozen=True, slots=True, kw_only=True)
class Is:
    """Holds where the lower 32 bits of an argument are one of these values."""

    argument: int
    values: tuple[int, ...]


Test: TypeAlias = HasBits | IsNot | Is


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A system call that fails with `error` where all tests of one of `cases` hold.

    Where all tests of one of `ignored` hold, it does nothing, and seems to succeed.
    """

    call: str
    error: int = errno.EPERM
    cases: tuple[tuple[Test, ...], ...] = ((),)
    ignored: tuple[tuple[Test, ...], ...] = ()


# <linux/sched.h>: CLONE_NEWTIME, which `clone` does not have, and the other CLONE_NEW…
_NEW_TIME = 0x80
_NEW_NAMESPACE = 0x7E020000
# <asm-generic/ioctls.h>, <linux/tiocl.h>: they type into a terminal.
_TIOCSTI = 0x5412
_TIOCLINUX = 0x541C
_SET_ID = stat.S_ISUID | stat.S_ISGID
_SOCKET_TYPE = 0xF
# What reaches the kernel's inside, its modules, its keys, the mounts and the machine.
_ALWAYS = (
    "acct",
    "add_key",
    "bpf",
    "chroot",
    "delete_module",
    "finit_module",
    "fsconfig",
    "fsmount",
    "fsopen",
    "fspick",
    "init_module",
    "ioperm",
    "iopl",
    "kexec_file_load",
    "kexec_load",
    "keyctl",
    "migrate_pages",
    "mount",
    "mount_setattr",
    "move_mount",
    "move_pages",
    "open_by_handle_at",
    "open_tree",
    "open_tree_attr",
    "perf_event_open",
    "pivot_root",
    "quotactl",
    "quotactl_fd",
    "reboot",
    "request_key",
    "setns",
    "swapoff",
    "swapon",
    "syslog",
    "umount2",
    "userfaultfd",
)
# Programs take another way where the kernel seems not to have these. What `clone3` and `openat2`
# are asked for stands in memory, which no filter sees; nor does it see what io_uring is asked for.
_UNKNOWN = ("clone3", "io_uring_enter", "io_uring_register", "io_uring_setup", "openat2")
# Calls that take the mode of a new file, and the number of that argument.
_MODES = {
    "chmod": 1,
    "creat": 1,
    "fchmod": 1,
    "fchmodat": 2,
    "fchmodat2": 2,
    "mknod": 1,
    "mknodat": 2,
}
_OPENING = {"open": (1, 2), "openat": (2, 3)}
# <asm-generic/fcntl.h>: O_CREAT, and the bit of O_TMPFILE that O_DIRECTORY does not have. Without
# them, the mode is not passed.
_MAKING = 0o100 | 0o20000000
# <bits/socket.h>
UNIX, INET, INET6, NETLINK = 1, 2, 10, 16
_STREAM, _SEQUENCED = 1, 5
# The families of sockets that belong to a network of the sandbox's own. Others reach the hypervisor
# (AF_VSOCK), the kernel's cryptography, Bluetooth and the like, whatever the network.
_FAMILIES = (UNIX, INET, INET6, NETLINK)
# What reaches other programs of the same user where they are in sight: their shared memory,
# semaphores and queues, their priorities and their limits.
_SHARED = (
    "mq_open",
    "mq_unlink",
    "msgctl",
    "msgget",
    "msgrcv",
    "msgsnd",
    "semctl",
    "semget",
    "semop",
    "semtimedop",
    "shmat",
    "shmctl",
    "shmdt",
    "shmget",
)
# <asm-generic/resource.h>
_LIMIT_OF_CORE = Is(argument=0, values=(4,))
_LIMIT_OF_CORE_OF = Is(argument=1, values=(4,))
_ALL = 0xFFFFFFFF
# As long as this limit is 1, no program of the system gets a core dump (`_leave_no_core` of the
# supervisor), so nothing may lower it. Some programs end if they cannot, such as gpg.
_KEEPS_LIMIT_OF_CORE = {
    "setrlimit": ((_LIMIT_OF_CORE,),),
    # With a new limit; without one, it reads.
    "prlimit64": (
        (_LIMIT_OF_CORE_OF, HasBits(argument=2, bits=_ALL)),
        (_LIMIT_OF_CORE_OF, HasBits(argument=2, bits=_ALL, upper=True)),
    ),
}
# Calls about a process, and the number of the argument that names it; 0 is the caller.
_OF_PROCESS = {
    "prlimit64": 0,
    "sched_setaffinity": 0,
    "sched_setattr": 0,
    "sched_setparam": 0,
    "sched_setscheduler": 0,
}
# Calls about a process, or else a group of processes or all of a user, where 0 is the caller's: the
# value of the first argument that means a process (PRIO_PROCESS, IOPRIO_WHO_PROCESS).
_OF_PROCESS_OR_MORE = {"ioprio_set": 1, "setpriority": 0}


def refusals(families: Collection[int] = _FAMILIES) -> tuple[Refusal, ...]:
    """Return what is refused in every sandbox, each call once; sockets are of `families` only."""
    limits = _KEEPS_LIMIT_OF_CORE.items()
    return (
        *_everywhere(families),
        *(Refusal(call=name, cases=(), ignored=ignored) for name, ignored in limits),
    )


def _everywhere(families: Collection[int]) -> tuple[Refusal, ...]:
    return (
        *(Refusal(call=name) for name in _ALWAYS),
        *(Refusal(call=name, error=errno.ENOSYS) for name in _UNKNOWN),
        Refusal(call="unshare", cases=((HasBits(argument=0, bits=_NEW_NAMESPACE | _NEW_TIME),),)),
        Refusal(call="clone", cases=((HasBits(argument=0, bits=_NEW_NAMESPACE),),)),
        Refusal(call="ioctl", cases=((Is(argument=1, values=(_TIOCSTI, _TIOCLINUX)),),)),
        Refusal(
            call="socket",
            error=errno.EAFNOSUPPORT,
            cases=((IsNot(argument=0, values=tuple(families)),),),
        ),
        *_set_ids(),
    )


def refusals_among_others(families: Collection[int]) -> tuple[Refusal, ...]:
    """Return what is refused where other programs and their sockets are in sight.

    A pair of sockets stays: it is connected. One of datagrams could send elsewhere, still.
    """
    outside = IsNot(argument=0, values=(UNIX,))
    datagrams = IsNot(argument=1, values=(_STREAM, _SEQUENCED), bits=_SOCKET_TYPE)
    ignored = _KEEPS_LIMIT_OF_CORE
    return (
        *_everywhere(families),
        Refusal(call="setrlimit", cases=(), ignored=ignored["setrlimit"]),
        *(Refusal(call=name) for name in _SHARED),
        Refusal(call="socketpair", error=errno.EAFNOSUPPORT, cases=((outside,), (datagrams,))),
        *(
            Refusal(
                call=name,
                cases=((IsNot(argument=process, values=(0,)),),),
                ignored=ignored.get(name, ()),
            )
            for name, process in _OF_PROCESS.items()
        ),
        *(
            Refusal(
                call=name,
                cases=(
                    (IsNot(argument=0, values=(process,)),),
                    (IsNot(argument=1, values=(0,)),),
                ),
            )
            for name, process in _OF_PROCESS_OR_MORE.items()
        ),
    )


def _set_ids() -> Iterator[Refusal]:
    """Yield what makes programs that run as their owner: root's would outlive the sandbox."""
    for call, mode in _MODES.items():
        yield Refusal(call=call, cases=((HasBits(argument=mode, bits=_SET_ID),),))
    for call, (flags, mode) in _OPENING.items():
        tests = (HasBits(argument=flags, bits=_MAKING), HasBits(argument=mode, bits=_SET_ID))
        yield Refusal(call=call, cases=(tests,))
