"""What every pass is handed: the catalogue, the data, the report, and the readers they share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from policy.catalog import Catalog, ToolSelector
from policy.checks.checked import CheckedRule, Step, ValueSet
from policy.checks.fields import Sight, Tools
from policy.checks.kinds import Kind
from policy.checks.report import Report
from policy.checks.scopes import Definition, Extent
from policy.checks.tools import ToolReader
from policy.checks.typed import Typed
from policy.commands import Profiles


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
    # What rules hold in common, so that it is there once: texts and whole numbers by kind, lists of
    # texts, the words of conditions, steps by what they lead on from, fields of the input by the
    # sight of the tools a rule is about.
    literals: dict[tuple[type, str | int], Typed] = field(default_factory=dict)
    lists: dict[tuple[str, ...], Typed] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    steps: dict[tuple[int, str], Step] = field(default_factory=dict)
    input_fields: dict[tuple[int, tuple[str, ...]], Typed] = field(default_factory=dict)
    # What tools have in common that say the same of every field.
    sights: dict[Sight, Sight] = field(default_factory=dict)
    # Tools whose undeclared fields some `tool … extra fields allowed` lets through.
    open: frozenset[str] = frozenset()
    # The rules that were not remembered.
    fresh: list[CheckedRule] = field(default_factory=list)
