"""Variation selectors: invisible characters that determine how an emoji is drawn.

In a quoted word they are characters like any other. Elsewhere they could hide in a name.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from policy.shell.tree import CommandList, Quoted

# As text, and as an emoji.
_SELECTORS = "\ufe0e\ufe0f"
_REMOVED = dict.fromkeys(map(ord, _SELECTORS))


def without_variation_selectors(text: str) -> str:
    """Return a text without variation selectors."""
    return text.translate(_REMOVED)


def quotes_all_variation_selectors(tree: CommandList) -> bool:
    """Return whether all variation selectors of a script are in quotes, or in comments."""
    pending: list[Any] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, str):
            if any(selector in node for selector in _SELECTORS):
                return False
        elif isinstance(node, tuple):
            pending += node
        elif is_dataclass(node) and not isinstance(node, Quoted):
            pending += (getattr(node, field.name) for field in fields(node))
    return True
