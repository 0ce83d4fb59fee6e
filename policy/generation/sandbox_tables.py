"""The table `[sandbox]`, and the one of an MCP server: what programs may touch."""

from __future__ import annotations

import posixpath
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, Field, model_validator

from policy.generation.sandbox_settings import (
    ConfiningDriver,
    Network,
    ProcessLimits,
    Reach,
    SandboxDriverName,
    SandboxSettings,
)
from policy.generation.setting_types import STRICT, Seconds
from policy.values import REDIRECTED, Unreadable, read_host_pattern

_MOST_PATHS = 200
_MOST_HOSTS = 1_000


def _path(value: Any) -> Any:
    if not isinstance(value, str) or not value or "\0" in value:
        raise ValueError("a folder or file is named by its path, such as `~/.cache/pip`")
    if value == "~":
        value = "~/"
    if value.startswith("~") and not value.startswith("~/"):
        raise ValueError("the home folder of another user cannot be named by `~`")
    if any(letter in value for letter in "*?["):
        raise ValueError("a path is named as it is, without `*`, `?` and `[`")
    return value


def _host(value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError("a host is named by a string, such as `api.example.com`")
    read = read_host_pattern(value)
    if isinstance(read, Unreadable):
        raise ValueError(
            f"a host is named as rules name it, such as `*.example.com`: {read.reason}"
        )
    if read.word == REDIRECTED or read.path is not None:
        raise ValueError("hosts are named without paths: what is asked for is encrypted")
    return value


_AnyHost = Annotated[str, BeforeValidator(_host)]
Hosts = Annotated[list[_AnyHost], Field(max_length=_MOST_HOSTS)]
_AnyPath = Annotated[str, BeforeValidator(_path)]
_Paths = Annotated[list[_AnyPath], Field(max_length=_MOST_PATHS)]
_Size = Annotated[int, Field(ge=1, le=10**15)]


class _Limits(BaseModel):
    model_config = STRICT

    cpu: Seconds | None = None
    memory: _Size | None = None
    # Less than this, and no program starts.
    total_memory: Annotated[int, Field(ge=1_000_000, le=10**15)] | None = None
    processes: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    file_size: _Size | None = None
    open_files: Annotated[int, Field(ge=3, le=1_000_000)] | None = None
    scratch: _Size = ProcessLimits().scratch


class _Table(BaseModel):
    model_config = STRICT

    reads: _Paths = []
    writes: _Paths = []
    connects: Hosts = []
    network: Network = Reach().network
    limits: _Limits = _Limits()

    @model_validator(mode="after")
    def _has_effect(self) -> Self:
        if self.connects and self.network != "hosts":
            raise ValueError('`connects` has an effect with `network = "hosts"` only')
        return self


class ReachTable(_Table):
    """What one program may touch."""

    driver: ConfiningDriver = Reach().driver


class SandboxTable(_Table):
    """The sandbox of built-in tools that run code."""

    driver: SandboxDriverName = SandboxSettings().driver
    required: bool = SandboxSettings().required
    search: Annotated[int, Field(ge=0, le=10**8)] = SandboxSettings().search


def sandbox_settings(table: SandboxTable, root: str) -> SandboxSettings:
    """Return what a table says; paths are relative to `root`."""
    return SandboxSettings(
        driver=table.driver,
        named="driver" in table.model_fields_set,
        required=table.required,
        search=table.search,
        reach=reach_of(table, root),
    )


def reach_of(table: ReachTable | SandboxTable, root: str) -> Reach:
    """Return what a program may touch; paths are relative to `root`."""
    limits = table.limits
    return Reach(
        reads=tuple(_absolute(path, root) for path in table.reads),
        writes=tuple(_absolute(path, root) for path in table.writes),
        connects=tuple(table.connects),
        network=table.network,
        driver=Reach().driver if table.driver == "off" else table.driver,
        limits=ProcessLimits(
            # The system counts whole seconds.
            cpu=None if limits.cpu is None else max(1, round(limits.cpu)),
            memory=limits.memory,
            total_memory=limits.total_memory,
            processes=limits.processes,
            file_size=limits.file_size,
            open_files=limits.open_files,
            scratch=limits.scratch,
        ),
    )


def _absolute(path: str, root: str) -> str:
    return path if path.startswith("~/") else posixpath.normpath(posixpath.join(root, path))
