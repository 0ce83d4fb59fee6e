"""What rules can see that stands in no policy file, in; a digest of it out.

That is the catalogue, the data files that rules name, the programs of the folder, and Placet
itself: its version, and the files of its code as they are installed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from operator import attrgetter
from typing import Any

from policy.catalog import Catalog, ToolSpec
from policy.digests import sha256
from policy.records import fields
from policy.source import Source
from policy.version import VERSION

# What a tool's definition holds beside what its code does to an input, which no check looks at.
_told = attrgetter(*(one.name for one in fields(ToolSpec) if one.compare and one.name != "schema"))


class Beyond:
    """Digests for one policy folder; that of a catalogue is kept as long as it stays the same."""

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


@cache
def own_digest() -> str:
    """Return the digest of what this process runs: versions, and names and times of our files."""
    parts = [sys.version, VERSION]
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for path, names, files in os.walk(folder):
        names[:] = sorted(name for name in names if name != "__pycache__")
        for name in sorted(files):
            found = os.stat(os.path.join(path, name))
            parts.append(f"{path}/{name} {found.st_size} {found.st_mtime_ns}")
    return _digest(parts)


def _digest(parts: Any) -> str:
    found = sha256()
    for part in parts:
        told = part.encode("utf-8", "surrogatepass")
        found.update(len(told).to_bytes(8, "big"))
        found.update(told)
    return found.hexdigest()


def _of_catalog(catalog: Catalog) -> Iterator[str]:
    yield f"complete {catalog.complete}"
    schemas: dict[int, str] = {}
    for spec in catalog.specs:
        # Many tools of one server share a schema.
        told = schemas.get(id(spec.schema))
        if told is None:
            told = schemas[id(spec.schema)] = repr(_plain(spec.schema))
        yield told
        yield repr(_told(spec))


def _plain(value: Any) -> Any:
    """Return a frozen JSON value as lists of pairs, whose text is the same in every process."""
    match value:
        case Mapping():
            return ("object", [(key, _plain(part)) for key, part in value.items()])
        case tuple() | list():
            return [_plain(part) for part in value]
        case _:
            return value
