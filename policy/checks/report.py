"""`Report`: gathers the diagnostics of a run."""

from __future__ import annotations

from dataclasses import dataclass, field

from policy.diagnostics import Diagnostic, Label, Severity, diagnose, in_order
from policy.model import Span


@dataclass(slots=True)
class Report:
    """The diagnostics so far. Repeated ones (of a pack used twice) are kept once.

    `errors` counts the errors so far, so that consequences of one need not be reported as well.
    `spoken` counts all reports, repeated ones included.
    """

    _said: dict[Diagnostic, None] = field(default_factory=dict)
    errors: int = 0
    _spoken: list[Diagnostic] = field(default_factory=list)

    def say(
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
        said = diagnose(
            code,
            message,
            span=span,
            label=label,
            help=help,
            labels=labels,
            severity=severity,
        )
        self._said[said] = None
        self._spoken.append(said)
        self.errors += said.severity is Severity.ERROR

    def excuse(self) -> None:
        """Count an error that is a consequence of one reported elsewhere."""
        self.errors += 1

    @property
    def spoken(self) -> int:
        """The number of reports so far, repeated ones included."""
        return len(self._spoken)

    def since(self, spoken: int) -> tuple[Diagnostic, ...]:
        """Return the diagnostics since that number of reports, repeated ones included."""
        return tuple(self._spoken[spoken:]) if len(self._spoken) > spoken else ()

    def done(self) -> tuple[Diagnostic, ...]:
        """Return the diagnostics, once each, sorted by position."""
        return in_order(self._said)
