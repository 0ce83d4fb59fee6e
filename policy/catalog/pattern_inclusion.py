"""Whether one tool pattern matches every tool that another matches, known or not.

The answer is yes only if it follows from the patterns themselves.
"""

from __future__ import annotations

from collections.abc import Iterator

from policy.catalog.pattern import ToolPattern, ToolSelector
from policy.values import compile_name_glob


def includes(wide: ToolSelector, narrow: ToolSelector) -> bool:
    """Return whether every tool of `narrow` is one of `wide`."""
    if (wide.included, wide.excluded) == (narrow.included, narrow.excluded):
        return True
    if wide.excluded:
        return False
    return all(any(part_includes(a, b) for a in wide.included) for b in narrow.included)


def part_includes(wide: ToolPattern | ToolSelector, narrow: ToolPattern | ToolSelector) -> bool:
    """Return whether every tool of one part of a selector is one of another part."""
    if isinstance(narrow, ToolSelector):
        inner = narrow.included
        return wide == narrow or all(part_includes(wide, part) for part in inner)
    if isinstance(wide, ToolSelector):
        return not wide.excluded and any(part_includes(part, narrow) for part in wide.included)
    if wide == narrow or (wide.origin is None and wide.text == "*"):
        return True
    # A glob without `?` that matches another's text matches everything the other matches.
    plain = wide.origin == narrow.origin and not set("?\\") & set(wide.text + narrow.text)
    reaches = wide.origin is not None or "__" not in narrow.text
    return plain and reaches and compile_name_glob(wide.text)(narrow.text)


def patterns_of(selector: ToolSelector) -> Iterator[ToolPattern]:
    """Yield the patterns of a selector, without exceptions; each of its tools matches one."""
    for part in selector.included:
        if isinstance(part, ToolSelector):
            yield from patterns_of(part)
        else:
            yield part
