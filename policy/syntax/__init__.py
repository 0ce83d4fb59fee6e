"""Parse policy text into a syntax tree, and print trees as text; nothing is resolved here."""

from policy.syntax import tree
from policy.syntax.formatter import format_source
from policy.syntax.inline_printer import (
    Spelled,
    print_binding,
    print_change,
    print_clause,
    print_expr,
    print_limit,
    print_matching,
    print_path,
    print_tool,
    print_tools,
)
from policy.syntax.known_rules import parse_known, without_parts
from policy.syntax.literals import write_number, write_text
from policy.syntax.parser import Parsed, parse
from policy.syntax.printer import print_tree
from policy.syntax.toml_table import TableRules, tables_to_layers
from policy.syntax.tree import Engine

__all__ = [
    "Engine",
    "Parsed",
    "Spelled",
    "TableRules",
    "format_source",
    "parse",
    "parse_known",
    "print_binding",
    "print_change",
    "print_clause",
    "print_expr",
    "print_limit",
    "print_matching",
    "print_path",
    "print_tool",
    "print_tools",
    "print_tree",
    "tables_to_layers",
    "tree",
    "without_parts",
    "write_number",
    "write_text",
]
