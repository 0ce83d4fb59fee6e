"""Tries to leave a sandbox; a program of its own, which runs inside it.

    python -I -S attempts.py TARGETS

TARGETS is JSON: what there is outside to reach. Prints a JSON object: for each attempt, whether it
succeeded. An attempt that succeeds changes nothing: it may run without any sandbox, as root.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import mmap
import os
import pty
import resource
import signal
import socket
import sys
import tempfile
import termios
from collections.abc import Callable, Mapping
from typing import Any

# <linux/sched.h>, <linux/keyctl.h>, <linux/ptrace.h>, <asm-generic/ioctls.h>, <linux/shm.h>
_CLONE_NEWNS = 0x00020000
_CLONE_NEWUSER = 0x10000000
_GET_KEYRING, _SESSION_KEYRING = 0, -3
_SEIZE = 0x4206
_TIOCSTI = 0x5412
_READ_ONLY = 0o10000
# <linux/ioprio.h>, <linux/inotify.h>: all processes of a user, a class that there is not, IN_OPEN
_OF_USER, _NO_CLASS = 3, 7 << 13
_IN_OPEN = 0x20
# <asm/unistd.h>
_IO_URING_SETUP, _CLONE3 = 425, 435
_KEYCTL, _CLONE = (219, 220) if os.uname().machine == "aarch64" else (250, 56)
_IOPRIO_SET = 30 if os.uname().machine == "aarch64" else 251
# On x86_64: the numbers of x32, and `mov eax, 20; int 0x80; ret`, which is i386's `getpid`.
_X32_GETPID = 0x40000000 | 39
_I386_GETPID = b"\xb8\x14\x00\x00\x00\xcd\x80\xc3"
_METADATA = ("169.254.169.254", 80)
_SECONDS = 0.5

_Targets = Mapping[str, Any]


def main(targets: _Targets) -> None:
    """Make all attempts and print their outcomes."""
    found = {}
    for name, attempt in ATTEMPTS.items():
        try:
            found[name] = attempt(targets)
        except (OSError, ValueError):
            found[name] = False
    print(json.dumps(found))  # noqa: T201 - the output of this program


def _reads_file(targets: _Targets) -> bool:
    with open(targets["file"], encoding="utf-8") as file:
        return bool(file.read() == targets["contents"])


def _writes_system(targets: _Targets) -> bool:
    # A file without a name, which is gone when it is closed.
    os.close(os.open("/usr", os.O_TMPFILE | os.O_WRONLY, 0o600))
    return True


def _changes_permissions(targets: _Targets) -> bool:
    # To what they are.
    os.chmod(targets["file"], os.stat(targets["file"]).st_mode & 0o777)
    return True


def _learns_of_files(targets: _Targets) -> bool:
    return os.path.exists(targets["file"])


def _changes_kernel(targets: _Targets) -> bool:
    with open("/proc/sys/kernel/core_pattern", "r+", encoding="utf-8"):
        return True


def _sees_processes(targets: _Targets) -> bool:
    pid = _found_process(targets)
    return pid is not None and targets["mark"][::-1] in _command_line(pid)


def _found_process(targets: _Targets) -> int | None:
    """Return the number of the process outside, as it is inside; None if it has none."""
    try:
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except PermissionError:
        # Processes that cannot be listed may still be called by their numbers.
        return int(targets["pid"])
    return next((pid for pid in pids if targets["mark"][::-1] in _command_line(pid)), None)


def _command_line(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        return ""


def _signals_process(targets: _Targets) -> bool:
    pid = _found_process(targets)
    if pid is not None:
        os.kill(pid, signal.SIGCONT)
    return pid is not None


def _reads_memory(targets: _Targets) -> bool:
    pid = _found_process(targets)
    if pid is not None:
        os.close(os.open(f"/proc/{pid}/mem", os.O_RDONLY))
    return pid is not None


def _traces_process(targets: _Targets) -> bool:
    pid = _found_process(targets)
    # It is let go again by the end of the child.
    return pid is not None and _in_child(lambda: _libc().ptrace(_SEIZE, pid, 0, 0) == 0)


def _changes_limits(targets: _Targets) -> bool:
    pid = _found_process(targets)
    if pid is not None:
        # To what they are.
        limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)
    return pid is not None


def _changes_priorities(targets: _Targets) -> bool:
    pid = _found_process(targets)
    if pid is None:
        return False
    # To what it is; raises where the process cannot be called by its number.
    priority = os.getpriority(os.PRIO_PROCESS, pid)
    return _in_child(lambda: _set_priority(os.PRIO_PROCESS, pid, priority)) or _in_child(
        _changes_priorities_together
    )


def _changes_priorities_together() -> bool:
    """Change a group of processes, which is this one alone; and ask for all of the user.

    The latter changes nothing: the kernel refuses the class, in another way than a filter does.
    """
    os.setpgid(0, 0)
    own = os.getpriority(os.PRIO_PROCESS, 0)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall(_IOPRIO_SET, _OF_USER, 0, _NO_CLASS)
    of_user = ctypes.get_errno() == errno.EINVAL
    return of_user or _set_priority(os.PRIO_PGRP, 0, own)


def _set_priority(kind: int, who: int, priority: int) -> bool:
    os.setpriority(kind, who, priority)
    return True


def _watches_files(targets: _Targets) -> bool:
    libc = _libc()
    watching = libc.inotify_init1(os.O_CLOEXEC)
    try:
        return bool(libc.inotify_add_watch(watching, targets["file"].encode(), _IN_OPEN) >= 0)
    finally:
        os.close(watching)


def _shares_memory(targets: _Targets) -> bool:
    attach = _libc().shmat
    attach.restype = ctypes.c_ssize_t
    return bool(attach(targets["memory"], None, _READ_ONLY) != -1)


def _in_child(attempt: Callable[[], bool]) -> bool:
    """Return what an attempt returns in a process of its own, which it may change or end."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if attempt() else 1)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)


