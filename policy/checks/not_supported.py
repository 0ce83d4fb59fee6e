"""Reports statements of the language that this version does not support."""

from __future__ import annotations

from policy.checks.report import Report
from policy.model import Span


def refuse_unsupported(what: str, report: Report, *, span: Span) -> None:
    """Report a construct that cannot be used yet."""
    report.add(
        "not-supported-yet",
        f"{what} is not supported yet",
        span=span,
        help="remove it for now; a policy never takes effect with a part missing",
    )
