"""Globs of paths, segment by segment: `*` and `?` within one, `**` for any number of segments."""

from __future__ import annotations

from collections.abc import Sequence

from policy.values import compile_name_glob

_ANY_DEPTH = "**"


def matches_path_glob(names: Sequence[str], globs: Sequence[str]) -> bool:
    """Return whether the segments of a path match those of a glob."""
    places = _past_any_depth(globs, {0})
    for name in names:
        after: set[int] = set()
        for place in places:
            if place == len(globs):
                continue
            if globs[place] == _ANY_DEPTH:
                after.add(place)
            elif name and compile_name_glob(globs[place])(name):
                after.add(place + 1)
        places = _past_any_depth(globs, after)
    return len(globs) in places


def _past_any_depth(globs: Sequence[str], places: set[int]) -> set[int]:
    """Add the places after a `**`, which may match no segment."""
    passed = set(places)
    for place in places:
        while place < len(globs) and globs[place] == _ANY_DEPTH:
            place += 1
            passed.add(place)
    return passed
