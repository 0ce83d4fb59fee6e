"""Proves the claims of a golden case: what comes of each, and the call that breaks it."""

from __future__ import annotations

from collections.abc import Iterator

from policy.verify import Proof, open_lines, prove, why_undecided
from tests.case_files import Case, diagnostic_lines
from tests.cases.deciding import load


def proofs(case: Case) -> dict[str, str]:
    """Load the policies of the case, and list what is known of each of their claims."""
    built = load(case)
    assert built.generation is not None, diagnostic_lines(built.diagnostics)
    found = (line for proof in prove(built.generation) for line in _told(proof))
    return {"proofs": "".join(f"{line}\n" for line in found)}


def _told(proof: Proof) -> Iterator[str]:
    yield f"{proof.status}: {proof.invariant.text.removeprefix('prove ')}"
    shown = proof.counterexample
    if shown is not None:
        _, *given, call = shown.as_test("").splitlines()
        perhaps = " (indeterminate)" if shown.unclear else ""
        yield from (*given, call.removesuffix(" -> deny") + perhaps)
    if proof.status == "undecided":
        yield from (f"  {why}" for why in (why_undecided(proof), *open_lines(proof)) if why)
