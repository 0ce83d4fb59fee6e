"""What Landlock can restrict, by the version (ABI) of it that a kernel has."""

from __future__ import annotations

import ctypes
import sys
from dataclasses import dataclass

# <linux/landlock.h>: rights on files, and those on folders
_EXECUTE, _WRITE_FILE, _READ_FILE, _TRUNCATE, _IOCTL = (1 << bit for bit in (0, 1, 2, 14, 15))
# To list a folder; names are no content, and nothing in it is read by that.
READ_FOLDER = 1 << 3
# To make and remove files, folders, pipes and links in a folder, and to move them to another one;
# sockets and devices are not made.
_CHANGE_FOLDER = sum(1 << bit for bit in (4, 5, 7, 8, 10, 12, 13))
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL
_ALL = (1 << 16) - 1
READ = _EXECUTE | _READ_FILE | READ_FOLDER
WRITE = READ | _WRITE_FILE | _TRUNCATE | _CHANGE_FOLDER
USE_DEVICE = _READ_FILE | _WRITE_FILE
_TCP = 0b11
_SCOPES = 0b11
# Before it, a program could empty files that it may not write.
OLDEST = 3
_WITH_TCP, _WITH_IOCTL, _WITH_SCOPES = 4, 5, 6
_CREATE_RULESET, _ASK_VERSION = 444, 1


def version() -> int:
    """Return the version of this kernel's Landlock; 0: it has none, or it is off."""
    if not sys.platform.startswith("linux"):
        return 0
    return max(0, int(ctypes.CDLL(None).syscall(_CREATE_RULESET, None, 0, _ASK_VERSION)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Restrictions:
    """What a program may do only where a rule grants it: with files, by TCP, and to others."""

    files: int
    tcp: int
    scopes: int


def restrictions(version: int, *, network: bool) -> Restrictions:
    """Return all that a version restricts; TCP unless the program may use the network."""
    return Restrictions(
        files=_ALL if version >= _WITH_IOCTL else _ALL & ~_IOCTL,
        tcp=_TCP if version >= _WITH_TCP and not network else 0,
        scopes=_SCOPES if version >= _WITH_SCOPES else 0,
    )


def rights_on(rights: int, *, folder: bool) -> int:
    """Return those of these rights that there are on a folder, or on a file."""
    return rights if folder else rights & _ON_FILES
