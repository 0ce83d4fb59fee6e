"""Keeps the results of one build of a policy for the next: an edit costs what it changes.

Unchanged files are not parsed again, rules in an unchanged context are not checked again, and tools
with the same rules are not compiled again. A law compares every build with an `Incremental` to one
without (`tests/laws/test_incremental_builds.py`).
"""

from policy.incremental.incremental import Incremental

__all__ = [
    "Incremental",
]
