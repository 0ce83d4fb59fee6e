"""`ListedTool`: a tool as its server describes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from policy.model import EMPTY, freeze

# Whether the revision of the protocol has a handshake, or each request stands for itself.
Era: TypeAlias = Literal["handshake", "stateless"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTool:
    """One tool as its server lists it; `raw` is the whole entry, unchanged and frozen."""

    name: str
    raw: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListFaults:
    """What is wrong with a list of tools: the tools that are left out of it, each with the reason.

    `others` are sentences about entries without a name, and about the list itself.
    """

    left_out: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    others: tuple[str, ...] = ()


def frozen(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an entry of a list that nobody can change."""
    kept: Any = freeze(entry)
    return kept  # type: ignore[no-any-return]