def _links_file(targets: _Targets) -> bool:
    with tempfile.TemporaryDirectory(dir=".") as folder:
        os.link(targets["file"], os.path.join(folder, "link"))
    return True


def _connects_tcp(targets: _Targets) -> bool:
    with socket.create_connection(("127.0.0.1", targets["tcp"]), timeout=_SECONDS):
        return True


def _sends_udp(targets: _Targets) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(_SECONDS)
        sock.sendto(b"?", ("127.0.0.1", targets["udp"]))
        return sock.recv(1) == b"!"


def _connects_unix(targets: _Targets) -> bool:
    return _connected(targets["unix"])


def _connects_abstract(targets: _Targets) -> bool:
    return _connected("\0" + targets["abstract"])


def _connected(address: str) -> bool:
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(_SECONDS)
        sock.connect(address)
    return True


def _mounts(targets: _Targets) -> bool:
    # The right to mount is the right to a namespace of mounts; nothing is mounted.
    return _unshares(_CLONE_NEWNS)


def _makes_user_namespace(targets: _Targets) -> bool:
    # Each system call that makes one. What they start ends at once.
    arguments = (ctypes.c_uint64 * 8)(_CLONE_NEWUSER, 0, 0, 0, signal.SIGCHLD)
    return (
        _unshares(_CLONE_NEWUSER)
        or _in_child(lambda: _starts(_CLONE, _CLONE_NEWUSER | signal.SIGCHLD, 0, 0, 0, 0))
        or _in_child(lambda: _starts(_CLONE3, arguments, ctypes.sizeof(arguments)))
    )


def _starts(call: int, *arguments: Any) -> bool:
    started = _libc().syscall(call, *arguments)
    if started == 0:
        os._exit(0)
    return bool(started > 0)


def _unshares(kind: int) -> bool:
    return _in_child(lambda: _libc().unshare(kind) == 0)


