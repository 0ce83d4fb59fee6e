"""The parts of a server's result: clients are shown what redactions and labels look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any

from policy.tools.service import RelayedResult

# The keys, types and roles of the content of MCP results: without them, no client can read it.
PROTOCOL_WORDS = frozenset(
    """annotations assistant audience audio blob content contents data description icons image
    isError lastModified messages mimeType name priority resource resource_link role size src
    structuredContent text title tool_result tool_use type uri user _meta""".split()
)
NO_WORDS: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultPart:
    """One part of a result, by the name of its field; `words` in it are those of the protocol."""

    name: str
    value: Any
    words: frozenset[str]


def parts_of(result: RelayedResult) -> Iterator[ResultPart]:
    """Yield all that a client is shown of a result, unknown keys and kinds of content included."""
    for field in fields(result):
        words = NO_WORDS if field.name == "structured" else PROTOCOL_WORDS
        yield ResultPart(name=field.name, value=getattr(result, field.name), words=words)


def with_parts(result: RelayedResult, change: Callable[[ResultPart], Any]) -> RelayedResult:
    """Return a result with every part changed."""
    return RelayedResult(**{part.name: change(part) for part in parts_of(result)})
