"""Restricts itself, then becomes the program that is to be confined; a program of its own.

Its arguments:

    FOLDER FILTER --handled=NUMBER... [--path=DESCRIPTOR:RIGHTS]... [--limit=NAME:SOFT:HARD]...
        [--variable=NAME=VALUE]... -- PROGRAM ARGUMENT...

It starts in FOLDER, with the filter of system calls in the descriptor FILTER. `--handled` is what
Landlock restricts: rights on files, TCP, and scopes; `--path` grants rights on what is open there.
A program is never started with fewer restrictions: what fails ends this one. Landlock:
https://docs.kernel.org/userspace-api/landlock.html
"""

from __future__ import annotations

# Every program waits for this one: `typing`, and others, would take longer than all that is done.
import ctypes
import os
import resource
import struct
import warnings  # noqa: F401 - `execvpe` imports it, when no file of Python can be read any more

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

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


class Settings:
    """What is said before the program."""

    def __init__(self, folder: str, filter: str, *options: str) -> None:
        named = [option.partition("=") for option in options]
        self.folder, self.filter = folder, int(filter)
        self.handled = [int(value) for name, _, value in named if name == "--handled"]
        paths = [value.split(":") for name, _, value in named if name == "--path"]
        self.paths = [(int(descriptor), int(rights)) for descriptor, rights in paths]
        limits = [value.split(":") for name, _, value in named if name == "--limit"]
        self.limits = [(name, int(soft), int(hard)) for name, soft, hard in limits]
        variables = [value.partition("=") for name, _, value in named if name == "--variable"]
        self.variables = {name: value for name, _, value in variables}


def run(arguments: list[str]) -> NoReturn:
    """Restrict this process for good, and become the program that is named after `--`."""
    end = arguments.index("--")
    settings, program = Settings(*arguments[:end]), arguments[end + 1 :]
    try:
        os.chdir(settings.folder)
        _drop_capabilities()
        _require(_LIBC.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
        _restrict_access(settings)
        _filter_calls(settings.filter)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        for name, soft, hard in settings.limits:
            resource.setrlimit(getattr(resource, name), (soft, hard))
        os.execvpe(program[0], program, {**os.environ, **settings.variables})  # noqa: S606
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


def _restrict_access(settings: Settings) -> None:
    attributes = struct.pack("=QQQ", *settings.handled)
    ruleset = _require(_LIBC.syscall(_CREATE_RULESET, attributes, len(attributes), 0))
    for descriptor, rights in settings.paths:
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
