"""`Report`: gathers the diagnostics of a run."""

from __future__ import annotations

from dataclasses import dataclass, field

from policy.diagnostics import Diagnostic, Label, Severity, diagnose, in_order
from policy.model import Span


@dataclass(slots=True)
class Report:
    """The diagnostics so far. The same one said twice (a pack used twice) is kept once.

    `errors` counts those said so far: what follows from one need not be said as well. `spoken` is
    how often anything was said, once more or not.
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

    @property
    def spoken(self) -> int:
        """How often anything was said so far."""
        return len(self._spoken)

    def since(self, spoken: int) -> tuple[Diagnostic, ...]:
        """Return what was said since that many were spoken, whether for the first time or not."""
        return tuple(self._spoken[spoken:]) if len(self._spoken) > spoken else ()

    def done(self) -> tuple[Diagnostic, ...]:
        """Return what was said, once each, by place."""
        return in_order(self._said)
