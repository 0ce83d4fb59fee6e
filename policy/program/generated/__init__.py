"""Rules of one layer on one tool in; one generated function that finds those that match, out."""

from policy.program.generated.fields import is_plain_text
from policy.program.generated.functions import Ask, Unsettled
from policy.program.generated.index import write_layer
from policy.program.generated.layer import Item, Tool

__all__ = ["Ask", "Item", "Tool", "Unsettled", "is_plain_text", "write_layer"]
