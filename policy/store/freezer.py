"""The emergency stop: which tools people have frozen, kept in a file that outlives every process.

A freeze only restricts, so it takes effect without evaluating the policy, even one that does not
load. A change of the file takes effect on the next read, and a file that cannot be read freezes
every tool.
"""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

from policy.diagnostics import visible
from policy.generation import state_folders
from policy.values import compile_name_glob

EVERY_TOOL = "*"
_NAME = "freeze.json"
_LARGEST = 1_000_000  # bytes
_LONGEST = 300
_MOST_TOOLS = 100

# A value for each file that differs after any change; None for a file that does not exist.
_Signature: TypeAlias = tuple[tuple[int, ...] | None, ...]


class FreezeRefused(Exception):
    """A freeze that was refused; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Freeze:
    """One freeze: its tools, reason, person and time; with `cancel`, running calls are ended."""

    tools: tuple[str, ...]
    because: str
    by: str = ""
    at: datetime | None = None
    cancel: bool = False

    def covers(self, names: Iterable[str]) -> bool:
        """Return whether a tool with these names is frozen."""
        tests = [compile_name_glob(pattern) for pattern in self.tools]
        return any(test(name) for name in names for test in tests)

    def as_json(self) -> dict[str, Any]:
        """Return the freeze as an object of JSON."""
        return {
            "tools": list(self.tools),
            "because": self.because,
            "by": self.by,
            "at": None if self.at is None else self.at.isoformat(),
            "cancel": self.cancel,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Freezing:
    """All freezes in force. `broken` is why the file cannot be read, None if it can."""

    freezes: tuple[Freeze, ...] = ()
    broken: str | None = None

    def __bool__(self) -> bool:
        return bool(self.freezes)

    def on(self, names: Iterable[str], *, cancelling: bool = False) -> Freeze | None:
        """Return a freeze that covers these names; if `cancelling`, only one that ends calls."""
        known = tuple(names)
        for freeze in self.freezes:
            if (freeze.cancel or not cancelling) and freeze.covers(known):
                return freeze
        return None


NOT_FROZEN = Freezing()


@dataclass(slots=True)
class Freezer:
    """The emergency stop of one policy; without a path it lasts as long as this object.

    The state is in a file for the policy's name and, if that is a link, in one for its real path:
    tools frozen in either of them are frozen.
    """

    policy: str | None = None
    _identity: tuple[int, int] | None = field(default=None, init=False)
    _files: tuple[Path, ...] = field(default=(), init=False)
    _signature_read: _Signature = field(default=(), init=False)
    _state: Freezing = field(default=NOT_FROZEN, init=False)

    @classmethod
    def of(cls, policy: str | os.PathLike[str]) -> Freezer:
        """Return the emergency stop of a policy, which need not load or even exist."""
        return cls(os.path.abspath(policy))

    def current(self) -> Freezing:
        """Return what is frozen now; the files are read when they have changed."""
        if self.policy is None:
            return self._state
        files = self._files_of(self.policy)
        try:
            seen = tuple(map(_signature, files))
        except OSError as error:
            return _broken(f"it cannot be looked at ({error.strerror})")
        if seen != self._signature_read:
            # The contents may be newer than the signature, never older.
            self._state = _together(map(_read, files))
            self._signature_read = seen
        return self._state

    def _files_of(self, policy: str) -> tuple[Path, ...]:
        """Return the files of the state; links are followed again once they change."""
        try:
            found = os.stat(policy)
        except OSError:
            identity = None  # missing for now: the files found before stay
        else:
            identity = (found.st_dev, found.st_ino)
        if not self._files or identity not in (None, self._identity):
            self._files = tuple(folder / _NAME for folder in state_folders(policy))
            self._identity, self._signature_read = identity, ()
        return self._files

    def freeze(
        self,
        tools: Iterable[str] = (EVERY_TOOL,),
        *,
        because: str,
        by: str = "",
        cancel: bool = False,
        now: datetime | None = None,
    ) -> Freezing:
        """Freeze tools, by names or patterns, on top of what is frozen already.

        Raises FreezeRefused, and changes nothing, if there is no tool or no reason.
        """
        made = Freeze(
            tools=_patterns(tools),
            because=_reason(because),
            by=by,
            at=now or datetime.now(UTC),
            cancel=cancel,
        )
        with self._alone():
            frozen = self.current()
            kept = frozen.freezes
            if frozen.broken is None:
                # A repeated freeze replaces the earlier one.
                kept = tuple(one for one in kept if one.tools != made.tools or one.cancel > cancel)
            return self._put(Freezing(freezes=(*kept, made)))

    def unfreeze(self) -> Freezing:
        """Lift every freeze; return what was in force."""
        with self._alone():
            before = self.current()
            self._put(NOT_FROZEN)
            return before

    def put_back(self, freezing: Freezing) -> None:
        """Freeze again what was lifted."""
        with self._alone():
            self._put(Freezing(freezes=(*freezing.freezes, *self.current().freezes)))

    def _put(self, freezing: Freezing) -> Freezing:
        if self.policy is None:
            self._state = freezing
            return freezing
        for file in self._files_of(self.policy):
            if freezing:
                _write(file, freezing)
            else:
                file.unlink(missing_ok=True)
        return freezing

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other processes from changing the state meanwhile."""
        with ExitStack() as locks:
            # In one order for everybody, so that no two wait for each other.
            for file in sorted(self._files_of(self.policy)) if self.policy is not None else ():
                locks.enter_context(_locked(file))
            yield


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    lock = os.open(file.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _signature(file: Path) -> tuple[int, ...] | None:
    try:
        found = os.stat(file)
    except FileNotFoundError:
        return None
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _together(states: Iterable[Freezing]) -> Freezing:
    """Return everything that is frozen in some of these states."""
    found = tuple(states)
    freezes = dict.fromkeys(freeze for state in found for freeze in state.freezes)
    broken = next((state.broken for state in found if state.broken is not None), None)
    return Freezing(freezes=tuple(freezes), broken=broken)


def _patterns(tools: Iterable[str]) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(tools)) or (EVERY_TOOL,)
    if len(found) > _MOST_TOOLS:
        raise FreezeRefused(f"name at most {_MOST_TOOLS} tools, or freeze them all")
    for name in found:
        if not name.strip() or visible(name, _LONGEST) != name:
            raise FreezeRefused(f"`{visible(name, 80)}` is not a name or pattern of a tool")
    return found


