"""A review as text for people and as JSON for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policy.cli.loading import counted
from policy.diagnostics import visible
from policy.pins import PinState, Review, Reviewable

_STATES = {
    PinState.NEW: "new",
    PinState.CHANGED: "changed",
    PinState.MISSING: "no longer declared",
    PinState.LEFT_OUT: "left out now",
}


def review_lines(found: Review) -> Iterator[str]:
    """Yield a review line by line: every difference, then what a reader might miss."""
    for item in found.items:
        yield f"{item.what} {visible(item.name, 300)} is {_STATES[item.state]}"
        yield from (f"  {line}" for line in item.difference)
        yield from (f"  ! {visible(finding, 2_000)}" for finding in item.findings)
        if item.proposal is not None and item.proposal.sentence:
            yield f"  ? proposed: {visible(item.proposal.sentence)}"
        yield ""
    yield from left_out_lines(found)
    yield summary(found)


def left_out_lines(found: Review) -> Iterator[str]:
    """Yield what no client is shown, and why, line by line."""
    for problem in found.problems:
        yield f"left out: {visible(problem, 300)}"


def summary(found: Review) -> str:
    """Return how many definitions there are to review, in one line."""
    server = visible(found.server, 80)
    if not found.items:
        return f"server {server}: nothing to review"
    warnings = sum(len(item.findings) for item in found.items)
    parts = [
        f"{counted(number, what)} {_STATES[state]}"
        for what in ("server", "tool", "prompt")
        for state in _STATES
        if (number := sum((i.what, i.state) == (what, state) for i in found.items))
    ]
    said = f"server {server}: {', '.join(parts)}"
    return f"{said}; {counted(warnings, 'warning')}" if warnings else said


def review_json(found: Review) -> dict[str, Any]:
    """Return a review as JSON."""
    return {
        "server": found.server,
        "digest": found.digest,
        "problems": list(found.problems),
        "items": [_item(item) for item in found.items],
    }


def _item(item: Reviewable) -> dict[str, Any]:
    proposal = item.proposal
    return {
        "what": item.what,
        "name": item.name,
        "state": item.state.value,
        "difference": list(item.difference),
        "findings": list(item.findings),
        "proposed": None if proposal is None else proposal.resources,
    }
