"""What the process is asked that proves claims and compares policies, and how it is sent.

It gets what a policy was built from rather than the result, whose conditions are functions. The
digests of questions, or of both policies, show that it has built the same.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from io import BytesIO
from types import MappingProxyType
from typing import Any, BinaryIO, ClassVar, TypeAlias

from policy.catalog import Catalog, ToolSpec, builtin_catalog
from policy.generation import (
    POLICY_SUFFIX,
    PROGRAMS_FOLDER,
    Generation,
    ProtectedFiles,
    Snapshot,
    content_digest,
)

# The last line of the answers to a request.
DONE: dict[str, Any] = {"done": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRequest:
    """What a policy is built from: the fields are those of `Builder` and `Builder.build`.

    Which fast paths this process takes does not matter: results are the same.
    """

    snapshot: Snapshot
    catalog: Catalog
    running: Mapping[str, str]
    guarded: ProtectedFiles


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofRequest:
    """Which questions about a policy are to be answered, by their digests."""

    policy: BuildRequest
    wanted: tuple[str, ...]

    does: ClassVar[str] = "proves it"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonRequest:
    """Two policies that are to be compared, with `steps` for each question."""

    before: BuildRequest
    after: BuildRequest
    steps: int

    does: ClassVar[str] = "compares the policies"


Request: TypeAlias = ProofRequest | ComparisonRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A policy as it was built here, and what another process builds it from."""

    generation: Generation
    request: BuildRequest


def surroundings_of(generation: Generation) -> str:
    """Return a digest of what conditions depend on besides rules and tools: profiles of programs.

    Data files and tables of settings are part of the rules that they are used in.
    """
    return _files(generation, lambda name: name.startswith(PROGRAMS_FOLDER))


def beside_rules(generation: Generation) -> str:
    """Return a digest of all files of a policy but its rules: settings, data and lists of tools."""
    return _files(generation, lambda name: not name.endswith(POLICY_SUFFIX))


def _files(generation: Generation, counts: Callable[[str], bool]) -> str:
    named = (f"{name} {digest}" for name, digest in generation.digests.items() if counts(name))
    return content_digest("\n".join(sorted(named)).encode("utf-8", "surrogatepass"))


def sent(request: Request) -> bytes:
    """Return a request as bytes, without the functions by which tools read their input."""
    buffer = BytesIO()
    _Pickler(buffer, pickle.HIGHEST_PROTOCOL).dump(request)
    return buffer.getvalue()


def received(stream: BinaryIO) -> Request:
    """Return the request that the process which started this one sends."""
    request: Request = pickle.load(stream)  # noqa: S301 — from our own parent
    return request


def _catalog(specs: tuple[ToolSpec, ...], complete: bool) -> Catalog:  # noqa: FBT001 — pickle
    return Catalog(specs=tuple(map(_known, specs)), complete=complete)


def _known(spec: ToolSpec) -> ToolSpec:
    """Return a built-in tool as it is here."""
    builtin = builtin_catalog().get(spec.name)
    return builtin if builtin is not None and builtin == spec else spec


class _Pickler(pickle.Pickler):
    """Writes read-only mappings and catalogues, too."""

    def reducer_override(self, given: Any) -> Any:
        match given:
            case Catalog():
                specs = tuple(replace(spec, coerce=None) for spec in given.specs)
                return (_catalog, (specs, given.complete))
            case MappingProxyType():
                return (_mapping, (dict(given),))
            case _:
                return NotImplemented


def _mapping(items: dict[Any, Any]) -> Mapping[Any, Any]:
    return MappingProxyType(items)
