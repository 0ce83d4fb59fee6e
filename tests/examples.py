"""The number of examples that a law tries: a few, all in `make laws`, or very many."""

from __future__ import annotations

from hypothesis import settings

# The examples per law of the profiles in conftest.py; `full` is what the counts in laws refer to.
FEW, FULL, LONG = 5, 60, 5_000


def examples(count: int) -> int:
    """Return how many examples a law takes in this run, whose full count is the given one.

    `make test` takes a fiftieth, and five at least.
    """
    wanted = settings().max_examples
    if wanted > FULL:
        return max(count, wanted)
    return count if wanted == FULL else min(count, max(FEW, count // 50))
