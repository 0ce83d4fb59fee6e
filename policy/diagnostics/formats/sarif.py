"""Diagnostics as a SARIF 2.1.0 log for code scanning."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from policy.diagnostics.codes import CODES, explaining
from policy.diagnostics.diagnostic import Diagnostic, Fix
from policy.diagnostics.display_path import display_name, is_shipped
from policy.model import Span

_LINK = re.compile(r"\[(?=[^]]*\]\()")
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def to_sarif(diagnostics: Sequence[Diagnostic], *, root: str = "") -> str:
    """Return one run with the codes that occur as its rules and a result for each diagnostic.

    File names are made relative references below `root` (`rules/`). A rule names its page in
    `help`, because SARIF's `helpUri` must be absolute and the pages travel with the source.
    """
    codes = sorted({d.code for d in diagnostics})
    log = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "placet", "rules": [_rule(code) for code in codes]}},
                "columnKind": "unicodeCodePoints",
                "results": [_result(d, codes.index(d.code), root=root) for d in diagnostics],
            }
        ],
    }
    return json.dumps(log, indent=2) + "\n"


def _rule(code: str) -> dict[str, Any]:
    return {
        "id": code,
        "shortDescription": {"text": CODES[code].title},
        "defaultConfiguration": {"level": str(CODES[code].severity)},
        "help": {"text": f"Run `{explaining(code)}`."},
    }


def _result(diagnostic: Diagnostic, index: int, *, root: str) -> dict[str, Any]:
    text = diagnostic.message + (f"; {diagnostic.help}" if diagnostic.help else "")
    result: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "ruleIndex": index,
        "level": str(diagnostic.severity),
        "message": _message(text),
        "locations": _locations(diagnostic, root=root),
    }
    if diagnostic.labels:
        result["relatedLocations"] = [
            {**_location(label.span, root=root), "id": number, "message": _message(label.text)}
            for number, label in enumerate(diagnostic.labels, start=1)
        ]
    if diagnostic.fix is not None:
        result["fixes"] = [_fix(diagnostic.fix, root=root)]
    return result


def _message(text: str) -> dict[str, str]:
    """Return a message in which nothing is a link: `[text](target)` is one even in plain text."""
    return {"text": _LINK.sub(r"\\[", text)}


def _locations(diagnostic: Diagnostic, *, root: str) -> list[dict[str, Any]]:
    if diagnostic.span is not None:
        return [_location(diagnostic.span, root=root)]
    if diagnostic.file is not None:
        return [{"physicalLocation": {"artifactLocation": _artifact(diagnostic.file, root=root)}}]
    return []


def _location(span: Span, *, root: str) -> dict[str, Any]:
    return {
        "physicalLocation": {
            "artifactLocation": _artifact(span.file, root=root),
            "region": _region(span),
        }
    }


def _fix(fix: Fix, *, root: str) -> dict[str, Any]:
    replacement = {
        "deletedRegion": _region(fix.span),
        "insertedContent": {"text": fix.replacement},
    }
    change = {
        "artifactLocation": _artifact(fix.span.file, root=root),
        "replacements": [replacement],
    }
    return {"artifactChanges": [change]}


def _artifact(file: str, *, root: str) -> dict[str, str]:
    return {"uri": file if is_shipped(file) else quote(display_name(file, root=root))}


def _region(span: Span) -> dict[str, int]:
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }
