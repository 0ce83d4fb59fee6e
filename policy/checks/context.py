"""`CheckContext`: what every pass is given: the catalogue, the data, the report, shared readers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from policy.catalog import Catalog, ToolSelector
from policy.checks.checked import CheckedRule, FieldOf, ValueSet
from policy.checks.conditions.fields import Sight, ToolFields
from policy.checks.conditions.typed_value import TypedValue
from policy.checks.conditions.value_types import ValueType
from policy.checks.names.scopes import Definition, Extent
from policy.checks.names.tool_selectors import SelectorReader
from policy.checks.report import Report
from policy.programs import Profiles


@dataclass(slots=True, kw_only=True, eq=False)
class CheckContext:
    """The surroundings of one run of `check`; the sets already read are kept by definition."""

    report: Report
    catalog: Catalog
    tools: SelectorReader
    data: Mapping[str, Any]
    context: Mapping[str, ValueType]
    profiles: Profiles
    sets: dict[Definition, ValueSet | None] = field(default_factory=dict)
    # The extents of the sets above, by identity.
    extents: dict[int, Extent] = field(default_factory=dict)
    fields: dict[ToolSelector, ToolFields] = field(default_factory=dict)
    # What rules hold in common, so that it is there once: texts and whole numbers by kind, lists of
    # texts, the words of conditions, steps by what they lead on from, fields of the input by the
    # sight of the tools a rule is about.
    literals: dict[tuple[type, str | int], TypedValue] = field(default_factory=dict)
    lists: dict[tuple[str, ...], TypedValue] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    steps: dict[tuple[int, str], FieldOf] = field(default_factory=dict)
    input_fields: dict[tuple[int, tuple[str, ...]], TypedValue] = field(default_factory=dict)
    # What tools have in common that say the same of every field.
    sights: dict[Sight, Sight] = field(default_factory=dict)
    # Tools whose undeclared fields some `tool … extra fields allowed` lets through.
    open: frozenset[str] = frozenset()
    # The rules that were not remembered.
    fresh: list[CheckedRule] = field(default_factory=list)
