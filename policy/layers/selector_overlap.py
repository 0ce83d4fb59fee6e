"""Whether two selectors can match the same tool, known or not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from policy.catalog import VERSION_MARK, Catalog, ToolPattern, ToolSelector, ToolSpec

_BEFORE_WILDCARD = re.compile(r"[^*?]*")


@dataclass(slots=True, kw_only=True, eq=False)
class SelectorOverlaps:
    """Compares selectors over one catalogue, with cached look-ups."""

    catalog: Catalog

    def matching(self, selector: ToolSelector) -> tuple[ToolSpec, ...]:
        """Return the known tools that the selector matches."""
        return self.catalog.matching(selector)

    def may_meet_unknown(self, left: ToolSelector, right: ToolSelector) -> bool:
        """Return whether an unknown tool could be in both; exceptions are ignored."""
        if self.catalog.complete:
            return False
        return any(_may_meet(a, b) for a in self.open_globs(left) for b in set(globs_of(right)))

    def open_globs(self, selector: ToolSelector) -> Iterator[str]:
        """Yield the flat patterns of a selector that could match an unknown tool."""
        for glob in dict.fromkeys(globs_of(selector)):
            if "*" in glob or "?" in glob or not self.catalog.is_settled(glob):
                yield glob


def globs_of(selector: ToolSelector) -> Iterator[str]:
    """Yield the patterns of a selector as patterns of flat names."""
    for part in selector.included:
        if isinstance(part, ToolSelector):
            yield from globs_of(part)
        else:
            yield _flat(part)


def _flat(pattern: ToolPattern) -> str:
    """Return a glob over flat names that matches everything the pattern matches."""
    if pattern.origin is None:
        return pattern.text
    server, _, tool = pattern.text.partition("/")
    return f"{server}__{tool}" if pattern.origin == "mcp" else f"ext__{server}__{tool}"


def _may_meet(left: str, right: str) -> bool:
    """Return whether a tool may match both: with a version it has two names, one for each."""
    version = f"{VERSION_MARK}*"
    return (
        globs_overlap(left, right)
        or globs_overlap(left + version, right)
        or globs_overlap(left, right + version)
    )


def fixed_prefix(glob: str) -> str:
    """Return the literal prefix of a pattern; all of it if it has no wildcard."""
    return _BEFORE_WILDCARD.match(glob)[0]  # type: ignore[index]


@lru_cache(maxsize=65_536)
def globs_overlap(left: str, right: str) -> bool:
    """Return whether some string matches both globs: a walk over pairs of positions in them."""
    if not set("*?") & set(left + right):
        return left == right
    reached = {(0, 0)}
    todo = [(0, 0)]
    while todo:
        i, j = todo.pop()
        if i == len(left) and j == len(right):
            return True
        for pair in _next(left, right, i, j):
            if pair not in reached:
                reached.add(pair)
                todo.append(pair)
    return False


def _next(left: str, right: str, i: int, j: int) -> Iterator[tuple[int, int]]:
    a = left[i] if i < len(left) else ""
    b = right[j] if j < len(right) else ""
    if a == "*":
        yield i + 1, j
        if b and b != "*":
            yield i, j + 1
    if b == "*":
        yield i, j + 1
        if a and a != "*":
            yield i + 1, j
    if a and b and "*" not in (a, b) and (a == b or "?" in (a, b)):
        yield i + 1, j + 1
