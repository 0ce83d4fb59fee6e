"""`ProofRequest`: what the process that proves claims is asked, and how it is sent.

It gets what the policy was built from rather than the result, whose conditions are functions. The
digest of each question shows that it has built the same.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from io import BytesIO
from types import MappingProxyType
from typing import Any, BinaryIO

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
class ProofRequest:
    """Which questions about a policy are to be answered, by their digests, and what it is built of.

    The fields are those of `Builder` and `Builder.build`. Which fast paths this process takes does
    not matter: results are the same.
    """

    snapshot: Snapshot
    catalog: Catalog
    running: Mapping[str, str]
    guarded: ProtectedFiles
    wanted: tuple[str, ...] = ()

    def asking(self, wanted: tuple[str, ...]) -> ProofRequest:
        """Return the request for other questions."""
        return replace(self, wanted=wanted)


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


def sent(request: ProofRequest) -> bytes:
    """Return a request as bytes, without the functions by which tools read their input."""
    catalog = request.catalog
    specs = tuple(replace(spec, coerce=None) for spec in catalog.specs)
    buffer = BytesIO()
    _Pickler(buffer, pickle.HIGHEST_PROTOCOL).dump(
        (replace(request, catalog=Catalog()), specs, catalog.complete)
    )
    return buffer.getvalue()


def received(stream: BinaryIO) -> ProofRequest:
    """Return the request that the process which started this one sends."""
    request: ProofRequest
    request, specs, complete = pickle.load(stream)  # noqa: S301 — from our own parent
    return replace(request, catalog=Catalog(specs=tuple(map(_known, specs)), complete=complete))


def _known(spec: ToolSpec) -> ToolSpec:
    """Return a built-in tool as it is here."""
    builtin = builtin_catalog().get(spec.name)
    return builtin if builtin is not None and builtin == spec else spec


class _Pickler(pickle.Pickler):
    """Writes read-only mappings, too."""

    def reducer_override(self, given: Any) -> Any:
        return (_mapping, (dict(given),)) if type(given) is MappingProxyType else NotImplemented


def _mapping(items: dict[Any, Any]) -> Mapping[Any, Any]:
    return MappingProxyType(items)
