"""`AuditRecord`: what is kept of one call, and the line of JSON it is written as."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

from policy.audit.bounded_value import bounded
from policy.decision import GenerationId, ValuePlace
from policy.model import SENTENCES, Caller, Confinement, Frozen, Reason, Verdict, thaw

Outcome: TypeAlias = Literal[
    "ok",
    "answered",
    "denied",
    "not-found",
    "refused",
    "failed",
    "timeout",
    "cancelled",
    "unreachable",
    "interrupted",
    "withheld",
]
"""How a call ended. `refused`: not a valid call; `denied`: by its verdict; `failed`: in the tool.
`answered`: the verdict went to an agent that runs the tool itself, so the result is not known.
`interrupted`: the process that ran it ended first, so its effect is not known.
`withheld`: the tool ran, but what it returned could not be redacted and was not returned.
"""

ApprovalResult: TypeAlias = Literal["approved", "denied", "timeout", "none"]
"""The result of one answer. `none`: nobody answered, or a person who may not answer."""

_LONGEST_TEXT = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """One answer to one approval request. `by` is who answered; None where nobody did.

    `rules` are the rules it answers. `grant` is the standing approval that was given, or that
    was used in place of an approval request.
    """

    digest: str
    outcome: ApprovalResult
    by: str | None = None
    rules: tuple[str, ...] = ()
    grant: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRedaction:
    """What the rule `rule` has redacted of a result; never the text itself.

    `places` counts the matches that were replaced, `unsearched` the pieces of binary content that
    were withheld. `withheld` is why the whole result was, None if it was returned. A `shadow` rule
    has changed nothing: the record says what it would have.
    """

    rule: str
    places: int = 0
    unsearched: int = 0
    shadow: bool = False
    withheld: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeniedAccess:
    """What a sandbox did not let the code of a call do, or `likely` did not.

    `verb` is that of the result; `target` is what it was about, None where that shows nowhere.
    """

    verb: str
    target: str | None
    likely: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """One call from its arrival to its end, refused ones included.

    `asked_tool` and `input` are as received, `tool` and `final_input` as judged and run; None
    where the call did not get that far. Values are cut to a bounded size, in which case `cut` is
    set; the digests are of the whole values. `latency_ms` runs from arrival to end, including the
    time spent waiting for people. `error` is the type of error, `code` its reason, `message` the
    sentence sent to the model. `source` is where the tool comes from, `tokens_used` what it
    reported. `ran` is the script that a shell got for the command, where it differs by more than
    spelling. `parent` is the id of the call whose tool made this one. `redactions` are what rules
    have redacted of the result. `values` are those that rules look for in earlier
    calls or in what the user wrote, and where they stand. `confinement` is what code that the call
    started was confined to, and `sandbox` the driver that confined it: `none` if nothing did, None
    if the call started no program. It is `wasm` for a module, which confines itself. `denied` is
    what that sandbox seems not to have let it do, if it failed. `made` are paths that appeared
    while its programs ran, and by which programs outside of the sandbox run code.
    """

    id: str
    at: datetime
    caller: Caller
    asked_tool: str
    tool: str | None
    input: Frozen
    input_digest: str | None
    final_input: Frozen
    final_digest: str | None
    verdict: Verdict
    outcome: Outcome
    latency_ms: int
    cut: bool = False
    error: str | None = None
    code: str | None = None
    message: str | None = None
    reasons: tuple[Reason, ...] = ()
    shadowed: tuple[Reason, ...] = ()
    generation: GenerationId | None = None
    stale: bool = False
    repairs: tuple[str, ...] = ()
    rewritten: bool = False
    approvals: tuple[Approval, ...] = ()
    source: str | None = None
    tokens_used: int | None = None
    ran: str | None = None
    parent: str | None = None
    redactions: tuple[ResultRedaction, ...] = ()
    values: tuple[ValuePlace, ...] = ()
    confinement: Confinement | None = None
    sandbox: str | None = None
    denied: tuple[DeniedAccess, ...] = ()
    made: tuple[str, ...] = ()


def record_line(record: AuditRecord) -> bytes:
    """Return the record as one line of ASCII JSON, its line ending included.

    ASCII, so that no value can break the line or control the terminal it is shown on.
    """
    return json_line(_document(record))


def start_line(record: AuditRecord, run: str) -> bytes:
    """Return the line of a call that is about to run; `run` identifies this process.

    It has the fields of a record; those that are known only at the end are null.
    """
    document = _document(record)
    document.update(dict.fromkeys(_OF_THE_END), event="start", run=run)
    return json_line(document)


def interrupted_line(start: Mapping[str, Any], *, at: datetime) -> bytes:
    """Return the end of a call whose process ended first, made from the line of its start."""
    document = dict(start)
    del document["run"]
    document.update(
        event="end",
        outcome="interrupted",
        error="interrupted",
        code="interrupted",
        message=SENTENCES["interrupted"],
        closed_at=_time(at),
    )
    return json_line(document)


def json_line(document: Mapping[str, Any]) -> bytes:
    """Return an object as one line of ASCII JSON."""
    text = json.dumps(document, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.encode("ascii") + b"\n"


# How many items of a set a record lists.
_MOST_ITEMS = 100
_OF_THE_END = ("outcome", "error", "code", "message", "latency_ms", "tokens_used")


def _document(record: AuditRecord) -> dict[str, Any]:
    document: dict[str, Any] = {
        "event": "end",
        "id": record.id,
        "parent": record.parent,
        "at": _time(record.at),
        "caller": _caller(record.caller),
        "asked_tool": _short(record.asked_tool),
        "tool": _short(record.tool),
        "input": thaw(record.input),
        "input_digest": record.input_digest,
        "final_input": thaw(record.final_input),
        "final_digest": record.final_digest,
        "cut": record.cut,
        "verdict": record.verdict.value,
        "outcome": record.outcome,
        "error": record.error,
        "code": record.code,
        "message": _short(record.message),
        "latency_ms": record.latency_ms,
        "tokens_used": record.tokens_used,
        "ran": record.ran,
        "source": record.source,
        "reasons": [_reason(reason) for reason in record.reasons],
        "shadowed": [_reason(reason) for reason in record.shadowed],
        "generation": _generation(record.generation),
        "stale": record.stale,
        "repairs": [_short(repair) for repair in record.repairs],
        "rewritten": record.rewritten,
        "approvals": [_approval(approval) for approval in record.approvals],
    }
    if record.values:
        document["values"] = [_value(one) for one in record.values]
    if record.confinement is not None:
        document["confinement"] = record.confinement.as_json(most=_MOST_ITEMS)
    if record.sandbox is not None:
        document["sandbox"] = record.sandbox
    if record.denied:
        document["denied"] = [
            {"verb": one.verb, "target": _short(one.target), "likely": one.likely}
            for one in record.denied
        ]
    if record.made:
        document["made"] = [_short(path) for path in record.made]
    if record.redactions:
        document["redactions"] = [_redaction(one) for one in record.redactions]
    return document


def _caller(caller: Caller) -> dict[str, Any]:
    return {
        "agent": _short(caller.agent),
        "session": _short(caller.session),
        "role": _short(caller.role),
        "user": _short(caller.user),
        "groups": [_short(group) for group in caller.groups],
        "parents": [
            {"agent": _short(above.agent), "session": _short(above.session)}
            for above in list(caller.chain())[1:]
        ],
    }


def _reason(reason: Reason) -> dict[str, Any]:
    return {
        "rule": _short(reason.rule),
        "verdict": reason.verdict.value,
        "layer": _short(reason.layer),
        "file": _short(reason.file),
        "line": reason.line,
        "clause": _short(reason.clause),
        "message": _short(reason.message),
        "audit": _short(reason.audit),
        "indeterminate": _short(reason.undecided),
    }


def _approval(approval: Approval) -> dict[str, Any]:
    return {
        "digest": approval.digest,
        "outcome": approval.outcome,
        "by": _short(approval.by),
        "rules": [_short(rule) for rule in approval.rules],
        "grant": approval.grant,
    }


def _value(one: ValuePlace) -> dict[str, Any]:
    return {
        "rule": _short(one.rule),
        "condition": _short(one.condition),
        "value": thaw(bounded(one.value, characters=_LONGEST_TEXT)[0]),
        "place": _short(one.place),
    }


def _redaction(redaction: ResultRedaction) -> dict[str, Any]:
    return {
        "rule": _short(redaction.rule),
        "places": redaction.places,
        "unsearched": redaction.unsearched,
        "shadow": redaction.shadow,
        "withheld": _short(redaction.withheld),
    }


def _generation(generation: GenerationId | None) -> dict[str, Any] | None:
    if generation is None:
        return None
    return {"number": generation.number, "digest": generation.digest}


def _time(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _short(text: str | None) -> str | None:
    if text is None or len(text) <= _LONGEST_TEXT:
        return text
    return text[:_LONGEST_TEXT] + "…"
