"""What arguments mean: text from a call in, values that can be compared out, or why not."""

from __future__ import annotations

from policy.values.address import NETWORK_WORDS
from policy.values.glob import (
    compile_name_glob,
    compile_path_glob,
    compile_text_glob,
    escape_glob,
    has_wildcard,
    literal_text,
)
from policy.values.host import Endpoint, read_endpoint
from policy.values.host_pattern import (
    REDIRECTED,
    HostPattern,
    host_in,
    is_localhost,
    read_host_pattern,
)
from policy.values.host_sets import HostSets
from policy.values.json_text import (
    Limits,
    check_value,
    copy_value,
    read_json,
    read_plain_json,
)
from policy.values.left_out import SHOWING, is_left_out
from policy.values.links import links_in
from policy.values.logic import any_of, both, negate
from policy.values.number import add, compare_numbers, exact, is_number, multiply, subtract
from policy.values.path import (
    Path,
    PathContext,
    after_cd,
    exact_path,
    links_passed,
    normal_path,
    read_path,
    spelled_path,
)
from policy.values.path_held import HeldBelow
from policy.values.path_pattern import (
    PathPattern,
    folder_pattern,
    path_pattern_text,
    read_path_pattern,
)
from policy.values.path_set import path_in, path_meets, path_within
from policy.values.path_sets import PathSets
from policy.values.pattern import Regex, by_re2_alone, compile_regex
from policy.values.plain_regex import PlainRegex
from policy.values.prepared_hosts import PreparedHosts
from policy.values.prepared_paths import PreparedPaths
from policy.values.reading import MayBeRedirected, Unreadable
from policy.values.recipient import check_recipient_pattern, read_recipient, recipient_in
from policy.values.shell_glob import ANY_DEPTH, compile_step, step_text
from policy.values.sql import can_read_sql, read_sql
from policy.values.sql_dialect import SQL_DIALECTS
from policy.values.sql_script import Sql, SqlStatement
from policy.values.sql_words import SQL_KINDS
from policy.values.text import (
    compare_text,
    escape_for_people,
    is_encodable,
    is_ordinary,
    normalise,
    plain,
    quote,
    role_of,
)
from policy.values.times import (
    parse_clock,
    parse_date,
    parse_span,
    parse_time,
    read_zone,
    within_window,
)
from policy.values.urls import url_parts, with_scheme

__all__ = [
    "ANY_DEPTH",
    "NETWORK_WORDS",
    "REDIRECTED",
    "SHOWING",
    "SQL_DIALECTS",
    "SQL_KINDS",
    "Endpoint",
    "HeldBelow",
    "HostPattern",
    "HostSets",
    "Limits",
    "MayBeRedirected",
    "Path",
    "PathContext",
    "PathPattern",
    "PathSets",
    "PlainRegex",
    "PreparedHosts",
    "PreparedPaths",
    "Regex",
    "Sql",
    "SqlStatement",
    "Unreadable",
    "add",
    "after_cd",
    "any_of",
    "both",
    "by_re2_alone",
    "can_read_sql",
    "check_recipient_pattern",
    "check_value",
    "compare_numbers",
    "compare_text",
    "compile_name_glob",
    "compile_path_glob",
    "compile_regex",
    "compile_step",
    "compile_text_glob",
    "copy_value",
    "escape_for_people",
    "escape_glob",
    "exact",
    "exact_path",
    "folder_pattern",
    "has_wildcard",
    "host_in",
    "is_encodable",
    "is_left_out",
    "is_localhost",
    "is_number",
    "is_ordinary",
    "links_in",
    "links_passed",
    "literal_text",
    "multiply",
    "negate",
    "normal_path",
    "normalise",
    "parse_clock",
    "parse_date",
    "parse_span",
    "parse_time",
    "path_in",
    "path_meets",
    "path_pattern_text",
    "path_within",
    "plain",
    "quote",
    "read_endpoint",
    "read_host_pattern",
    "read_json",
    "read_path",
    "read_path_pattern",
    "read_plain_json",
    "read_recipient",
    "read_sql",
    "read_zone",
    "recipient_in",
    "role_of",
    "spelled_path",
    "step_text",
    "subtract",
    "url_parts",
    "with_scheme",
    "within_window",
]
