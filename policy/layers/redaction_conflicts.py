"""Pairs of redactions of which one would redact what the other puts in place of a match."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import permutations

from policy.checks import CheckedPolicy, LayerKey, checked
from policy.diagnostics import Diagnostic, Label, diagnose
from policy.layers.rewrite_conflicts import meet
from policy.layers.selector_overlap import SelectorOverlaps
from policy.values import Redaction, Regex, Unsearchable, compile_regex, redact_text

# The most unconditional redactions of one tool that are compared.
_MOST = 50


def find_redaction_conflicts(
    layers: tuple[CheckedPolicy, ...], overlaps: SelectorOverlaps
) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each replacement that another redaction always replaces."""
    of_tool: dict[str, list[tuple[LayerKey, checked.CheckedRedaction]]] = defaultdict(list)
    for policy in layers:
        for redaction in policy.redactions:
            if _is_unconditional(redaction):
                for spec in overlaps.matching(redaction.tools):
                    of_tool[spec.name].append((policy.key, redaction))
    reported: set[tuple[int, int]] = set()
    for found in of_tool.values():
        for (key, one), (other_key, other) in permutations(found[:_MOST], 2):
            pair = (id(one), id(other))
            if pair in reported or not meet(key, other_key):
                continue
            reported.add(pair)
            if _changes(one.replacement, one, other):
                yield diagnose(
                    "unstable-redaction",
                    f"`{other.id}` would redact the replacement `{one.replacement}`, so every "
                    "result in which it stands is withheld",
                    span=one.span,
                    labels=(Label(span=other.span, text="redacts it again"),),
                    help="choose a replacement that no other redaction matches",
                )


def _is_unconditional(redaction: checked.CheckedRedaction) -> bool:
    conditions = (
        redaction.when,
        redaction.unless,
        redaction.result_when,
        redaction.result_unless,
    )
    return not redaction.shadow and not redaction.broken and conditions == (None,) * 4


def _changes(text: str, *redactions: checked.CheckedRedaction) -> bool:
    """Return whether redactions applied together change a text."""
    found: list[Redaction] = []
    for one in redactions:
        regex = compile_regex(one.pattern)
        if isinstance(regex, Regex):
            found.append(Redaction(regex=regex, replacement=one.replacement, rule=one.id))
    try:
        redacted = redact_text(text, found)
    except Unsearchable:
        return False
    return redacted is not None and redacted.text != text
