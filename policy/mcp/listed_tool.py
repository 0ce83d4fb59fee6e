"""`ListedTool`: a tool as its server describes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from policy.model import freeze

# Whether the revision of the protocol has a handshake, or each request stands for itself.
Era: TypeAlias = Literal["handshake", "stateless"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTool:
    """One tool as its server lists it; `raw` is the whole entry, unchanged and frozen."""

    name: str
    raw: Mapping[str, Any]


def frozen(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an entry of a list that nobody can change."""
    kept: Any = freeze(entry)
    return kept  # type: ignore[no-any-return]
