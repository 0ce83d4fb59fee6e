"""Restricts itself, then becomes the program that is to be confined; a program of its own.

    python -I -S landlock_start.py SETTINGS PROGRAM ARGUMENT...

SETTINGS is JSON: the descriptors of folders and files with the rights on them, that of the filter
of system calls, what else is restricted, the limits, the variables, and the folder to start in. A
program is never started with fewer restrictions: what fails ends this one. Landlock:
https://docs.kernel.org/userspace-api/landlock.html
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import struct
import sys
from collections.abc import Mapping
from typing import Any, NoReturn

# <linux/landlock.h>, and the numbers of its system calls on every machine
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_PATH_BENEATH = 1
# <linux/prctl.h>, <linux/seccomp.h>, <linux/capability.h>
_NO_NEW_PRIVILEGES = 38
_DROP_CAPABILITY = 24
_AMBIENT, _CLEAR_AMBIENT = 47, 4
_SECCOMP, _FILTER = 22, 2
_CAPABILITIES_VERSION = 0x20080522
_MOST_CAPABILITIES = 64
_CANNOT = 126

_LIBC = ctypes.CDLL(None, use_errno=True)


def main(settings: Mapping[str, Any], program: list[str]) -> NoReturn:
    """Restrict this process for good, and become the program."""
    try:
        os.chdir(settings["folder"])
        _drop_capabilities()
        _require(_LIBC.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
        _restrict_access(settings)
        _filter_calls(settings["filter"])
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        for name, limit in settings["limits"].items():
            resource.setrlimit(getattr(resource, name), (limit, limit))
        os.execvpe(program[0], program, {**os.environ, **settings["variables"]})  # noqa: S606
    except (OSError, ValueError) as error:
        os.write(2, f"sandbox: {program[0]}: {error}\n".encode(errors="replace"))
    os._exit(_CANNOT)


def _drop_capabilities() -> None:
    """Give up what root may do beyond other users; for others there is nothing to give up."""
    for capability in range(_MOST_CAPABILITIES):
        _LIBC.prctl(_DROP_CAPABILITY, capability, 0, 0, 0)
    _LIBC.prctl(_AMBIENT, _CLEAR_AMBIENT, 0, 0, 0)
    header = struct.pack("=Ii", _CAPABILITIES_VERSION, 0)
    _require(_LIBC.capset(header, bytes(24)))


def _restrict_access(settings: Mapping[str, Any]) -> None:
    attributes = struct.pack("=QQQ", *settings["handled"])
    ruleset = _require(_LIBC.syscall(_CREATE_RULESET, attributes, len(attributes), 0))
    for descriptor, rights in settings["paths"]:
        rule = struct.pack("=Qi", rights, descriptor)
        _require(_LIBC.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0))
    _require(_LIBC.syscall(_RESTRICT_SELF, ruleset, 0))


def _filter_calls(descriptor: int) -> None:
    content = os.read(descriptor, 1_000_000)
    instructions = ctypes.create_string_buffer(content, len(content))
    program = struct.pack("HP", len(content) // 8, ctypes.addressof(instructions))
    _require(_LIBC.prctl(_SECCOMP, _FILTER, program, 0, 0))


def _require(answer: int) -> int:
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return answer


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), sys.argv[2:])
