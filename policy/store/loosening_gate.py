"""Compares an edited policy with the one in force, before or after it takes effect.

`[reload] loosening` of the policy in force decides: a change that lets calls do more, or of which
that is not known, is refused until people acknowledge it, or takes effect with a warning.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from policy.diagnostics import Diagnostic, diagnose, visible
from policy.generation import Generation
from policy.store.acknowledgements import Acknowledgements, Loosening
from policy.store.proving.edit_comparer import EditComparer
from policy.store.proving.request import Version

_LOG = logging.getLogger(__name__)


class LooseningGate:
    """Judges edits of one policy; `acknowledgements` is the state that people change."""

    def __init__(self, acknowledgements: Acknowledgements, comparer: EditComparer) -> None:
        self.acknowledgements = acknowledgements
        self._comparer = comparer

    def refusal(
        self, before: Version | None, after: Version, *, is_wanted: Callable[[], bool]
    ) -> Loosening | None:
        """Return why an edit must wait, None if it may take effect.

        Raises ProofsUnwanted once that is not wanted any more.
        """
        if before is None or before.generation.settings.reload.loosening != "refuse":
            return None
        found = self._comparer.loosening(before, after, refused=True, is_wanted=is_wanted)
        if found is None or self.acknowledgements.is_acknowledged(found.digest):
            return None
        self.acknowledgements.wait(found)
        return found

    def warning(
        self, before: Version, after: Version, *, is_wanted: Callable[[], bool]
    ) -> Loosening | None:
        """Return what an edit that has taken effect loosens; it is logged, too.

        Raises ProofsUnwanted once that is not wanted any more.
        """
        found = self._comparer.loosening(before, after, refused=False, is_wanted=is_wanted)
        if found is not None:
            _LOG.warning(
                "calls may do more than before under generation %s: %s",
                after.generation.id.number,
                "; ".join(found.what),
            )
        return found


def warns(before: Generation) -> bool:
    """Return whether edits of a policy take effect at once, with a warning if they loosen it."""
    return before.settings.reload.loosening == "warn"


def problem_of(found: Loosening) -> Diagnostic:
    """Return the error of a policy that waits to be acknowledged."""
    return diagnose(
        "loosening-refused",
        visible(f"calls may do more than before: {'; '.join(found.what)}", 1000),
        help=f"if that is meant, `placet acknowledge {found.digest}`; `placet diff` shows it all",
    )
