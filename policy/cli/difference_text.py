"""A difference of policies as text for a terminal, as Markdown for a pull request, and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from policy.cli.loading import counted
from policy.decision import Decision, approval_words
from policy.diagnostics import visible
from policy.verify import CallDifference, Difference, ToolDifference

_LONGEST_CALL = 400  # characters
# A comment on GitHub has at most 65,536 characters.
_LONGEST_COMMENT = 60_000
_HEAD_OF_CALLS = ("| | tool | layer | call | was | now |", "|---|---|---|---|---|---|")
_HEAD_OF_CHANGES = ("| | what | layer | change |", "|---|---|---|---|")
_ORDER = ("looser", "both", "undecided", "tighter", "not-looser", "same")
_NO_CALL = {
    "looser": "whether a call is decided less strictly is undecided",
    "tighter": "whether a call is decided more strictly is undecided",
    "approval": "whether a call needs less of an approval, or another one, is undecided",
    "more-approval": "whether a call needs more of an approval is undecided",
}


def text(found: Difference) -> str:
    """Return a difference for people at a terminal."""
    lines: list[str] = []
    for one in _changed(found):
        said = ""
        lines.append(
            f"{_words(_status(one)):<9} {visible(one.tool, 100)}, {visible(one.layer.title, 200)}"
        )
        for what, answer in _shown(one):
            witness = answer.witness
            if witness is None:
                if answer.because and answer.because == said:
                    lines.append(f"          {_NO_CALL[what]}, for the same reason")
                    continue
                said = answer.because
                lines.append(f"          {_NO_CALL[what]}{':' if said else ''}")
                more = (said, answer.help and f"help: {answer.help}")
                lines += [f"            {visible(text, 400)}" for text in more if text]
                continue
            lines.append(f"          {visible(witness.call, _LONGEST_CALL)}")
            if witness.given:
                lines.append(f"          given {visible(witness.given, _LONGEST_CALL)}")
            lines.append(f"          was {_verdict(witness.before)}")
            lines.append(f"          now {_verdict(witness.after)}")
    for change in found.changes:
        about = f", {change.layer}" if change.layer else ""
        lines.append(f"{_word(change.direction):<9} {change.kind}{visible(about, 200)}")
        lines.append(f"          {visible(change.what, 400)}")
    return "\n".join([*lines, _summary(found)])


def markdown(found: Difference, *, old: str, new: str) -> str:
    """Return a difference for a pull request; no text of a policy is read as Markdown or HTML."""
    lines = [f"### Policy: {_code(old)} → {_code(new)}", "", _summary(found), ""]
    rows = [_row(one, what, answer) for one in _changed(found) for what, answer in _shown(one)]
    changes = [
        f"| {_word(change.direction)} | {change.kind} | {_code(change.layer)} "
        f"| {_code(change.what)} |"
        for change in found.changes
    ]
    left = _LONGEST_COMMENT
    for head, each in ((_HEAD_OF_CALLS, rows), (_HEAD_OF_CHANGES, changes)):
        shown = list(_fitting(each, left))
        left -= sum(map(len, shown))
        if shown:
            lines += [*head, *shown, ""]
        if len(shown) < len(each):
            more = counted(len(each) - len(shown), "more row")
            lines += [f"{more}: `placet diff` shows all of them at a terminal.", ""]
    return "\n".join(lines).rstrip("\n")


def _fitting(rows: list[str], left: int) -> Iterator[str]:
    """Yield the first rows, as long as all of them have no more characters than are left."""
    for row in rows:
        left -= len(row)
        if left < 0:
            return
        yield row


def record(found: Difference) -> dict[str, Any]:
    """Return a difference for programs."""
    return {
        "may_loosen": found.may_loosen,
        "digest": found.digest,
        "tools": [
            {
                "tool": one.tool,
                "layer": one.layer.title,
                "status": _status(one),
                "looser": _answer(one.looser),
                "tighter": _answer(one.tighter),
                "approval": {**_answer(one.approval), "direction": one.approvals},
                "more_approval": _answer(one.more_approval),
            }
            for one in found.tools
        ],
        "changes": [
            {
                "kind": change.kind,
                "direction": change.direction,
                "what": change.what,
                "layer": change.layer,
                "place": change.place,
            }
            for change in found.changes
        ],
        "same": found.same,
    }


def _changed(found: Difference) -> list[ToolDifference]:
    """Return the rows that are not certainly the same, what loosens first."""
    rows = [one for one in found.tools if one.status != "same" or one.approvals != "none"]
    return sorted(rows, key=lambda one: _ORDER.index(_status(one)))


def _status(one: ToolDifference) -> str:
    if one.status in ("same", "tighter", "not-looser"):
        # What a verdict hides: another approval.
        return {"none": one.status, "unclear": "undecided"}.get(one.approvals, one.approvals)
    return one.status


def _words(status: str) -> str:
    return status.replace("-", " ")


def _shown(one: ToolDifference) -> Iterator[tuple[str, CallDifference]]:
    answers = (
        ("looser", one.looser),
        ("tighter", one.tighter),
        ("approval", one.approval),
        ("more-approval", one.more_approval),
    )
    for what, answer in answers:
        if answer.found != "no":
            yield what, answer


def _verdict(decision: Decision) -> str:
    return f"{decision.verdict} by {', '.join(_rules(decision))}"


def _rules(decision: Decision) -> Iterator[str]:
    for reason in decision.deciding:
        place = f" ({visible(reason.file, 200)}:{reason.line})" if reason.file else ""
        if reason.rule == f"{reason.file}:{reason.line}":
            place = ""  # the name of a rule without one
        terms = "" if reason.terms is None or reason.terms.plain else approval_words(reason.terms)
        kept = "" if reason.terms is None or reason.terms.remember is None else "remembered"
        needs = ", ".join(filter(None, (terms, kept)))
        yield f"{visible(reason.rule, 100)}{place}" + (f": {needs}" if needs else "")


def _word(direction: str) -> str:
    return {"unclear": "undecided", "none": "changed"}.get(direction, direction)


def _summary(found: Difference) -> str:
    rows = Counter(_status(one) for one in found.tools)
    names = {one.tool for one in found.tools if _status(one) != "same"}
    same = found.same + len({one.tool for one in found.tools} - names)
    counts = ", ".join(
        f"{rows[status]} {_words(status)}" for status in _ORDER if rows[status] and status != "same"
    )
    changed = f"{counted(len(names), 'tool')} changed ({counts})" if counts else "no tool changed"
    others = f", {counted(len(found.changes), 'other change')}" if found.changes else ""
    return f"{changed}, {same} the same{others}"


def _row(one: ToolDifference, what: str, answer: CallDifference) -> str:
    start = f"| {what} | {_code(one.tool)} | {_code(one.layer.title)} |"
    witness = answer.witness
    if witness is None:
        because = f": {_code(answer.because)}" if answer.because else ""
        return f"{start} undecided{because} | | |"
    call = _code(visible(witness.call, _LONGEST_CALL))
    given = f" given {_code(visible(witness.given, _LONGEST_CALL))}" if witness.given else ""
    was, now = (
        f"**{decision.verdict}** by {', '.join(map(_code, _rules(decision)))}"
        for decision in (witness.before, witness.after)
    )
    return f"{start} {call}{given} | {was} | {now} |"


def _code(text: str) -> str:
    """Return text as HTML code in which nothing is markup: every sign is written as its number."""
    if not text:
        return ""
    shown = visible(text, 1000)
    plain = (c if c.isalnum() or c == " " else f"&#{ord(c)};" for c in shown)
    return f"<code>{''.join(plain)}</code>"


def _answer(answer: CallDifference) -> dict[str, Any]:
    witness = answer.witness
    if witness is None:
        said = {"because": answer.because, "help": answer.help}
        shown = {name: text for name, text in said.items() if text}
        return {"found": answer.found, "witness": None, **shown}
    return {
        "found": answer.found,
        "witness": {
            "tool": witness.situation.spec.name,
            "input": witness.situation.input,
            "given": dict(witness.facts()),
            "before": _decision(witness.before),
            "after": _decision(witness.after),
        },
    }


def _decision(decision: Decision) -> dict[str, Any]:
    return {
        "verdict": str(decision.verdict),
        "by": [
            {"rule": reason.rule, "layer": reason.layer, "file": reason.file, "line": reason.line}
            for reason in decision.deciding
        ],
    }
