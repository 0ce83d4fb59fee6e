"""Diagnostics as one JSON object."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from policy.diagnostics.codes import page
from policy.diagnostics.diagnostic import Diagnostic


def to_json(diagnostics: Sequence[Diagnostic]) -> str:
    """Return `{"diagnostics": […]}`; lines and columns count characters from 1, ends exclusive.

    A diagnostic without a span has null for it. Only ASCII is written, so nothing can be hidden.
    """
    return json.dumps({"diagnostics": [_entry(d) for d in diagnostics]}, indent=2) + "\n"


def _entry(diagnostic: Diagnostic) -> dict[str, Any]:
    span = diagnostic.span
    return {
        "code": diagnostic.code,
        "severity": str(diagnostic.severity),
        "message": diagnostic.message,
        "file": span.file if span else diagnostic.file,
        "line": span.line if span else None,
        "column": span.column if span else None,
        "end_line": span.end_line if span else None,
        "end_column": span.end_column if span else None,
        "help": diagnostic.help or None,
        "page": page(diagnostic.code),
    }
