"""Tries to leave a sandbox; a program of its own, which runs inside it.

    python -I -S attempts.py TARGETS

TARGETS is JSON: what there is outside to reach. Prints a JSON object: for each attempt, whether it
succeeded. An attempt that succeeds changes nothing: it may run without any sandbox, as root.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import sys
from collections.abc import Callable, Mapping
from typing import Any

# <linux/sched.h>, <asm-generic/unistd.h>
_CLONE_NEWNS = 0x00020000
_CLONE_NEWUSER = 0x10000000
_IO_URING_SETUP = 425
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
    return os.access("/usr", os.W_OK)


def _changes_kernel(targets: _Targets) -> bool:
    with open("/proc/sys/kernel/core_pattern", "r+", encoding="utf-8"):
        return True


def _sees_processes(targets: _Targets) -> bool:
    return _found_process(targets) is not None


def _found_process(targets: _Targets) -> int | None:
    mark = targets["process"][::-1]
    pids = (int(name) for name in os.listdir("/proc") if name.isdigit())
    return next((pid for pid in pids if mark in _command_line(pid)), None)


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
    return _unshares(_CLONE_NEWUSER)


def _unshares(kind: int) -> bool:
    child = os.fork()
    if child == 0:
        os._exit(0 if ctypes.CDLL(None).unshare(kind) == 0 else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _uses_io_uring(targets: _Targets) -> bool:
    parameters = ctypes.create_string_buffer(120)
    made = ctypes.CDLL(None).syscall(_IO_URING_SETUP, 1, parameters)
    if made >= 0:
        os.close(made)
    return bool(made >= 0)


def _has_terminal(targets: _Targets) -> bool:
    os.close(os.open("/dev/tty", os.O_RDWR))
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
    "write to the system": _writes_system,
    "change settings of the kernel": _changes_kernel,
    "see other processes": _sees_processes,
    "send signals to other processes": _signals_process,
    "connect to this machine": _connects_tcp,
    "send datagrams (UDP, DNS)": _sends_udp,
    "connect to a Unix socket": _connects_unix,
    "connect to an abstract Unix socket": _connects_abstract,
    "mount a file system": _mounts,
    "make a user namespace": _makes_user_namespace,
    "use io_uring": _uses_io_uring,
    "type into the terminal": _has_terminal,
    "gain privileges by setuid programs": _gains_privileges,
    "use descriptors of Placet": _inherits_descriptors,
}

if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
