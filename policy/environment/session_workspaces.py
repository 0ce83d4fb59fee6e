"""`SessionWorkspaces`: a folder of its own for each session tree, below one folder.

The name of a folder is a hash of the session, so that no session id can lead out of it. The folder
is checked at each call: it is a folder and no link, and it is ours alone.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta

from policy.diagnostics import visible
from policy.environment.policy_reach import policy_in_reach
from policy.environment.unused_workspaces import NAME, STAMP, locked, remove_unused
from policy.model import Caller

_LOG = logging.getLogger(__name__)
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CALLED = "the folder of workspaces"
_DAY = timedelta(days=1).total_seconds()


class WorkspaceUnusable(Exception):
    """The folder of workspaces, or the workspace of a session, cannot be used; says why."""


@dataclass(slots=True, kw_only=True, eq=False)
class SessionWorkspaces:
    """The workspaces below `root`, a folder that exists, with its links resolved.

    None of them contains the file or folder `policy`, nor is within it. Those that no session has
    used for `keep` are removed, None: all are kept.
    """

    root: str
    policy: str | None = None
    keep: timedelta | None = None
    _clean_at: float = field(default=0.0, init=False)

    def path_of(self, caller: Caller) -> str:
        """Return the workspace of a caller's session tree, whether it exists or not."""
        return f"{self.root}/{_name_of(caller)}"

    def containing(self, path: str) -> str | None:
        """Return the workspace that a path is in, None for a path beside them."""
        name = path.removeprefix(f"{self.root}/").split("/", 1)[0]
        inside = path.startswith(f"{self.root}/") and NAME.fullmatch(name)
        return f"{self.root}/{name}" if inside else None

    def use(self, caller: Caller) -> str:
        """Return the workspace of a caller's session tree, made if it is not there yet.

        Raises WorkspaceUnusable.
        """
        name = _name_of(caller)
        try:
            with self.opened() as root, locked(root, shared=True):
                _make(root, name)
                # Beside the folder, where what runs in it cannot write.
                stamp = os.open(f"{name}{STAMP}", _FILE, 0o600, dir_fd=root)
                try:
                    os.utime(stamp)
                finally:
                    os.close(stamp)
        except OSError as error:
            place = visible(f"{self.root}/{name}", 1000)
            raise WorkspaceUnusable(f"{place} cannot be used: {error.strerror}") from error
        self._clean_if_due()
        return f"{self.root}/{name}"

    @contextmanager
    def opened(self) -> Iterator[int]:
        """Open the folder of workspaces, once more checked; raise WorkspaceUnusable or OSError."""
        place = visible(self.root, 1000)
        if os.path.realpath(self.root) != self.root:
            raise WorkspaceUnusable(f"{place} is reached by a link now")
        policy = self.policy
        if policy and (reach := policy_in_reach(policy, self.root, called=_CALLED)):
            raise WorkspaceUnusable(f"{reach}: keep them apart")
        handle = os.open(self.root, _FOLDER)
        try:
            found = os.fstat(handle)
            if found.st_uid != os.geteuid() or found.st_mode & 0o022:
                raise WorkspaceUnusable(f"others may write in {place}: name a folder of your own")
            yield handle
        finally:
            os.close(handle)

    def _clean_if_due(self) -> None:
        """Remove unused workspaces at the first call and once a day, while calls go on."""
        if self.keep is None or time.monotonic() < self._clean_at:
            return
        self._clean_at = time.monotonic() + _DAY
        threading.Thread(
            target=self.clean, args=(self.keep,), name="placet: workspaces", daemon=True
        ).start()

    def clean(self, keep: timedelta) -> None:
        """Remove the workspaces that no session has used for so long."""
        try:
            with self.opened() as root:
                problems = remove_unused(root, before=time.time() - keep.total_seconds())
        except (OSError, WorkspaceUnusable) as error:
            problems = [str(error)]
        for problem in problems[:1]:
            more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
            _LOG.warning("unused workspaces are not removed: %s%s", visible(problem, 500), more)


def open_workspaces(
    folder: str, *, policy: str | None = None, keep: timedelta | None = None
) -> SessionWorkspaces:
    """Return the workspaces below a folder, which is made if need be; raise WorkspaceUnusable."""
    root = os.path.realpath(os.path.expanduser(folder))
    try:
        os.makedirs(root, mode=0o700, exist_ok=True)
        _require_no_workspace_around(root)
        workspaces = SessionWorkspaces(root=root, policy=policy, keep=keep)
        with workspaces.opened():
            return workspaces
    except OSError as error:
        place = visible(root, 1000)
        raise WorkspaceUnusable(f"{place} cannot be used: {error.strerror}") from error


def _name_of(caller: Caller) -> str:
    """Return the name of the folder of a session tree: that of the root caller and its user."""
    *_, first = caller.chain()
    key = json.dumps([first.user, first.session])
    return hashlib.sha256(key.encode("ascii")).digest()[:16].hex()


def _make(root: int, name: str) -> None:
    """Make a folder in another one unless it is there; raise OSError if it is not ours alone."""
    # What there is already, of an earlier call or of one at the same time, is seen below.
    with suppress(FileExistsError):
        os.mkdir(name, 0o700, dir_fd=root)
    handle = os.open(name, _FOLDER, dir_fd=root)
    try:
        found = os.fstat(handle)
        if found.st_uid != os.geteuid():
            raise PermissionError(0, "it belongs to somebody else")
        if stat.S_IMODE(found.st_mode) != 0o700:
            os.fchmod(handle, 0o700)
    finally:
        os.close(handle)


def _require_no_workspace_around(root: str) -> None:
    """Raise WorkspaceUnusable for a folder within the workspace of some session."""
    here = root
    while here != "/":
        if NAME.fullmatch(os.path.basename(here)) and os.path.lexists(f"{here}{STAMP}"):
            raise WorkspaceUnusable(f"{visible(root, 1000)} is in the workspace of a session")
        here = os.path.dirname(here)
