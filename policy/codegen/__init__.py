"""Generates one Python function from the rules of one layer on one tool."""

from policy.codegen.fields import is_plain_text
from policy.codegen.functions import IndeterminateRules, RuleFunction
from policy.codegen.index import write_layer
from policy.codegen.layer import RuleItem, ToolContext

__all__ = [
    "IndeterminateRules",
    "RuleFunction",
    "RuleItem",
    "ToolContext",
    "is_plain_text",
    "write_layer",
]
