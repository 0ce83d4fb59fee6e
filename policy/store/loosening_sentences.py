"""What an edit lets calls do more than before, in sentences for a log and a status."""

from __future__ import annotations

from collections.abc import Iterator

from policy.diagnostics import visible
from policy.verify import Difference, ToolDifference, Witness

_MOST_SHOWN = 5
_LONGEST = 300


def sentences_of(found: Difference) -> tuple[str, ...]:
    """Return sentences about some of what may loosen; none if certainly nothing does."""
    what = list(_sentences(found))
    more = len(what) - _MOST_SHOWN
    return (*what[:_MOST_SHOWN], *([f"and {more} more"] if more > 0 else ()))


def _sentences(found: Difference) -> Iterator[str]:
    """Yield what may loosen, what certainly does first."""
    rows = [one for one in found.tools if one.may_loosen]
    for row in sorted(rows, key=lambda one: one.looser.found != "yes"):
        yield visible(_sentence(row), _LONGEST)
    for change in found.changes:
        if change.direction in ("looser", "unclear"):
            about = f" for {change.layer}" if change.layer else ""
            yield visible(f"{change.kind}{about} {change.what}", _LONGEST)


def _sentence(row: ToolDifference) -> str:
    shown = row.looser.witness
    if shown is not None:
        return _of_call(shown, row)
    if row.looser.found == "undecided":
        because = f": {row.looser.because}" if row.looser.because else ""
        return f"whether {row.layer.title} may do more with {row.tool} is undecided{because}"
    return f"other people may approve calls of {row.tool} for {row.layer.title}"


def _of_call(shown: Witness, row: ToolDifference) -> str:
    given = f" given {shown.given}" if shown.given else ""
    was, now = shown.before.verdict, shown.after.verdict
    rules = ", ".join(reason.rule for reason in shown.after.deciding)
    return f"{shown.call}{given} was {was} and is {now} by {rules} for {row.layer.title}"
