"""Which limits count something else after an edit, so that what they had counted is not used."""

from __future__ import annotations

from policy.checks import checked
from policy.layers.layered import LayeredPolicy


def limits_counting_anew(
    before: LayeredPolicy, after: LayeredPolicy
) -> tuple[checked.CheckedLimit, ...]:
    """Return the limits that count something else than before the edit.

    That is a limit on new budgets in the place of one whose budgets nothing counts any more: by its
    name, or on the same tools of the same layer.
    """
    known = {limit.meter for layer in before.layers for limit in layer.limits}
    counted = {limit.meter for layer in after.layers for limit in layer.limits}
    gone = [
        (layer.key, limit)
        for layer in before.layers
        for limit in layer.limits
        if limit.meter not in counted
    ]
    return tuple(
        limit
        for layer in after.layers
        for limit in layer.limits
        if limit.meter not in known
        and any(
            old.id == limit.id or (key == layer.key and old.tools == limit.tools)
            for key, old in gone
        )
    )
