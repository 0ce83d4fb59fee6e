"""Compares an edited policy with the one in force, before or after it takes effect.

`[reload] loosening` of the policy in force decides: a change that lets calls do more, or of which
that is not known, is refused until people acknowledge it, or takes effect with a warning.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

from policy.diagnostics import Diagnostic, diagnose, visible
from policy.generation import Generation
from policy.store.acknowledgements import Acknowledgements, Loosening
from policy.verify import Difference, ToolDifference, Witness, compare

_LOG = logging.getLogger(__name__)
_MOST_SHOWN = 5
_LONGEST = 300


class LooseningGate:
    """Judges edits of one policy; `acknowledgements` is the state that people change."""

    def __init__(self, acknowledgements: Acknowledgements) -> None:
        self.acknowledgements = acknowledgements

    def refusal(self, before: Generation | None, after: Generation) -> Loosening | None:
        """Return why an edit must wait, None if it may take effect."""
        if before is None or before.settings.reload.loosening != "refuse":
            return None
        found = _loosening(before, after, refused=True)
        if found is None or self.acknowledgements.is_acknowledged(found.digest):
            return None
        self.acknowledgements.wait(found)
        return found

    def warning(self, before: Generation | None, after: Generation) -> Loosening | None:
        """Return what an edit that has taken effect loosens; it is logged, too."""
        if before is None or before.settings.reload.loosening != "warn":
            return None
        try:
            found = _loosening(before, after, refused=False)
        except Exception:  # noqa: BLE001 — what is in force is valid without the comparison
            _LOG.exception("the policy could not be compared with the one before")
            return None
        if found is not None:
            _LOG.warning(
                "calls may do more than before under generation %s: %s",
                after.id.number,
                "; ".join(found.what),
            )
        return found


def problem_of(found: Loosening) -> Diagnostic:
    """Return the error of a policy that waits to be acknowledged."""
    return diagnose(
        "loosening-refused",
        visible(f"calls may do more than before: {'; '.join(found.what)}", 1000),
        help=f"if that is meant, `placet acknowledge {found.digest}`; `placet diff` shows it all",
    )


def _loosening(before: Generation, after: Generation, *, refused: bool) -> Loosening | None:
    steps = before.settings.reload.steps
    found = compare(before, after, steps=steps)
    if not found.may_loosen:
        return None
    what = list(_sentences(found))
    more = len(what) - _MOST_SHOWN
    shown = (*what[:_MOST_SHOWN], *([f"and {more} more"] if more > 0 else ()))
    return Loosening(digest=found.digest, refused=refused, what=shown)


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
        return f"whether {row.layer.title} may do more with {row.tool} is undecided"
    return f"other people may approve calls of {row.tool} for {row.layer.title}"


def _of_call(shown: Witness, row: ToolDifference) -> str:
    given = f" given {shown.given}" if shown.given else ""
    was, now = shown.before.verdict, shown.after.verdict
    rules = ", ".join(reason.rule for reason in shown.after.deciding)
    return f"{shown.call}{given} was {was} and is {now} by {rules} for {row.layer.title}"
