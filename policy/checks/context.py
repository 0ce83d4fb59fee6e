"""`CheckContext`: what every pass is given: the catalogue, the data, the report, shared readers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from policy.catalog import Catalog, ToolSelector
from policy.checks.checked import CheckedLabel, CheckedRule, CheckedStore, FieldOf, ValueSet
from policy.checks.conditions.fields import Sight, ToolFields
from policy.checks.conditions.typed_value import TypedValue
from policy.checks.conditions.value_types import ValueType
from policy.checks.names.scopes import Definition, Extent, LabelSource
from policy.checks.names.tool_selectors import SelectorReader
from policy.checks.report import Report
from policy.programs import Profiles


@dataclass(slots=True, kw_only=True, eq=False)
class CheckContext:
    """The context of one run of `check`; sets already resolved are kept by definition."""

    report: Report
    catalog: Catalog
    tools: SelectorReader
    data: Mapping[str, Any]
    context: Mapping[str, ValueType]
    profiles: Profiles
    # The groups of approvers of the configuration, with their members; none if it has no groups.
    groups: Mapping[str, tuple[str, ...]]
    # For how long earlier calls are kept; None: as long as there is room.
    retention: timedelta | None = None
    sets: dict[Definition, ValueSet | None] = field(default_factory=dict)
    # The extents of the sets above, by identity.
    extents: dict[int, Extent] = field(default_factory=dict)
    fields: dict[ToolSelector, ToolFields] = field(default_factory=dict)
    # Objects shared by rules to save memory: strings and whole numbers by type, lists of strings,
    # texts of conditions, steps by their base, and input fields by the schemas of a rule's tools.
    literals: dict[tuple[type, str | int], TypedValue] = field(default_factory=dict)
    lists: dict[tuple[str, ...], TypedValue] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    steps: dict[tuple[int, str], FieldOf] = field(default_factory=dict)
    input_fields: dict[tuple[int, tuple[str, ...]], TypedValue] = field(default_factory=dict)
    # One object for tools with equal schemas.
    sights: dict[Sight, Sight] = field(default_factory=dict)
    # Tools to which some `tool … extra fields allowed` applies.
    open: frozenset[str] = frozenset()
    # The rules that were checked in this run.
    fresh: list[CheckedRule] = field(default_factory=list)
    # The labels that the layer being read can see, and their statements as far as they were read.
    labels: tuple[LabelSource, ...] = ()
    # The stores that it knows of.
    stores: tuple[CheckedStore, ...] = ()
    read_labels: dict[LabelSource, CheckedLabel] = field(default_factory=dict)
    # Those whose conditions are being read, outermost first.
    open_labels: list[LabelSource] = field(default_factory=list)

    def fields_for(self, selector: ToolSelector) -> ToolFields:
        """Return the fields of the tools that a selector matches; cached by selector."""
        kept = self.fields.get(selector)
        if kept is None:
            specs = self.tools.matching(selector)
            everything = len(specs) == len(self.catalog.specs)
            kept = self.fields[selector] = ToolFields(
                specs=specs, everything=everything, open=self.open, views=self.catalog.views
            )
        return kept