def _reason(because: str) -> str:
    if not because.strip():
        raise FreezeRefused("give a reason: callers see it, and it is recorded")
    return visible(because.strip(), _LONGEST)


def _write(path: Path, freezing: Freezing) -> None:
    """Put a new file in the place of the old one, safe on the disk."""
    entries = [one.as_json() for one in freezing.freezes]
    handle, fresh = tempfile.mkstemp(dir=path.parent, prefix=".freeze-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump({"version": 1, "freezes": entries}, file, indent=1)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, path)
    except BaseException:
        Path(fresh).unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _read(path: Path) -> Freezing:
    try:
        with open(path, "rb") as file:
            content = file.read(_LARGEST + 1)
    except FileNotFoundError:
        return NOT_FROZEN
    except OSError as error:
        return _broken(f"it cannot be read ({error.strerror})")
    try:
        found: Any = json.loads(content)
        freezes = tuple(map(_freeze, found["freezes"]))
        if found["version"] != 1 or not freezes:
            raise ValueError
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return _broken("it was not written by `placet freeze`")
    return Freezing(freezes=freezes)


def _freeze(entry: Mapping[str, Any]) -> Freeze:
    """Return one entry of the file; raise ValueError for anything that was not written here."""
    tools, because, by, cancel = (entry[key] for key in ("tools", "because", "by", "cancel"))
    if not (isinstance(tools, list) and tools and all(isinstance(one, str) for one in tools)):
        raise ValueError
    if not (isinstance(because, str) and isinstance(by, str) and isinstance(cancel, bool)):
        raise ValueError
    at = None if entry["at"] is None else datetime.fromisoformat(entry["at"])
    return Freeze(tools=tuple(tools), because=because, by=by, at=at, cancel=cancel)


def _broken(why: str) -> Freezing:
    because = f"every tool is frozen, because the state of the emergency stop is unknown: {why}"
    return Freezing(freezes=(Freeze(tools=(EVERY_TOOL,), because=because),), broken=why)
