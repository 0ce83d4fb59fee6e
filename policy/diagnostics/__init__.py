"""Diagnostics for authors of policies: their codes, and their renderings."""

from policy.diagnostics.codes import CODES, Code, diagnose, page
from policy.diagnostics.diagnostic import Diagnostic, Fix, Label, Severity, has_errors, in_order
from policy.diagnostics.display_path import display_name, is_shipped
from policy.diagnostics.formats.text import summary
from policy.diagnostics.renderer import Format, render
from policy.diagnostics.suggestions import did_you_mean, near_words, nearest, one_edit_from
from policy.diagnostics.visible_text import visible

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
    "display_name",
    "has_errors",
    "in_order",
    "is_shipped",
    "near_words",
    "nearest",
    "one_edit_from",
    "page",
    "render",
    "summary",
    "visible",
]
