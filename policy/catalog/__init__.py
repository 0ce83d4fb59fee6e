"""The tools that a policy may name: their origins, schemas and resources."""

from __future__ import annotations

from policy.catalog.arguments import (
    Arguments,
    ModelArguments,
    schema_of,
)
from policy.catalog.builtin import builtin_catalog
from policy.catalog.catalog import Catalog, CatalogError, identifier_problem
from policy.catalog.encodings import ENCODINGS
from policy.catalog.fault import fault, unfolded
from policy.catalog.inclusion import holds, includes, patterns_of
from policy.catalog.listing import Listing, read_listing
from policy.catalog.markers import Connects, Reads, Runs, Sends, Writes, resources_of
from policy.catalog.names import ALIASES, Repaired, repair_name, snake_case, spellings
from policy.catalog.operations import Operations, arguments_of, models_of, operations_of
from policy.catalog.pattern import ToolPattern, ToolSelector, select_name
from policy.catalog.plain import schema_strictify
from policy.catalog.reading import read_arguments
from policy.catalog.schema import (
    FieldInfo,
    fields_of,
    is_closed,
    lookup,
    named_fields,
    requires,
)
from policy.catalog.strict import strict_schema
from policy.catalog.tool import (
    VERBS,
    VERSION_MARK,
    Origin,
    Resource,
    ToolSpec,
    Verb,
    apart,
)
from policy.catalog.view import SchemaView, SchemaViews
from policy.catalog.walk import (
    ANY,
    OPEN,
    Schema,
    Step,
    descend,
    joined_parts,
    kind_of,
    kinds_of,
    mapping,
    parts,
    read_only_schema,
)

__all__ = [
    "ALIASES",
    "ANY",
    "ENCODINGS",
    "OPEN",
    "VERBS",
    "VERSION_MARK",
    "Arguments",
    "Catalog",
    "CatalogError",
    "Connects",
    "FieldInfo",
    "Listing",
    "ModelArguments",
    "Operations",
    "Origin",
    "Reads",
    "Repaired",
    "Resource",
    "Runs",
    "Schema",
    "SchemaView",
    "SchemaViews",
    "Sends",
    "Step",
    "ToolPattern",
    "ToolSelector",
    "ToolSpec",
    "Verb",
    "Writes",
    "apart",
    "arguments_of",
    "builtin_catalog",
    "descend",
    "fault",
    "fields_of",
    "holds",
    "identifier_problem",
    "includes",
    "is_closed",
    "joined_parts",
    "kind_of",
    "kinds_of",
    "lookup",
    "mapping",
    "models_of",
    "named_fields",
    "operations_of",
    "parts",
    "patterns_of",
    "read_arguments",
    "read_listing",
    "read_only_schema",
    "repair_name",
    "requires",
    "resources_of",
    "schema_of",
    "schema_strictify",
    "select_name",
    "snake_case",
    "spellings",
    "strict_schema",
    "unfolded",
]
