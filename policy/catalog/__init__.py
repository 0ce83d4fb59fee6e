"""The tools that a policy may name: their origins, schemas and resources."""

from policy.catalog.agreement import RunningTool, completed, contradictions
from policy.catalog.arguments import Arguments, ModelArguments, schema_of
from policy.catalog.builtin import builtin_catalog
from policy.catalog.catalog import Catalog, CatalogError, identifier_problem
from policy.catalog.client_requests import CLIENT_REQUESTS, ELICIT, LIST_ROOTS, SAMPLE
from policy.catalog.code_tools import CODE_EXEC, LANGUAGES, Language, code_exec_spec
from policy.catalog.encodings import ENCODINGS
from policy.catalog.fewer_operations import FewerOperations
from policy.catalog.folder_names import FOLDERS, is_of_folders, name_words
from policy.catalog.listing import Listing, read_listing
from policy.catalog.listing_entry import listing_entry
from policy.catalog.markers import Connects, Reads, Runs, Sends, Writes, resources_of
from policy.catalog.model_input import read_arguments
from policy.catalog.name_classes import TooManyPatterns, patterns_in, tools_of_classes
from policy.catalog.name_repair import ALIASES, RepairedName, repair_name, snake_case, spellings
from policy.catalog.names_elsewhere import NAMES_ELSEWHERE
from policy.catalog.operation_tag import OperationTag, operations_in
from policy.catalog.pattern import ToolPattern, ToolSelector, select_name
from policy.catalog.pattern_inclusion import includes, part_includes, patterns_of
from policy.catalog.python_exec import PYTHON_EXEC, STARTS_PROGRAMS, python_exec_spec
from policy.catalog.requirements import name_in, package_name, read_requirement
from policy.catalog.sandbox_requests import SANDBOX_CONNECT
from policy.catalog.schemas.differences import schema_differences
from policy.catalog.schemas.drafts import as_validated
from policy.catalog.schemas.fields import (
    FieldInfo,
    fields_of,
    is_closed,
    lookup,
    named_fields,
    requires,
)
from policy.catalog.schemas.filled_defaults import has_defaults
from policy.catalog.schemas.model_form import schema_strictify, union_branches
from policy.catalog.schemas.problems import (
    output_schema_problem,
    schema_problem,
    unfolded_size,
)
from policy.catalog.schemas.shape import has_shape
from policy.catalog.schemas.strict_form import strict_schema
from policy.catalog.schemas.view import SchemaView, SchemaViews
from policy.catalog.schemas.walk import (
    ANY,
    OPEN,
    Schema,
    Step,
    descend,
    joined_parts,
    json_type_of,
    json_types_of,
    mapping,
    parts,
    read_only_schema,
)
from policy.catalog.server_requests import COMPLETE, GET_PROMPT, READ_RESOURCE, SERVER_REQUESTS
from policy.catalog.tagged_operations import Operations, arguments_of, models_of, operations_of
from policy.catalog.tool import (
    LOCK_FILE,
    VERBS,
    VERSION_MARK,
    Origin,
    Resource,
    ToolSpec,
    Verb,
    split_version,
)

__all__ = [
    "ALIASES",
    "ANY",
    "CLIENT_REQUESTS",
    "CODE_EXEC",
    "COMPLETE",
    "ELICIT",
    "ENCODINGS",
    "FOLDERS",
    "GET_PROMPT",
    "LANGUAGES",
    "LIST_ROOTS",
    "LOCK_FILE",
    "NAMES_ELSEWHERE",
    "OPEN",
    "PYTHON_EXEC",
    "READ_RESOURCE",
    "SAMPLE",
    "SANDBOX_CONNECT",
    "SERVER_REQUESTS",
    "STARTS_PROGRAMS",
    "VERBS",
    "VERSION_MARK",
    "Arguments",
    "Catalog",
    "CatalogError",
    "Connects",
    "FewerOperations",
    "FieldInfo",
    "Language",
    "Listing",
    "ModelArguments",
    "OperationTag",
    "Operations",
    "Origin",
    "Reads",
    "RepairedName",
    "Resource",
    "RunningTool",
    "Runs",
    "Schema",
    "SchemaView",
    "SchemaViews",
    "Sends",
    "Step",
    "TooManyPatterns",
    "ToolPattern",
    "ToolSelector",
    "ToolSpec",
    "Verb",
    "Writes",
    "arguments_of",
    "as_validated",
    "builtin_catalog",
    "code_exec_spec",
    "completed",
    "contradictions",
    "descend",
    "fields_of",
    "has_defaults",
    "has_shape",
    "identifier_problem",
    "includes",
    "is_closed",
    "is_of_folders",
    "joined_parts",
    "json_type_of",
    "json_types_of",
    "listing_entry",
    "lookup",
    "mapping",
    "models_of",
    "name_in",
    "name_words",
    "named_fields",
    "operations_in",
    "operations_of",
    "output_schema_problem",
    "package_name",
    "part_includes",
    "parts",
    "patterns_in",
    "patterns_of",
    "python_exec_spec",
    "read_arguments",
    "read_listing",
    "read_only_schema",
    "read_requirement",
    "repair_name",
    "requires",
    "resources_of",
    "schema_differences",
    "schema_of",
    "schema_problem",
    "schema_strictify",
    "select_name",
    "snake_case",
    "spellings",
    "split_version",
    "strict_schema",
    "tools_of_classes",
    "unfolded_size",
    "union_branches",
]
