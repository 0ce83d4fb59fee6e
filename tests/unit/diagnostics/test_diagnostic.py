"""Diagnostics: their severities, their order, and which of them prevent loading."""

from __future__ import annotations

import pytest

from policy.diagnostics import Severity, diagnose, has_errors, in_order
from policy.model import Source

SOURCE = Source(name="b.policy", text="one\ntwo\n")


def test_the_table_decides_how_severe_a_code_is() -> None:
    assert diagnose("syntax-error", "x").severity is Severity.ERROR
    assert diagnose("byte-order-mark", "x").severity is Severity.WARNING
    assert diagnose("unknown-tool", "x", severity=Severity.WARNING).severity is Severity.WARNING


def test_a_code_outside_the_table_cannot_be_used() -> None:
    with pytest.raises(KeyError):
        diagnose("no-such-code", "x")


def test_diagnostics_come_by_file_line_and_column_and_once_each() -> None:
    second = diagnose("syntax-error", "second", span=SOURCE.span(4, 5))
    first = diagnose("syntax-error", "first", span=SOURCE.span(1, 2))
    other = diagnose("empty-policy", "other", file="a.policy")
    nowhere = diagnose("empty-policy", "nowhere")
    assert in_order([second, other, first, second, nowhere]) == (nowhere, other, first, second)


def test_only_errors_keep_a_policy_from_loading() -> None:
    assert not has_errors([])
    assert not has_errors([diagnose("byte-order-mark", "x")])
    assert has_errors([diagnose("byte-order-mark", "x"), diagnose("syntax-error", "x")])
