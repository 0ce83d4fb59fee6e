"""What every pass is handed: the catalogue, the data, the report, and the readers they share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from policy.catalog import Catalog, ToolSelector
from policy.checks.checked import CheckedRule, ValueSet
from policy.checks.fields import Tools
from policy.checks.kinds import Kind
from policy.checks.report import Report
from policy.checks.scopes import Definition, Extent
from policy.checks.tools import ToolReader
from policy.commands import Profiles
from policy.records import dataclass


@dataclass(slots=True, kw_only=True, eq=False)
class World:
    """The surroundings of one run of `check`; the sets already read are kept by definition."""

    report: Report
    catalog: Catalog
    tools: ToolReader
    data: Mapping[str, Any]
    context: Mapping[str, Kind]
    profiles: Profiles
    sets: dict[Definition, ValueSet | None] = field(default_factory=dict)
    # The extents of the sets above, by identity.
    extents: dict[int, Extent] = field(default_factory=dict)
    fields: dict[ToolSelector, Tools] = field(default_factory=dict)
    # Tools whose undeclared fields some `tool … extra fields allowed` lets through.
    open: frozenset[str] = frozenset()
    # The rules that were not remembered.
    fresh: list[CheckedRule] = field(default_factory=list)
