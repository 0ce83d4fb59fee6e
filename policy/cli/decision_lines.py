"""Decides calls given as lines of JSON, one decision a line."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from typing import Any, BinaryIO

import click

from policy.cli.calls import CallToDecide, NotACall, read_call
from policy.cli.loading import WRONG_USAGE, Where, as_json, build_at, exit_with, show_errors
from policy.cli.workspace import Workspace, with_workspace
from policy.decision import Decision, GenerationId
from policy.environment import Disk
from policy.generation import Generation
from policy.model import Charge, LimitUse, Reason, Resolvers, Terms, Verdict, thaw

# One byte more than JSON may have, so that a line cut there is rejected for its length.
_LONGEST_LINE = 16 * 1024 * 1024 + 1
_TESTS_FAIL = (
    "no call is decided by a policy whose tests fail; "
    "`placet explain` shows what it would decide, and why"
)


def decide_lines(
    path: Where,
    *,
    catalog_file: Where | None,
    call_file: BinaryIO | None,
    lexical: bool,
) -> None:
    """Decide the calls by the policy at `path`; write one line each to standard output."""
    built = build_at(path, catalog_file)
    generation = built.generation
    if generation is None:
        show_errors(built, path, note="" if built.failing is None else _TESTS_FAIL)
    wrong = 0
    for line in lines_of(call_file):
        record = _answered(line, generation, lexical=lexical)
        wrong += "error" in record
        # Flushed line by line: the caller may wait for the answer before sending the next call.
        click.echo(as_json(record))
    if wrong:
        raise SystemExit(WRONG_USAGE)


def _answered(line: bytes, generation: Generation, *, lexical: bool) -> dict[str, Any]:
    asked = ask(line, lexical=lexical)
    if isinstance(asked, NotACall):
        return asked.as_json()
    try:
        facts, workspace = with_workspace(asked.facts, generation)
        answer = generation.answer(asked.tool, asked.input, caller=asked.caller, facts=facts)
        return {**decision_record(asked.id, answer.decision), **workspace_record(workspace)}
    except Exception as error:  # noqa: BLE001 — an error in one call must not affect the others
        message = f"this call could not be decided: {type(error).__name__}"
        return NotACall(id=asked.id, code="internal-error", message=message).as_json()


def lines_of(call_file: BinaryIO | None) -> Iterator[bytes]:
    """Yield the lines that are not blank, each cut at the greatest length a call may have."""
    stream = call_file
    if stream is None:
        if sys.stdin is None:
            exit_with("standard input is closed: give the calls there, or with --call")
        stream = sys.stdin.buffer
    while line := stream.readline(_LONGEST_LINE):
        if len(line) < _LONGEST_LINE or line.endswith(b"\n"):
            if line.strip():
                yield line
            continue
        yield line
        while (rest := stream.readline(_LONGEST_LINE)) and not rest.endswith(b"\n"):
            pass


def ask(line: bytes, *, lexical: bool) -> CallToDecide | NotACall:
    """Read one line as a call; paths are resolved on this machine's disk unless lexical."""
    return read_call(line, disk=Resolvers() if lexical else _disk().resolvers())


@functools.cache
def _disk() -> Disk:
    return Disk()


def decision_record(id: object, decision: Decision) -> dict[str, Any]:
    """Return a decision as JSON."""
    generation = decision.generation
    record: dict[str, Any] = {
        "id": id,
        "verdict": str(decision.verdict),
        "input": thaw(decision.call.input),
        "rewritten": decision.rewritten,
        "reasons": [reason_record(reason) for reason in decision.reasons],
        "generation": generation_record(generation),
    }
    if decision.repairs:
        record["repairs"] = list(decision.repairs)
    if decision.shadowed:
        record["shadowed"] = [reason_record(reason) for reason in decision.shadowed]
    if decision.redactions:
        record["redactions"] = [_redaction(reason) for reason in decision.redactions]
    if decision.confinement is not None:
        record["confinement"] = decision.confinement.as_json()
    if decision.charges and decision.verdict is not Verdict.DENY:
        record["charges"] = [_charge(charge) for charge in decision.charges]
    return record


def _charge(charge: Charge) -> dict[str, Any]:
    """Return what the call charges to a limit once it runs; amounts are text, with all digits."""
    record = {"rule": charge.reason.rule, "amount": str(charge.amount)}
    return {**record, "of": charge.budget.value} if charge.budget.value is not None else record


def _redaction(reason: Reason) -> dict[str, Any]:
    """Return a redaction of the result that the call leads to, as JSON."""
    place = {"rule": reason.rule, "layer": reason.layer, "file": reason.file, "line": reason.line}
    return {**place, "shadow": True} if reason.shadow else place


def workspace_record(workspace: Workspace | None) -> dict[str, Any]:
    """Return the workspace in which a call was judged, as a field of its answer."""
    return {"workspace": None if workspace is None else workspace.as_json()}


def generation_record(generation: GenerationId | None) -> dict[str, Any] | None:
    """Return which policy decided, as JSON."""
    if generation is None:
        return None
    return {"number": generation.number, "digest": generation.digest}


def reason_record(reason: Reason) -> dict[str, Any]:
    """Return a reason as JSON; `indeterminate` is there only if a condition was."""
    record: dict[str, Any] = {
        "rule": reason.rule,
        "verdict": str(reason.verdict),
        "layer": reason.layer,
        "file": reason.file,
        "line": reason.line,
        "clause": reason.clause,
        "message": reason.message,
    }
    if reason.undecided is not None:
        record["indeterminate"] = reason.undecided
    if reason.limit is not None:
        record["limit"] = _limit_record(reason.limit)
    if reason.terms is not None and (wanted := _approval_record(reason.terms)):
        record["approval"] = wanted
    return record


def _limit_record(use: LimitUse) -> dict[str, Any]:
    """Return the state of a limit; amounts are text, which keeps all their digits."""
    return {
        "used": None if use.used is None else str(use.used),
        "capacity": str(use.capacity),
        "wait_seconds": None if use.wait is None else round(use.wait, 3),
    }


def _approval_record(terms: Terms) -> dict[str, Any]:
    """Return who must approve, and for how long; empty for an approval by anybody, once."""
    record: dict[str, Any] = {}
    if terms.groups:
        record["by"] = list(terms.groups)
    if terms.two_people:
        record["two_people"] = True
    if terms.remember is not None:
        remember = terms.remember
        record["remember"] = {
            "seconds": remember.seconds,
            "fields": [list(steps) for steps in remember.fields],
            "times": remember.times,
        }
    return record
