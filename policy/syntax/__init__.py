"""Text -> tree, and back: what a policy file says, before anything is resolved."""

from policy.syntax import tree
from policy.syntax.parser import Parsed, parse

__all__ = ["Parsed", "parse", "tree"]
