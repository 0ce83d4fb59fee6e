"""The process that proves claims and compares policies, as it is asked on its standard input.

Answers go to its output, a line each.

It ends when the process that started it does, whose end of the input closes then, and when nothing
has been asked for a while.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from queue import Empty, Queue
from threading import Thread
from typing import Any, assert_never

from policy.generation import Builder, Generation, no_collecting
from policy.store.loosening_sentences import sentences_of
from policy.store.proving.request import (
    DONE,
    BuildRequest,
    ComparisonRequest,
    ProofRequest,
    Request,
    received,
    surroundings_of,
)
from policy.verify import answer_record, answer_to, claims_of, compare, question_digests

# Most edits come soon after another one, and a start takes longer than most proofs.
_IDLE = 300.0  # seconds
# Where there are fewer processors than work, calls that are decided go first.
_NICE = 5


def main() -> None:
    """Answer requests until there are no more, and end."""
    try:
        _serve()
    except Exception:  # noqa: BLE001 — whatever it was, no answer follows
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
    # An ordinary exit would abort, as a thread still reads the input.
    os._exit(0)


def _serve() -> None:
    os.nice(_NICE)
    requests: Queue[Request] = Queue()
    Thread(target=_receive, args=(requests,), daemon=True).start()
    builder = Builder(testing=False)
    while True:
        try:
            request = requests.get(timeout=_IDLE)
        except Empty:
            return
        with no_collecting():
            for answer in answers(builder, request):
                _write(answer)
        _write(DONE)


def answers(builder: Builder, request: Request) -> Iterator[dict[str, Any]]:
    """Yield an answer to each question of a request that its policies have."""
    match request:
        case ProofRequest():
            return _proofs(builder, request)
        case ComparisonRequest():
            return _comparison(builder, request)
        case _:
            assert_never(request)


def _proofs(builder: Builder, request: ProofRequest) -> Iterator[dict[str, Any]]:
    generation = _built(builder, request.policy)
    if generation is None:
        return
    steps, wanted = generation.settings.reload.steps, frozenset(request.wanted)
    questions = (one for claim in claims_of(generation.program) for one in claim.questions())
    surroundings = surroundings_of(generation)
    # What one question has found that the next ones can use.
    known: dict[Any, Any] = {}
    for digest, question in question_digests(questions, surroundings=surroundings, steps=steps):
        if digest in wanted:
            answer = answer_to(question, steps=steps, known=known)
            yield {"question": digest, **answer_record(answer)}


def _comparison(builder: Builder, request: ComparisonRequest) -> Iterator[dict[str, Any]]:
    before, after = _built(builder, request.before), _built(builder, request.after)
    if before is None or after is None:
        return
    found = compare(before, after, steps=request.steps)
    yield {
        "policies": [before.id.digest, after.id.digest],
        "digest": found.digest,
        "what": list(sentences_of(found)),
    }


def _built(builder: Builder, policy: BuildRequest) -> Generation | None:
    builder.guarded, builder.running = policy.guarded, policy.running
    return builder.build_unproved(
        policy.snapshot, catalog=policy.catalog, number=1, now=datetime.now(UTC)
    ).generation


def _receive(requests: Queue[Request]) -> None:
    """Pass requests on, and end this process with the one that sends them."""
    try:
        while True:
            requests.put(received(sys.stdin.buffer))
    except EOFError:
        os._exit(0)
    except Exception:  # noqa: BLE001 — whatever it was, no answer follows
        traceback.print_exc()
        os._exit(1)


def _write(answer: dict[str, Any]) -> None:
    sys.stdout.write(f"{json.dumps(answer)}\n")
    sys.stdout.flush()
