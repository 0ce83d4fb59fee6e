"""The exceptions: the details that each carries."""

from __future__ import annotations

import pytest

from policy.diagnostics import diagnose
from policy.model import (
    Execution,
    NotFound,
    PermissionDenied,
    PolicyInvalid,
    Timeout,
    ToolError,
    Transport,
    ValidationFailed,
)


def test_an_invalid_policy_carries_every_diagnostic_and_says_the_first() -> None:
    problems = [diagnose("syntax-error", "`where` is no clause"), diagnose("empty-policy", "none")]
    error = PolicyInvalid(problems)
    assert error.diagnostics == tuple(problems)
    assert str(error) == "the policy cannot be used: `where` is no clause (and 1 more)"
    assert str(PolicyInvalid([])) == "the policy cannot be used: no diagnostics"


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (PermissionDenied("t", "m"), "permission-denied"),
        (NotFound("t", "m"), "not-found"),
        (ValidationFailed("t", "m"), "validation-failed"),
        (Timeout("t", "m", seconds=1.5), "timeout"),
        (Execution("t", "m"), "execution"),
        (Transport("t", "m"), "transport"),
    ],
)
def test_a_tool_error_names_its_tool_its_kind_and_its_message(error: ToolError, kind: str) -> None:
    assert (error.tool, error.kind, error.message, str(error)) == ("t", kind, "m", "m")
