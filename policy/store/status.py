"""`Status` and `Reloaded`: what a store reports about reloading."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from policy.decision import GenerationId
from policy.diagnostics import Diagnostic, Severity, in_order
from policy.generation import Generation
from policy.store.acknowledgements import Loosening


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """Which generation is in force, and since when and why the files on disk differ from it.

    `because` is `file:line: message` of the first error. `diagnostics` are those of the last
    read, warnings included; `checked_at` is when it ended. Times are in UTC. `loosening` is how
    calls may do more since the last edit, or once it is acknowledged.
    """

    generation: GenerationId | None
    stale_since: datetime | None
    because: str | None
    diagnostics: tuple[Diagnostic, ...]
    checked_at: datetime
    loosening: Loosening | None = None

    @property
    def stale(self) -> bool:
        """Whether the files on disk differ from what is in force."""
        return self.stale_since is not None

    @property
    def published(self) -> tuple[GenerationId | None, datetime | None, str | None]:
        """What subscribers are notified of when it changes."""
        return self.generation, self.stale_since, self.because

    def __str__(self) -> str:
        force = (
            "no policy could be loaded: everything is denied"
            if self.generation is None
            else f"generation {self.generation.number} in force"
        )
        if self.stale_since is None:
            return force
        return f"{force}, stale since {self.stale_since:%Y-%m-%dT%H:%M:%SZ}, because {self.because}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reloaded:
    """The outcome of one reload: `changed` means that `generation` is newly in force."""

    changed: bool
    generation: Generation | None
    diagnostics: tuple[Diagnostic, ...]
    status: Status
    milliseconds: float


def first_error(diagnostics: Iterable[Diagnostic]) -> str | None:
    """Return `file:line: message` of the first error, as far as the position is known."""
    for diagnostic in in_order(diagnostics):
        if diagnostic.severity is not Severity.ERROR:
            continue
        file, line, _ = diagnostic.place
        place = f"{file}:{line}: " if line else f"{file}: " if file else ""
        return place + diagnostic.message
    return None
