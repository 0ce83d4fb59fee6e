"""Proves the claims of each build of a store before it takes effect, and keeps the answers.

Nothing is in force at first, so the first claims are proved in this process, which is faster.
Later ones are proved in a process of their own, while calls go on being decided here. Answers are
kept in memory alone, by the digest of all that they depend on: nobody else can write there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from policy.generation import Built, Generation, no_collecting
from policy.store.proving.process import ProofProcess, ProofsEnded, ProofsUnwanted
from policy.store.proving.request import (
    BuildRequest,
    ProofRequest,
    beside_rules,
    surroundings_of,
)
from policy.verify import (
    ClaimQuestion,
    LayerClaim,
    Proof,
    ToolProof,
    answer_of,
    answer_record,
    answer_to,
    claims_of,
    only_tightens,
    question_digests,
)

# How many answers are kept; beyond that, all are found again.
_MOST = 50_000
_NOT_ANSWERED = "the process that proves it read the policy in another way"

_Asked: TypeAlias = tuple[tuple[str, ClaimQuestion], ...]
_Found: TypeAlias = dict[str, ToolProof]


class ClaimProver:
    """The answers about claims of one policy, from all builds of it; `process` finds new ones."""

    def __init__(self, process: ProofProcess) -> None:
        self._known: dict[str, Mapping[str, Any]] = {}
        self._process = process

    def proved(
        self,
        built: Built,
        request: BuildRequest,
        *,
        before: Generation | None,
        is_wanted: Callable[[], bool],
    ) -> Built:
        """Return a build with the proofs of its claims; raise ProofsUnwanted if none is wanted.

        `before` is in force. If the build certainly only tightens it, every claim that both make
        holds as it did, and is left out.
        """
        generation = built.generation
        assert generation is not None, "a build with claims has a generation"
        claims = tuple(claims_of(generation.program))
        if before is not None and _only_tightens(before, generation):
            made = {claim.digest() for claim in claims_of(before.program)}
            claims = tuple(claim for claim in claims if claim.digest() not in made)
        if before is None:
            with no_collecting():
                return built.with_proofs(self._proofs(generation, claims, self._here))
        in_process = self._in(self._process, request, is_wanted)
        return built.with_proofs(self._proofs(generation, claims, in_process))

    def prove_later(
        self,
        generation: Generation,
        request: BuildRequest,
        *,
        is_wanted: Callable[[], bool],
        tell: Callable[[tuple[Proof, ...]], None],
    ) -> None:
        """Prove all claims of a generation in the background, and `tell` what is known of them."""

        def prove() -> None:
            claims = tuple(claims_of(generation.program))
            # Not the one that an edit would have to wait for.
            process = ProofProcess()
            try:
                in_process = self._in(process, request, is_wanted)
                proofs = self._proofs(generation, claims, in_process)
            except ProofsUnwanted:
                return
            finally:
                process.end()
            tell(proofs)

        threading.Thread(target=prove, name="proving claims", daemon=True).start()

    def _proofs(
        self,
        generation: Generation,
        claims: tuple[LayerClaim, ...],
        prove: Callable[[Mapping[str, ClaimQuestion], int], _Found],
    ) -> tuple[Proof, ...]:
        """Return the proofs of claims, by what is known and what `prove` finds."""
        steps = generation.settings.reload.steps
        questions = (one for claim in claims for one in claim.questions())
        surroundings = surroundings_of(generation)
        asked = tuple(question_digests(questions, surroundings=surroundings, steps=steps))
        found = self._remembered(asked)
        missing = {digest: question for digest, question in asked if digest not in found}
        if missing:
            found |= prove(missing, steps)
        return tuple(_proofs(claims, asked, found))

    def _remembered(self, asked: _Asked) -> _Found:
        found: _Found = {}
        for digest, question in asked:
            record = self._known.get(digest)
            answer = None if record is None else answer_of(question, record)
            if answer is not None:
                found[digest] = answer
        return found

    def _here(self, missing: Mapping[str, ClaimQuestion], steps: int) -> _Found:
        return {digest: self._answered(digest, one, steps) for digest, one in missing.items()}

    def _in(
        self, process: ProofProcess, request: BuildRequest, is_wanted: Callable[[], bool]
    ) -> Callable[[Mapping[str, ClaimQuestion], int], _Found]:
        """Return the way to prove in another process. What it leaves out is undecided."""

        def prove(missing: Mapping[str, ClaimQuestion], steps: int) -> _Found:
            found: _Found = {}
            because = _NOT_ANSWERED
            try:
                asked = ProofRequest(policy=request, wanted=tuple(missing))
                for record in process.ask(asked, is_wanted=is_wanted):
                    digest = str(record.get("question"))
                    if digest in missing:
                        found[digest] = self._read(digest, missing[digest], record, steps)
            except ProofsEnded as error:
                because = str(error)
            unanswered = ToolProof(status="undecided", because=because)
            return {**dict.fromkeys(missing, unanswered), **found}

        return prove

    def _read(
        self, digest: str, question: ClaimQuestion, record: Mapping[str, Any], steps: int
    ) -> ToolProof:
        answer = answer_of(question, record)
        if answer is None:
            # A tool of the host may refuse the call by its own code, which is only here.
            return self._answered(digest, question, steps)
        self._keep(digest, record)
        return answer

    def _answered(self, digest: str, question: ClaimQuestion, steps: int) -> ToolProof:
        answer = answer_to(question, steps=steps)
        self._keep(digest, answer_record(answer))
        return answer

    def _keep(self, digest: str, record: Mapping[str, Any]) -> None:
        if len(self._known) >= _MOST:
            self._known.clear()
        self._known[digest] = record


def _only_tightens(before: Generation, after: Generation) -> bool:
    return beside_rules(before) == beside_rules(after) and only_tightens(
        before.program, after.program
    )


def _proofs(claims: Iterable[LayerClaim], asked: _Asked, found: _Found) -> Iterable[Proof]:
    by_claim: dict[int, dict[str, ToolProof]] = {}
    for digest, question in asked:
        by_claim.setdefault(id(question.claim), {})[question.spec.name] = found[digest]
    for claim in claims:
        yield claim.proof(by_claim.get(id(claim), {}))
