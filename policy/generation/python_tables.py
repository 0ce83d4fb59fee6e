"""The table `[service.python]`: how `python_exec` runs code, and where packages come from."""

from __future__ import annotations

import posixpath
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, Field, model_validator

from policy.catalog import name_in, read_requirement
from policy.generation.python_settings import PythonSettings
from policy.generation.sandbox_tables import Hosts
from policy.generation.setting_types import STRICT, LongSpan, Seconds

_DEFAULTS = PythonSettings()


def _index(url: str) -> str:
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        known = False
    if not known or not url.isascii() or not url.isprintable() or " " in url:
        raise ValueError(
            "an index is an http or https URL, such as `https://packages.example/simple/`"
        )
    if parts.username is not None or parts.password is not None:
        raise ValueError("an index is named without a user and a password")
    return url


def _interpreter(name: str) -> str:
    if name.startswith("-") or not name.isprintable() or ("/" in name and name[0] != "/"):
        raise ValueError("an interpreter is named as in PATH, or by its absolute path")
    return name


def _package(name: str) -> str:
    try:
        read = read_requirement(name)
    except ValueError:
        read = ""
    if not read or read != name_in(read):
        raise ValueError(f"`{name}` is no name of a package")
    return read


class PythonTable(BaseModel):
    """How `python_exec` runs code, and where its packages come from."""

    model_config = STRICT

    enabled: bool = _DEFAULTS.enabled
    interpreter: Annotated[str, Field(min_length=1), AfterValidator(_interpreter)] = (
        _DEFAULTS.interpreter
    )
    index: Annotated[str, AfterValidator(_index)] | None = None
    hosts: Hosts = []
    wheels: str | None = Field(default=None, min_length=1)
    packages: list[Annotated[str, AfterValidator(_package)]] | None = None
    requirements: int = Field(default=_DEFAULTS.requirements, ge=0, le=200)
    size: int = Field(default=_DEFAULTS.size, ge=1, le=10**13)
    timeout: Seconds = _DEFAULTS.timeout
    installations: int = Field(default=_DEFAULTS.installations, ge=1, le=10_000)
    keep: LongSpan = _DEFAULTS.keep

    @model_validator(mode="after")
    def _reaches_its_index(self) -> Self:
        if self.index is not None and not self.hosts:
            raise ValueError(
                "name the `hosts` that an installation may connect to: that of `index`, and those "
                "that its files come from"
            )
        if self.hosts and self.index is None:
            raise ValueError("`hosts` are for `index`: name its URL")
        return self


def python_settings(table: PythonTable, root: str) -> PythonSettings:
    """Return what a table says; paths are relative to `root`."""
    wheels = table.wheels
    if wheels is not None and not wheels.startswith("~/"):
        wheels = posixpath.normpath(posixpath.join(root, wheels))
    return PythonSettings(
        enabled=table.enabled,
        interpreter=table.interpreter,
        index=table.index,
        hosts=tuple(table.hosts),
        wheels=wheels,
        packages=None if table.packages is None else tuple(sorted({*table.packages})),
        requirements=table.requirements,
        size=table.size,
        timeout=table.timeout,
        installations=table.installations,
        keep=table.keep,
    )
