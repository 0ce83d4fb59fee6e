"""`Grant`: a standing approval, remembered or given in advance, for more than one execution."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from policy.approvals.entitlement import Person
from policy.runtime import is_past


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """One standing approval, and the calls that it is valid for.

    `key` is the digest of what must be equal: for `remembered` tool, definition, asking rule,
    caller and the named fields; for an `elevation` caller and bounds. `tools` are the patterns of
    an elevation. `caller` is the digest of the caller it was given to. `uses` is how many
    executions are left, None if unlimited; `expires` is None for the rest of the session.
    """

    id: str
    kind: Literal["remembered", "elevation"]
    key: str
    caller: str
    session: str
    people: tuple[Person, ...]
    tools: tuple[str, ...] = ()
    uses: int | None = None
    given_at: datetime
    expires: datetime | None = None
    request: str | None = None

    def serves(self, now: datetime) -> bool:
        """Return whether it serves one more execution."""
        return not is_past(self.expires, now) and (self.uses is None or self.uses > 0)

    def spent(self) -> Grant:
        """Return it with one use fewer."""
        return self if self.uses is None else replace(self, uses=self.uses - 1)
