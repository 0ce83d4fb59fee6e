"""What we say to people who write policy: diagnostics, their codes and their renderings."""

from __future__ import annotations

from policy.diagnostics.codes import CODES, Code, diagnose, page
from policy.diagnostics.diagnostic import (
    Diagnostic,
    Fix,
    Label,
    Severity,
    has_errors,
    in_order,
)
from policy.diagnostics.formats.text import summary
from policy.diagnostics.renderer import Format, render
from policy.diagnostics.suggest import did_you_mean, nearest, one_slip_from
from policy.diagnostics.visible import visible
from policy.diagnostics.whereabouts import whereabouts

__all__ = [
    "CODES",
    "Code",
    "Diagnostic",
    "Fix",
    "Format",
    "Label",
    "Severity",
    "diagnose",
    "did_you_mean",
    "has_errors",
    "in_order",
    "nearest",
    "one_slip_from",
    "page",
    "render",
    "summary",
    "visible",
    "whereabouts",
]
