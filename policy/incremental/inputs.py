"""A digest of everything outside of policy files that affects rules.

That is the catalogue, the data files that rules name, and the programs of the folder.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any

from policy.catalog import Catalog, ToolSpec
from policy.model import Source, freeze

# All fields of a tool's definition but its code for inputs, which no check uses.
_TOLD = [one.name for one in fields(ToolSpec) if one.compare and one.name != "schema"]


class Inputs:
    """Digests for one policy folder; that of an unchanged catalogue is cached."""

    def __init__(self) -> None:
        self._catalog: Catalog | None = None
        self._catalog_digest = ""

    def digest(
        self,
        catalog: Catalog,
        *,
        data: Mapping[str, Any],
        digests: Mapping[str, str],
        programs: Mapping[str, Source],
    ) -> str:
        """Return the digest; `data` are the data files, those that no rule names being None."""
        if catalog is not self._catalog:
            self._catalog_digest = _digest(_of_catalog(catalog))
            self._catalog = catalog
        read = [f"{name} {digests.get(name)}" for name, value in data.items() if value is not None]
        texts = [f"{name} {source.text}" for name, source in programs.items()]
        return _digest((self._catalog_digest, *sorted(read), "programs", *sorted(texts)))


def _digest(parts: Iterable[str]) -> str:
    # Each part is preceded by its length, so that different lists never hash the same text.
    joined = "".join([f"{len(part)} {part}" for part in parts])
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()


def _of_catalog(catalog: Catalog) -> Iterator[str]:
    yield f"complete {catalog.complete}"
    for spec in catalog.specs:
        yield repr([getattr(spec, name) for name in _TOLD])
        yield repr(_frozen(spec.schema))


def _frozen(schema: Mapping[str, Any]) -> Any:
    """Return a schema as dict views, tuples and plain values, whose `repr` shows their content."""
    # Views are what `freeze` makes, of all that is in them.
    return schema if type(schema) is MappingProxyType else freeze(schema)