def _uses_io_uring(targets: _Targets) -> bool:
    parameters = ctypes.create_string_buffer(120)
    made = ctypes.CDLL(None).syscall(_IO_URING_SETUP, 1, parameters)
    if made >= 0:
        os.close(made)
    return bool(made >= 0)


def _has_terminal(targets: _Targets) -> bool:
    os.close(os.open("/dev/tty", os.O_RDWR))
    return True


def _types(targets: _Targets) -> bool:
    """Type into a terminal; it is one of this program's own."""
    controlling, terminal = pty.openpty()
    try:
        return _in_child(lambda: _typed(terminal))
    finally:
        os.close(controlling)
        os.close(terminal)


def _typed(terminal: int) -> bool:
    os.setsid()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    fcntl.ioctl(terminal, _TIOCSTI, b"x")
    return True


def _uses_keys(targets: _Targets) -> bool:
    return bool(_libc().syscall(_KEYCTL, _GET_KEYRING, _SESSION_KEYRING, 0) > 0)


def _calls_by_other_numbers(targets: _Targets) -> bool:
    if os.uname().machine != "x86_64":
        return False
    return _in_child(lambda: _libc().syscall(_X32_GETPID) > 0) or _in_child(_calls_as_i386)


def _calls_as_i386() -> bool:
    with mmap.mmap(
        -1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
    ) as code:
        code.write(_I386_GETPID)
        start = ctypes.addressof(ctypes.c_char.from_buffer(code))
        return bool(ctypes.CFUNCTYPE(ctypes.c_int)(start)() > 0)


def _reaches_hypervisor(targets: _Targets) -> bool:
    socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM).close()
    return True


def _reaches_metadata(targets: _Targets) -> bool:
    # Whether there is a way to it; nothing is sent.
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.connect(_METADATA)
    return True


def _makes_setuid_programs(targets: _Targets) -> bool:
    with tempfile.NamedTemporaryFile() as file:
        os.fchmod(file.fileno(), 0o4700)
    return True


def _gains_privileges(targets: _Targets) -> bool:
    with open("/proc/self/status", encoding="utf-8") as file:
        return "NoNewPrivs:\t1" not in file.read()


def _inherits_descriptors(targets: _Targets) -> bool:
    found = {int(name) for name in os.listdir("/proc/self/fd")}
    # One of them was the folder itself, which is closed again by now.
    return any(_is_open(number) for number in found if number > 2)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


# What is tried, by what it would mean.
ATTEMPTS: Mapping[str, Callable[[_Targets], bool]] = {
    "read a file outside": _reads_file,
    "link to a file outside": _links_file,
    "write to the system": _writes_system,
    "change settings of the kernel": _changes_kernel,
    "change permissions of a file outside": _changes_permissions,
    "learn which files exist outside": _learns_of_files,
    "watch files outside": _watches_files,
    "see other processes": _sees_processes,
    "send signals to other processes": _signals_process,
    "read the memory of other processes": _reads_memory,
    "trace other processes": _traces_process,
    "change limits of other processes": _changes_limits,
    "change priorities of other processes": _changes_priorities,
    "use shared memory of other processes": _shares_memory,
    "connect to this machine": _connects_tcp,
    "send datagrams (UDP, DNS)": _sends_udp,
    "find a way to the metadata of a cloud": _reaches_metadata,
    "connect to a Unix socket": _connects_unix,
    "connect to an abstract Unix socket": _connects_abstract,
    "open a socket to the hypervisor": _reaches_hypervisor,
    "mount a file system": _mounts,
    "make a user namespace": _makes_user_namespace,
    "use io_uring": _uses_io_uring,
    "use the kernel's keyrings": _uses_keys,
    "make system calls of another architecture": _calls_by_other_numbers,
    "have the terminal": _has_terminal,
    "type into a terminal": _types,
    "gain privileges by setuid programs": _gains_privileges,
    "make setuid programs": _makes_setuid_programs,
    "use descriptors of Placet": _inherits_descriptors,
}

if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
