"""`[history]` of placet.toml: where the earlier calls of sessions are kept, and how many."""

from __future__ import annotations

import posixpath
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, Field, model_validator

from policy.generation.mcp_tables import Reference, placed_reference
from policy.generation.setting_types import STRICT, LongSpan, Somebody
from policy.generation.settings import HistorySettings

_SCHEMES = ("redis", "rediss", "unix")
_KINDS = "a store is a file, or a Redis server: `redis://HOST`, `rediss://HOST` or `unix:///SOCKET`"
_BY_REFERENCE = 'a password is named by where it stands: `password = { env = "NAME" }`, or a file'


def _store(store: str) -> str:
    if "://" not in store:
        return store
    try:
        parts = urlsplit(store)
        password, _ = parts.password, parts.port
    except ValueError as error:
        raise ValueError(f"it is not a URL: {error}") from error
    if parts.scheme not in _SCHEMES:
        raise ValueError(_KINDS)
    if password is not None or "password" in parts.query:
        raise ValueError(_BY_REFERENCE)
    local = parts.scheme == "unix"
    if local != (parts.hostname is None) or (local and not parts.path.strip("/")):
        raise ValueError(_KINDS)
    database = parts.query.removeprefix("db=") if local else parts.path.strip("/")
    if (database and not database.isdecimal()) or (parts.query and not local) or parts.fragment:
        number = "`?db=1`" if local else "`redis://HOST/1`"
        raise ValueError(f"a URL may name a database by its number, as in {number}, and no more")
    return store


class HistoryTable(BaseModel):
    """The table as it is written."""

    model_config = STRICT

    store: Annotated[str, AfterValidator(_store)] | None = Field(default=None, min_length=1)
    password: Reference | None = None
    entries: int = Field(default=HistorySettings().entries, ge=0, le=1_000_000)
    bytes: int = Field(default=HistorySettings().bytes, ge=0, le=10_000_000_000)
    result_bytes: int = Field(default=HistorySettings().result_bytes, ge=0, le=1_000_000_000)
    retention: LongSpan | None = None
    said_bytes: int = Field(default=HistorySettings().said_bytes, ge=0, le=5_000_000)
    message_bytes: int = Field(default=HistorySettings().message_bytes, ge=0, le=5_000_000)
    clear: list[Somebody] = []

    @model_validator(mode="after")
    def _is_for_a_server(self) -> HistoryTable:
        if self.password is not None and "://" not in (self.store or ""):
            raise ValueError("`password` is for a store in a Redis server")
        return self


def history_settings(history: HistoryTable, root: str) -> HistorySettings:
    """Return what a table says; paths are below `root`."""
    store, password = history.store, history.password
    if store is not None and "://" not in store:
        store = posixpath.normpath(posixpath.join(root, store))
    return HistorySettings(
        store=store,
        password=None if password is None else placed_reference(password, root),
        entries=history.entries,
        bytes=history.bytes,
        result_bytes=history.result_bytes,
        retention=history.retention,
        said_bytes=history.said_bytes,
        message_bytes=history.message_bytes,
        clear=tuple(dict.fromkeys(history.clear)),
    )
