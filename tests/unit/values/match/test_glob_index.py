"""The cache of paths is bounded, even for very long ones."""

from __future__ import annotations

import tracemalloc

from policy.values.match.glob_index import PathForms, path_forms

_LONGEST_PATH = 4096
# The folders above one such path take some four megabytes.
_FEW = 60_000_000


def test_many_long_paths_take_no_memory_for_good() -> None:
    tracemalloc.start()
    try:
        for number in range(40):
            path_forms(f"/{number}".ljust(_LONGEST_PATH, "x").replace("xx", "/x"))
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < _FEW


def test_long_and_short_paths_are_looked_at_alike() -> None:
    for text in ("/", "/a", "/a/b", "/" + "a" * 300, "/a" * 300):
        found, made = path_forms(text), PathForms(text)
        assert (found.text, found.folders, found.name) == (made.text, made.folders, made.name)
        assert found.segments == made.segments
        assert path_forms(text) is found
