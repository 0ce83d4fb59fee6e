"""`Grant`: an approval that serves more than one execution, remembered or given in advance."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from policy.approvals.person import Person


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """One standing approval, and what it is bound to.

    `key` is the digest of what it serves: for `remembered` tool, definition, asking rule, caller
    and the fields that must be equal; for an `elevation` caller and bounds. `tools` are the
    patterns of an elevation. `caller` is the digest of the caller it was given to. `uses` is how
    many executions are left, None without a bound; `expires` is None for the rest of the session.
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
