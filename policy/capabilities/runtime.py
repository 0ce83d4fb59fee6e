"""How a plugin runs that Placet starts, and what it needs to touch, as its manifest says."""

from __future__ import annotations

from typing import Annotated, Literal, Self, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from policy.capabilities.declaration import FilePath, Line
from policy.values import REDIRECTED, Unreadable, read_host_pattern

# Any path that the configuration grants.
ANY_PATH = "*"


def _without_parent(path: str) -> str:
    if ".." in path.split("/"):
        raise ValueError("no part of it may be `..`")
    return path


_NeededPath = Annotated[
    str,
    StringConstraints(pattern=r"^(\*|/[^\x00]*|~/[^\x00]+)$", max_length=1_000),
    AfterValidator(_without_parent),
]


def _as_host(text: str) -> str:
    read = read_host_pattern(text)
    if isinstance(read, Unreadable):
        raise ValueError(f"it is no host: {read.reason}")
    if read.word == REDIRECTED or read.path is not None:
        raise ValueError("hosts are named without paths")
    return text


_NeededHost = Annotated[
    str, StringConstraints(min_length=1, max_length=300), AfterValidator(_as_host)
]


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class ProcessRuntime(_Part):
    """A program that answers JSON-RPC over its standard streams, started in the plugin's folder."""

    type: Literal["process"] = "process"
    command: Annotated[tuple[Line, ...], Field(strict=False, min_length=1, max_length=50)]


class WasmRuntime(_Part):
    """A WebAssembly module by the contract of Extism: each tool is a function that it exports."""

    type: Literal["wasm"] = "wasm"
    module: FilePath


PluginRuntime: TypeAlias = Annotated[ProcessRuntime | WasmRuntime, Field(discriminator="type")]


class PluginAccess(_Part):
    """What a plugin needs beyond its own files. It gets no more than the configuration grants.

    Paths are absolute or begin with `~/`, and stand for everything below them; `*` stands for
    whatever is granted. `connects` has the hosts that it needs with the network `hosts`, as rules
    name hosts, without paths.
    """

    reads: Annotated[tuple[_NeededPath, ...], Field(strict=False, max_length=200)] = ()
    writes: Annotated[tuple[_NeededPath, ...], Field(strict=False, max_length=200)] = ()
    network: Literal["none", "hosts", "all"] = "none"
    connects: Annotated[tuple[_NeededHost, ...], Field(strict=False, max_length=1_000)] = ()

    @model_validator(mode="after")
    def _has_effect(self) -> Self:
        if bool(self.connects) != (self.network == "hosts"):
            raise ValueError('`connects` and `"network": "hosts"` need one another')
        return self
