"""The key that seals what clients carry for parked calls, kept over restarts.

A client that comes back to a gateway that was started again is told so, in place of an error that
looks like an attack. The key is in the folder of the policy's state, which no tool may write.
"""

from __future__ import annotations

import logging
import os
import secrets
import stat
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from mcp.server.request_state import AESGCMRequestStateCodec

_LOG = logging.getLogger(__name__)
_LENGTH = 32  # bytes
_OWNER_ONLY = 0o600


class _Unfit(Exception):
    """The file is there and must not be used; the message says why."""


class SealedWhenNeeded:
    """Seals with a key that is read when the first call is parked, or the first state comes."""

    def __init__(self, key: Callable[[], bytes]) -> None:
        self._key = key

    @cached_property
    def _codec(self) -> AESGCMRequestStateCodec:
        return AESGCMRequestStateCodec([self._key()])

    def seal(self, payload: bytes) -> str:
        """Return a token that nobody else can read, or make."""
        return self._codec.seal(payload)

    def unseal(self, token: str) -> bytes:
        """Return what was sealed; raise InvalidRequestState."""
        return self._codec.unseal(token)


def new_key() -> bytes:
    """Return a key at random."""
    return secrets.token_bytes(_LENGTH)


def kept_key(file: Path) -> bytes:
    """Return the key in a file, which is made if it is not there.

    A key that others may know, or that cannot be kept, is not used: the process has one of its own
    then, and what its clients carry serves until it ends.
    """
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return _read(file) or _made(file)
    except (OSError, _Unfit) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        _LOG.warning(
            "the key %s is not used: %s; calls that wait for a client do not outlive this process",
            file,
            why,
        )
        return new_key()


def _read(file: Path) -> bytes | None:
    """Return the key, None if there is no file; raise OSError or _Unfit."""
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    with open(handle, "rb") as stream:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            raise _Unfit("it is not a file of this user")
        if stat.S_IMODE(found.st_mode) & ~_OWNER_ONLY:
            raise _Unfit("others may read or change it (chmod 600, or remove it)")
        key = stream.read(_LENGTH + 1)
    if len(key) != _LENGTH:
        raise _Unfit(f"it does not have {_LENGTH} bytes (remove it)")
    return key


def _made(file: Path) -> bytes:
    """Make the file as a whole; of two processes that do so at once, both use the same."""
    key = new_key()
    unnamed = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
    handle = os.open(unnamed, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _OWNER_ONLY)
    try:
        with open(handle, "wb") as stream:
            stream.write(key)
            stream.flush()
            os.fsync(handle)
        os.link(unnamed, file)
    except FileExistsError:
        found = _read(file)
        if found is None:
            raise
        return found
    finally:
        unnamed.unlink()
    return key
