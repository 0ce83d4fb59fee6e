"""Compares an edit with what is in force: in the process that proves claims, if calls have to be.

An edit that concerns no call, or certainly only tightens, needs no process: what else it changes is
seen in its statements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from policy.store.acknowledgements import Loosening
from policy.store.loosening_sentences import sentences_of
from policy.store.proving.process import ProofProcess, ProofsEnded
from policy.store.proving.request import ComparisonRequest, Version, beside_rules
from policy.verify import (
    compare_statements,
    concerns_calls,
    digest_of_unknown,
    only_tightens,
)

_ANOTHER_POLICY = "the process that compares the policies read them in another way"


class EditComparer:
    """Finds out whether calls may do more under an edit; `process` compares the calls."""

    def __init__(self, process: ProofProcess) -> None:
        self._process = process

    def loosening(
        self, before: Version, after: Version, *, refused: bool, is_wanted: Callable[[], bool]
    ) -> Loosening | None:
        """Return how calls may do more after an edit, None if they certainly may not.

        If the process ends early, that is undecided. Raises ProofsUnwanted once the answer is not
        wanted any more.
        """
        old, new = before.generation, after.generation
        if not concerns_calls(old.program, new.program) or _tightens(before, after):
            found = compare_statements(old, new)
            return _loosening(found.digest, sentences_of(found), refused=refused)
        try:
            digest, what = self._compared(before, after, is_wanted)
        except ProofsEnded as error:
            what = (f"whether calls may do more is undecided: {error}",)
            digest = digest_of_unknown(old, new)
            return Loosening(digest=digest, refused=refused, what=what, is_interrupted=True)
        return _loosening(digest, what, refused=refused)

    def _compared(
        self, before: Version, after: Version, is_wanted: Callable[[], bool]
    ) -> tuple[str, tuple[str, ...]]:
        """Return the digest of a difference, and sentences about what loosens."""
        asked = ComparisonRequest(
            before=before.request,
            after=after.request,
            steps=before.generation.settings.reload.steps,
        )
        found: dict[str, Any] = {}
        for record in self._process.ask(asked, is_wanted=is_wanted):
            found |= record
        if found.get("policies") != [one.generation.id.digest for one in (before, after)]:
            raise ProofsEnded(_ANOTHER_POLICY)
        return str(found["digest"]), tuple(map(str, found["what"]))


def _tightens(before: Version, after: Version) -> bool:
    old, new = before.generation, after.generation
    return beside_rules(old) == beside_rules(new) and only_tightens(old.program, new.program)


def _loosening(digest: str, what: tuple[str, ...], *, refused: bool) -> Loosening | None:
    return Loosening(digest=digest, refused=refused, what=what) if what else None
