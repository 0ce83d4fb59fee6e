"""`Report`: gathers the diagnostics of a run."""

from __future__ import annotations

from dataclasses import dataclass, field

from policy.diagnostics import Diagnostic, Label, Severity, diagnose, in_order
from policy.model import Span


@dataclass(slots=True)
class Report:
    """The diagnostics so far. Repeated ones (of a pack used twice) are kept once.

    `errors` is the number of errors so far, so that consequences of one need not be reported too.
    """

    _unique: dict[Diagnostic, None] = field(default_factory=dict)
    errors: int = 0
    _all: list[Diagnostic] = field(default_factory=list)

    def add(
        self,
        code: str,
        message: str,
        *,
        span: Span | None,
        label: str = "",
        help: str = "",
        labels: tuple[Label, ...] = (),
        severity: Severity | None = None,
    ) -> None:
        """Add a diagnostic of a code in the table."""
        added = diagnose(
            code,
            message,
            span=span,
            label=label,
            help=help,
            labels=labels,
            severity=severity,
        )
        self._unique[added] = None
        self._all.append(added)
        self.errors += added.severity is Severity.ERROR

    def excuse(self) -> None:
        """Count an error that is a consequence of one reported elsewhere."""
        self.errors += 1

    @property
    def count(self) -> int:
        """The number of diagnostics added so far, repeated ones included."""
        return len(self._all)

    def since(self, count: int) -> tuple[Diagnostic, ...]:
        """Return the diagnostics added since `count` had this value, repeated ones included."""
        return tuple(self._all[count:]) if len(self._all) > count else ()

    def done(self) -> tuple[Diagnostic, ...]:
        """Return the diagnostics, once each, sorted by position."""
        return in_order(self._unique)
