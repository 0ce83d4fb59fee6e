"""The order in which a decision lists its reasons."""

from __future__ import annotations

from collections.abc import Sequence

from policy.model import Reason, Verdict


def in_order(found: Sequence[Reason], verdict: Verdict) -> tuple[Reason, ...]:
    """Return every reason once: those that carry the verdict first, then the stricter ones first.

    Reasons of one verdict keep the order of layers (the global layer first) and, in a layer, are
    sorted by file, line and name; keys of a table by name alone, as their lines may be in any
    order. The order never changes a verdict.
    """
    if len(found) == 1:
        return (found[0],)
    reasons = list(dict.fromkeys(found))
    layers = {reason.layer: place for place, reason in reversed(list(enumerate(reasons)))}
    return tuple(
        sorted(
            reasons,
            key=lambda r: (
                r.verdict is not verdict,
                -r.verdict.rank,
                layers[r.layer],
                r.file or "",
                0 if r.file and r.file.endswith(".toml") else r.line or 0,
                r.rule,
                r.line or 0,
            ),
        )
    )
