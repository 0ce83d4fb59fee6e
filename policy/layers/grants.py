"""Which tools, known or not, the statements of one layer can allow."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cached_property

from policy.catalog import VERSION_MARK, ToolSelector
from policy.layers.selector_overlap import SelectorOverlaps, fixed_prefix, globs_of, globs_overlap


class GrantedTools:
    """The tools of many selectors, indexed so that another selector is not compared with each."""

    def __init__(self, selectors: Iterable[ToolSelector], overlaps: SelectorOverlaps) -> None:
        self._selectors = tuple(selectors)
        self._overlaps = overlaps

    def __bool__(self) -> bool:
        return bool(self._selectors)

    def holds_some_of(self, tools: ToolSelector) -> bool:
        """Return whether a known tool of these is granted."""
        return any(spec.name in self._granted_names for spec in self._overlaps.matching(tools))

    def may_meet_unknown(self, tools: ToolSelector) -> bool:
        """Return whether an unknown tool could be one of these and granted."""
        if self._overlaps.catalog.complete:
            return False
        return any(self._meets(glob) for glob in self._overlaps.open_globs(tools))

    @cached_property
    def _granted_names(self) -> frozenset[str]:
        matching = self._overlaps.matching
        return frozenset(spec.name for tools in self._selectors for spec in matching(tools))

    def _meets(self, glob: str) -> bool:
        """Return whether a tool may match both: with a version it has two names, one for each."""
        plain, versioned = self._globs
        return plain.meets(glob) or versioned.meets(glob) or plain.meets(f"{glob}{VERSION_MARK}*")

    @cached_property
    def _globs(self) -> tuple[_Globs, _Globs]:
        distinct = dict.fromkeys(glob for tools in self._selectors for glob in globs_of(tools))
        return _Globs(distinct), _Globs(f"{glob}{VERSION_MARK}*" for glob in distinct)


class _Globs:
    """Patterns by their literal prefix: two overlap only if one prefix starts with the other."""

    def __init__(self, globs: Iterable[str]) -> None:
        self._by_beginning: dict[str, list[str]] = {}
        for glob in globs:
            self._by_beginning.setdefault(fixed_prefix(glob), []).append(glob)
        self._ordered = sorted(self._by_beginning)
        self._lengths = sorted(set(map(len, self._ordered)))

    def meets(self, glob: str) -> bool:
        """Return whether some string matches both `glob` and one of these."""
        return any(globs_overlap(glob, other) for other in self._alike(glob))

    def _alike(self, glob: str) -> Iterator[str]:
        own = fixed_prefix(glob)
        for length in self._lengths:
            if length > len(own):
                break
            yield from self._by_beginning.get(own[:length], ())
        if len(own) == len(glob):
            return  # the glob is a literal, which a longer prefix cannot match
        at = bisect_left(self._ordered, own)
        while at < len(self._ordered) and self._ordered[at].startswith(own):
            if len(self._ordered[at]) > len(own):
                yield from self._by_beginning[self._ordered[at]]
            at += 1
