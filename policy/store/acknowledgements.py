"""Which loosened policies wait until people acknowledge them, and which they have acknowledged.

Each is a file in the user's state folder of the policy, by the digest of the difference, so that a
command in another process can read and write it. No tool may write there.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from policy.generation import state_folder

_FOLDER = "loosenings"
_WAITING, _ACKNOWLEDGED = ".waiting.json", ".acknowledged.json"
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
_LARGEST = 100_000  # bytes


class NotWaiting(Exception):
    """No loosened policy with this digest waits; the message says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loosening:
    """That the files would let calls do more than what was in force before them.

    `what` are sentences about some of it. While `refused`, what was in force stays in force until
    `digest` is acknowledged. `is_interrupted`: the comparison ended early, so nothing is known.
    """

    digest: str
    refused: bool
    what: tuple[str, ...]
    is_interrupted: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return it as an object of JSON."""
        return {"digest": self.digest, "refused": self.refused, "what": list(self.what)}


@dataclass(slots=True)
class Acknowledgements:
    """The state of one policy; without a path it lasts as long as this object."""

    policy: str | None = None
    _waiting: dict[str, Loosening] = field(default_factory=dict, init=False)
    _done: set[str] = field(default_factory=set, init=False)

    @classmethod
    def of(cls, policy: str | os.PathLike[str]) -> Acknowledgements:
        """Return the state of a policy, which need not load or even exist."""
        return cls(os.path.abspath(policy))

    def wait(self, loosening: Loosening) -> None:
        """Note that a loosened policy waits."""
        self._waiting[loosening.digest] = loosening
        if self.policy is not None:
            _write(self._file(loosening.digest, _WAITING), loosening.as_json())

    def forget(self, digest: str) -> None:
        """Note that a loosened policy no longer waits."""
        self._waiting.pop(digest, None)
        if self.policy is not None:
            self._file(digest, _WAITING).unlink(missing_ok=True)

    def waiting(self) -> tuple[Loosening, ...]:
        """Return what waits, in this process or another one."""
        found = dict(self._waiting)
        for record in self._records(_WAITING):
            digest, what = record.get("digest"), record.get("what")
            if isinstance(digest, str) and isinstance(what, list):
                lines = tuple(line for line in what if isinstance(line, str))
                found.setdefault(digest, Loosening(digest=digest, refused=True, what=lines))
        return tuple(one for one in found.values() if not self.is_acknowledged(one.digest))

    def acknowledge(self, digest: str, *, by: str, now: datetime | None = None) -> Loosening:
        """Acknowledge the one that waits with this digest, and no other.

        Raises NotWaiting, and changes nothing, if there is none.
        """
        found = next((one for one in self.waiting() if one.digest == digest), None)
        if found is None:
            raise NotWaiting(f"nothing waits to be acknowledged as `{digest[:100]}`")
        if self.policy is None:
            self._done.add(digest)
        else:
            at = (now or datetime.now(UTC)).isoformat()
            record = {"digest": digest, "by": by, "at": at}
            _write(self._file(digest, _ACKNOWLEDGED), record)
        return found

    def withdraw(self, digest: str) -> None:
        """Undo an acknowledgement that could not be recorded."""
        self._done.discard(digest)
        if self.policy is not None:
            self._file(digest, _ACKNOWLEDGED).unlink(missing_ok=True)

    def is_acknowledged(self, digest: str) -> bool:
        """Return whether people have acknowledged this very difference."""
        if self.policy is None:
            return digest in self._done
        record = _read(self._file(digest, _ACKNOWLEDGED))
        return record is not None and record.get("digest") == digest

    def _records(self, ending: str) -> Iterator[Mapping[str, Any]]:
        if self.policy is None:
            return
        try:
            names = sorted(os.listdir(self._folder()))
        except OSError:
            return  # nothing has ever waited
        for name in names:
            record = _read(self._folder() / name) if name.endswith(ending) else None
            if record is not None:
                yield record

    def _folder(self) -> Path:
        assert self.policy is not None
        return state_folder(self.policy) / _FOLDER

    def _file(self, digest: str, ending: str) -> Path:
        found = _DIGEST.fullmatch(digest)
        # No other text is a name of a file here.
        return self._folder() / f"{found[1] if found else 'none'}{ending}"


def _read(file: Path) -> Mapping[str, Any] | None:
    """Return what a file says; None if it is not there, or was not written here."""
    try:
        with open(file, "rb") as stream:
            found: Any = json.loads(stream.read(_LARGEST))
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _write(file: Path, record: Mapping[str, Any]) -> None:
    """Put a whole new file in its place."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, fresh = tempfile.mkstemp(dir=file.parent, prefix=".loosening-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(record, stream, indent=1)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(fresh, file)
    except BaseException:
        Path(fresh).unlink(missing_ok=True)
        raise
