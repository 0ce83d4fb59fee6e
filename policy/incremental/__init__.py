"""What one build of a policy found, for the next one: an edit costs what it changes.

Files that did not change are not parsed again, rules in unchanged surroundings are not checked
again, and tools whose rules are the same are not compiled again. A law holds every build with an
`Incremental` to one without, which does everything anew (`tests/laws/test_incremental_builds.py`).
"""

from policy.incremental.incremental import Incremental

__all__ = [
    "Incremental",
]
