"""The tests of a condition that are no combinations of others."""

from __future__ import annotations

from collections.abc import Iterator

from policy.checks import checked


def leaves_of(*conditions: checked.Test | None) -> Iterator[checked.Test]:
    """Yield the tests that conditions combine, in order."""
    for condition in conditions:
        match condition:
            case None:
                continue
            case checked.AllOf(tests=tests) | checked.AnyOf(tests=tests):
                yield from leaves_of(*tests)
            case checked.NotOf(test=part):
                yield from leaves_of(part)
            case _:
                yield condition
