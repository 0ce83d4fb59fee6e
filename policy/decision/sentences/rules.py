"""A rule, default, rewrite or limit as one plain sentence for a model."""

from __future__ import annotations

from datetime import timedelta
from typing import assert_never

from policy.checks import checked
from policy.decision.sentences.conditions import (
    code_span,
    condition_text,
    field_text,
    listed,
    value_text,
)
from policy.model import Terms, Verdict
from policy.values import escape_for_display

_LONGEST_HEAD = 280
_LONGEST_BECAUSE = 180
_LONGEST_GROUP = 60

_DOES = {
    Verdict.NONE: "is left to others",
    Verdict.ALLOW: "is allowed",
    Verdict.ASK: "needs an approval",
    Verdict.DENY: "is denied",
}


def rule_sentence(rule: checked.CheckedRule, subject: str, *, within: str = "") -> str:
    """Return a rule as a sentence; `within` names the layer that an `allow` counts for."""
    what = f"needs {approval_words(rule.terms)}" if rule.asks else _DOES[rule.verdict]
    return sentence_with_reason(f"{within}{subject} {what}{_circumstances(rule)}", rule.because)


def default_sentence(default: checked.CheckedDefault, subject: str, *, within: str = "") -> str:
    """Return a default as a sentence about calls that no `allow` covers."""
    otherwise = "" if default.tools is None else " otherwise"
    return sentence_with_reason(f"{within}{subject} {_DOES[default.verdict]}{otherwise}")


def rewrite_sentence(rewrite: checked.CheckedRewrite, subject: str) -> str:
    """Return what a rewrite does to the input before a call runs."""
    changes = listed((_change(change) for change in rewrite.changes), "and")
    return sentence_with_reason(
        f"before {subject} runs, {changes}{_circumstances(rewrite)}", rewrite.because
    )


def redaction_sentence(redaction: checked.CheckedRedaction, subject: str) -> str:
    """Return what a redaction does to what a call returns."""
    pattern, becomes = code_span(f"/{redaction.pattern}/"), code_span(redaction.replacement)
    asks = redaction.result_when is not None or redaction.result_unless is not None
    depending = ", depending on the result" if asks else ""
    return sentence_with_reason(
        f"in the results of {subject}, what matches {pattern} becomes {becomes}"
        f"{_circumstances(redaction)}{depending}",
        redaction.because,
    )


def limit_sentence(limit: checked.CheckedLimit, tools: str) -> str:
    """Return how much a limit allows, of calls of `tools` together."""
    each = "" if limit.scope == "service" else f" for each {_payer(limit)}"
    within = "" if limit.window is None else f" within {_duration(limit.window)}"
    if limit.amount is None:
        calls = "call" if limit.capacity == 1 else "calls"
        head = f"at most {limit.capacity} {calls} of {tools}{each} can run{within}"
    else:
        amount = value_text(limit.amount) or "an amount"
        head = f"{amount} in the calls of {tools}{each} can add up to {limit.capacity}{within}"
    return sentence_with_reason(f"{head}{_circumstances(limit)}", limit.because)


def _payer(limit: checked.CheckedLimit) -> str:
    if limit.scope == "field":
        steps = (step for step in limit.steps if step != "*")
        return f"value of {field_text(steps)}"
    return "session with its sub-agents" if limit.scope == "session" else limit.scope


_UNITS = {"week": 604_800, "day": 86_400, "hour": 3_600, "minute": 60, "second": 1}


def _duration(window: timedelta) -> str:
    """Return `a minute`, `an hour` or `10 minutes`."""
    for unit, seconds in _UNITS.items():
        number, rest = divmod(window, timedelta(seconds=seconds))
        if number and not rest:
            article = "an" if unit == "hour" else "a"
            return f"{article} {unit}" if number == 1 else f"{number} {unit}s"
    return f"{window / timedelta(milliseconds=1):g} milliseconds"


def sentence_with_reason(head: str, because: str | None = None) -> str:
    """Return a sentence with its reason, of bounded length and on one line."""
    if len(head) > _LONGEST_HEAD:
        head = f"{head[: _LONGEST_HEAD - 1]}…"
    head = head[:1].upper() + head[1:]
    reason = (because or "").strip().rstrip(".")
    return f"{head}: {_one_line(reason, _LONGEST_BECAUSE)}." if reason else f"{head}."


def approval_words(terms: Terms) -> str:
    """Return what approval an ask requires: `an approval by finance`, `… by two people`."""
    groups = [_one_line(group, _LONGEST_GROUP) for group in terms.groups]
    if not terms.two_people:
        return f"an approval by {listed(groups)}" if groups else "an approval"
    if len(groups) < 2:
        return f"an approval by two people{f' of {groups[0]}' if groups else ''}"
    return f"an approval by {listed((f'one of {group}' for group in groups), 'and')}"


def _one_line(text: str, limit: int) -> str:
    return escape_for_display(" ".join(text.split()), limit)


def _circumstances(
    rule: checked.CheckedRule
    | checked.CheckedRewrite
    | checked.CheckedRedaction
    | checked.CheckedLimit,
) -> str:
    when = "" if rule.when is None else f" when {condition_text(rule.when)}"
    if rule.unless is None:
        return when
    return f"{when}{',' if when else ''} unless {condition_text(rule.unless)}"


def _change(change: checked.CheckedChange) -> str:
    name = field_text(change.steps)
    given = None if change.value is None else value_text(change.value)
    if given is None and change.kind not in ("remove", "redact"):
        return f"it is changed: {code_span(change.text)}"
    match change.kind:
        case "set":
            return f"{name} is set to {given}"
        case "set if absent":
            return f"{name} is set to {given} if it is absent"
        case "at most" | "at least":
            return f"{name} is brought to {change.kind} {given}"
        case "remove":
            return f"{name} is removed"
        case "redact":
            instead = (
                "`[redacted]`" if change.replacement is None else code_span(change.replacement)
            )
            return f"what matches {code_span(f'/{change.pattern}/')} in {name} becomes {instead}"
        case _:
            assert_never(change.kind)
