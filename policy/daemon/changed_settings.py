"""Notices settings of agents that changed while a call ran, which nobody was asked about.

A build runs code that no rule sees, and that code can write a settings file. So the files are read
when a call goes on, and once more when the agent tells that it has ended.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from policy.audit import AuditRecord
from policy.diagnostics import visible
from policy.model import Caller

# Calls of which no end is told are forgotten, the oldest first.
_MOST_CALLS = 1000
_LONGEST_FILE = 1_000_000
_LONGEST_NAME = 200
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0)

Digests = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Running:
    """The settings as a call found them, and the records of its answer."""

    settings: Digests
    records: tuple[AuditRecord, ...]


@dataclass(frozen=True, slots=True)
class ChangedSettings:
    """The settings files that changed during a call, and its records with their names."""

    files: tuple[str, ...]
    records: tuple[AuditRecord, ...]

    @property
    def sentence(self) -> str:
        """What people are told."""
        names = ", ".join(visible(each, _LONGEST_NAME) for each in self.files)
        return (
            f"while this call ran, {names} changed: it decides what Placet is asked about,"
            " so look at it before the agent goes on"
        )


class SettingsWatch:
    """Compares settings files at the begin of calls and at their ends."""

    def __init__(self, files: Iterable[str]) -> None:
        self._files = tuple(dict.fromkeys(files))
        self._running: OrderedDict[tuple[Caller, str], _Running] = OrderedDict()

    def begin(self, caller: Caller, calls: Iterable[str], records: Iterable[AuditRecord]) -> None:
        """Note the settings at the begin of a call that goes on, by each of its names."""
        now = _Running(self._read(), tuple(records))
        for call in calls:
            # Of equal calls without an id, the first one counts: it has seen all that changed.
            self._running.setdefault((caller, call), now)
        while len(self._running) > _MOST_CALLS:
            self._running.popitem(last=False)

    def end(self, caller: Caller, call: str) -> ChangedSettings | None:
        """Return what changed while a call ran; None if nothing did, or it is not known."""
        began = self._running.pop((caller, call), None)
        if began is None:
            return None
        for other in [key for key, one in self._running.items() if one is began]:
            del self._running[other]
        now = self._read()
        changed = tuple(each for each in self._files if began.settings[each] != now[each])
        if not changed:
            return None
        return ChangedSettings(changed, tuple(replace(one, made=changed) for one in began.records))

    def _read(self) -> Digests:
        return {each: _digest(each) for each in self._files}


def _digest(file: str) -> str:
    """Return what a file holds, as a digest; what it is instead, if it cannot be read."""
    try:
        handle = os.open(file, _FLAGS)
    except OSError as error:
        return type(error).__name__
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_size > _LONGEST_FILE:
            return f"{found.st_mode} {found.st_size} {found.st_mtime_ns} {found.st_ino}"
        with suppress(OSError):
            return hashlib.sha256(os.read(handle, _LONGEST_FILE)).hexdigest()
        return "unreadable"
    finally:
        os.close(handle)
