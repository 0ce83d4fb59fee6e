"""The tools that a policy may name: their origins, schemas and resources."""

from policy.catalog.arguments import (
    Arguments,
    Connects,
    Reads,
    Runs,
    Sends,
    Writes,
    coercion_of,
    tool_of,
)
from policy.catalog.builtin import builtin_catalog
from policy.catalog.catalog import Catalog, CatalogError
from policy.catalog.fault import fault, unfolded
from policy.catalog.listing import Listing, read_listing
from policy.catalog.names import ALIASES, Repaired, repair_name, snake_case, spellings
from policy.catalog.pattern import ToolPattern, ToolSelector
from policy.catalog.schema import FieldInfo, fields_of, is_closed, lookup, named_fields, requires
from policy.catalog.strict import schema_strictify, strict_schema
from policy.catalog.tool import VERBS, Origin, Resource, ToolSpec, Verb
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
)

__all__ = [
    "ALIASES",
    "ANY",
    "OPEN",
    "VERBS",
    "Arguments",
    "Catalog",
    "CatalogError",
    "Connects",
    "FieldInfo",
    "Listing",
    "Origin",
    "Reads",
    "Repaired",
    "Resource",
    "Runs",
    "Schema",
    "Sends",
    "Step",
    "ToolPattern",
    "ToolSelector",
    "ToolSpec",
    "Verb",
    "Writes",
    "builtin_catalog",
    "coercion_of",
    "descend",
    "fault",
    "fields_of",
    "is_closed",
    "joined_parts",
    "kind_of",
    "kinds_of",
    "lookup",
    "mapping",
    "named_fields",
    "parts",
    "read_listing",
    "repair_name",
    "requires",
    "schema_strictify",
    "snake_case",
    "spellings",
    "strict_schema",
    "tool_of",
    "unfolded",
]
