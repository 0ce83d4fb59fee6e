"""`Diagnostic`: one problem in a policy, as plain data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from policy.model import Span


class Severity(StrEnum):
    """An error keeps a policy from loading; warnings and notes do not."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A further span of a diagnostic, with a remark."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """A replacement of the text at `span` that would correct the mistake."""

    span: Span
    replacement: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """A problem in a policy: a code, one lower-case sentence, its span, and what to do.

    `span` is None where no text is concerned (an empty folder); `file` then names the file, if any.
    `label` is the short remark under the carets.
    """

    code: str
    message: str
    severity: Severity = Severity.ERROR
    span: Span | None = None
    file: str | None = None
    label: str = ""
    help: str = ""
    labels: tuple[Label, ...] = ()
    fix: Fix | None = None

    @property
    def place(self) -> tuple[str, int, int]:
        """File, line and column for sorting; empty and zero where unknown."""
        if self.span is None:
            return (self.file or "", 0, 0)
        return (self.span.file, self.span.line, self.span.column)


def in_order(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return the diagnostics once each, by file, line, column and code."""
    return tuple(sorted(dict.fromkeys(diagnostics), key=lambda d: (*d.place, d.code, d.message)))


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    """Return whether any of the diagnostics is an error, so that the policy does not load."""
    return any(d.severity is Severity.ERROR for d in diagnostics)
