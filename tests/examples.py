"""The number of examples that a law tries: a tenth of its full count, or all in `make laws`."""

from __future__ import annotations

from hypothesis import settings

# The examples per law of the profiles in conftest.py; `full` is what the counts in laws refer to.
QUICK, FULL, LONG = 6, 60, 5_000


def examples(count: int) -> int:
    """Return how many examples a law takes in this run, whose full count is the given one."""
    wanted = settings().max_examples
    if wanted > FULL:
        return max(count, wanted)
    return max(min(count, 10), count * wanted // FULL)
