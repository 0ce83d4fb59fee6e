"""Typed values of arguments: parse a string into a comparable value, or return why it cannot be."""

from policy.values.addresses_in_text import addresses_in
from policy.values.confined_access import (
    Violation,
    host_violation,
    path_in_resources,
    path_violation,
)
from policy.values.globs import (
    compile_name_glob,
    compile_path_glob,
    compile_text_glob,
    escape_glob,
    glob_characters,
    globs_intersect,
    has_wildcard,
    literal_text,
    path_segments,
)
from policy.values.hosts.address import METADATA_NAMES, NETWORK_WORDS, Network, read_address
from policy.values.hosts.endpoint import DEFAULT_PORTS, Endpoint, read_endpoint
from policy.values.hosts.links_in_text import links_in
from policy.values.hosts.pattern import (
    REDIRECTED,
    HostPattern,
    host_in,
    is_localhost,
    read_host_pattern,
)
from policy.values.hosts.url_parts import url_parts, with_scheme
from policy.values.identifiers import identifier_forms
from policy.values.json_reader import (
    JsonLimits,
    check_value,
    copy_value,
    read_json,
    read_plain_json,
)
from policy.values.logic import any_of, both, negate
from policy.values.look_alikes import skeleton
from policy.values.match.host_sets import HostSets
from policy.values.match.one_host_set import PreparedHosts
from policy.values.match.one_path_set import PreparedPaths
from policy.values.match.path_sets import PathSets
from policy.values.numbers import (
    add,
    compare_numbers,
    exact,
    is_number,
    multiply,
    number_in_text,
    number_text,
    subtract,
)
from policy.values.paths.contents import ContentsBelow
from policy.values.paths.exclusion import SHOWING, is_excluded
from policy.values.paths.membership import (
    absolute_glob,
    fixed_part,
    path_in,
    path_overlaps,
    path_within,
    tree_reaches,
)
from policy.values.paths.path import (
    Path,
    PathContext,
    after_cd,
    exact_path,
    links_passed,
    normal_path,
    read_path,
    spelled_path,
)
from policy.values.paths.pattern import (
    PathPattern,
    folder_pattern,
    path_pattern_text,
    read_path_pattern,
)
from policy.values.paths.reach import Reach, begins_above, reaches
from policy.values.plain_paths import PlainPath, plain_bound, plain_paths
from policy.values.recipients import check_recipient_pattern, read_recipient, recipient_in
from policy.values.redaction import (
    DEFAULT_REPLACEMENT,
    RedactedText,
    Redaction,
    Unsearchable,
    redact_text,
    texts_to_redact,
)
from policy.values.regex.regex import Regex, compile_regex, compile_without_shortcuts
from policy.values.regex.string_tests import StringRegex
from policy.values.search_folding import folded_for_search, search_readings
from policy.values.shell_globs import ANY_DEPTH, compile_step, step_text
from policy.values.shown_text import shown_text
from policy.values.sql.dialect import SQL_DIALECTS
from policy.values.sql.known_nodes import SQL_KINDS
from policy.values.sql.reader import can_read_sql, read_sql
from policy.values.sql.statements import Sql, SqlStatement
from policy.values.text import (
    compare_text,
    escape_for_display,
    is_encodable,
    is_hidden,
    is_ordinary,
    normal_form,
    normalise,
    quote,
    role_of,
    takes_long,
    without_invisible,
)
from policy.values.times import (
    parse_clock,
    parse_date,
    parse_duration,
    parse_time,
    read_zone,
    within_window,
)
from policy.values.unreadable import ByInlineCode, MayBeRedirected, Unreadable
from policy.values.user_text.bounds import words_of
from policy.values.user_text.user_messages import (
    DEFAULT_MESSAGE_BOUNDS,
    MessageBounds,
    UserMessages,
    kept_messages,
    messages_to_forget,
    size_of_message,
    too_long_a_message,
    too_many_messages,
    user_messages,
)
from policy.values.value_count import has_too_many_values, most_values

__all__ = [
    "ANY_DEPTH",
    "DEFAULT_MESSAGE_BOUNDS",
    "DEFAULT_PORTS",
    "DEFAULT_REPLACEMENT",
    "METADATA_NAMES",
    "NETWORK_WORDS",
    "REDIRECTED",
    "SHOWING",
    "SQL_DIALECTS",
    "SQL_KINDS",
    "ByInlineCode",
    "ContentsBelow",
    "Endpoint",
    "HostPattern",
    "HostSets",
    "JsonLimits",
    "MayBeRedirected",
    "MessageBounds",
    "Network",
    "Path",
    "PathContext",
    "PathPattern",
    "PathSets",
    "PlainPath",
    "PreparedHosts",
    "PreparedPaths",
    "Reach",
    "RedactedText",
    "Redaction",
    "Regex",
    "Sql",
    "SqlStatement",
    "StringRegex",
    "Unreadable",
    "Unsearchable",
    "UserMessages",
    "Violation",
    "absolute_glob",
    "add",
    "addresses_in",
    "after_cd",
    "any_of",
    "begins_above",
    "both",
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
    "compile_without_shortcuts",
    "copy_value",
    "escape_for_display",
    "escape_glob",
    "exact",
    "exact_path",
    "fixed_part",
    "folded_for_search",
    "folder_pattern",
    "glob_characters",
    "globs_intersect",
    "has_too_many_values",
    "has_wildcard",
    "host_in",
    "host_violation",
    "identifier_forms",
    "is_encodable",
    "is_excluded",
    "is_hidden",
    "is_localhost",
    "is_number",
    "is_ordinary",
    "kept_messages",
    "links_in",
    "links_passed",
    "literal_text",
    "messages_to_forget",
    "most_values",
    "multiply",
    "negate",
    "normal_form",
    "normal_path",
    "normalise",
    "number_in_text",
    "number_text",
    "parse_clock",
    "parse_date",
    "parse_duration",
    "parse_time",
    "path_in",
    "path_in_resources",
    "path_overlaps",
    "path_pattern_text",
    "path_segments",
    "path_violation",
    "path_within",
    "plain_bound",
    "plain_paths",
    "quote",
    "reaches",
    "read_address",
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
    "redact_text",
    "role_of",
    "search_readings",
    "shown_text",
    "size_of_message",
    "skeleton",
    "spelled_path",
    "step_text",
    "subtract",
    "takes_long",
    "texts_to_redact",
    "too_long_a_message",
    "too_many_messages",
    "tree_reaches",
    "url_parts",
    "user_messages",
    "with_scheme",
    "within_window",
    "without_invisible",
    "words_of",
]
