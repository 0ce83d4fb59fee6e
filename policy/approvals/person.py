"""`Person`: somebody who answers questions, as the answer is weighed and recorded."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Whoever answers: a stable identity, and the groups it belongs to.

    `agent` and `session` are set where the answer came from an agent, or out of a session: no
    agent may approve, and nobody from the asker's own session.
    """

    id: str
    groups: tuple[str, ...] = ()
    agent: str | None = None
    session: str | None = None
