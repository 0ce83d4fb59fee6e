"""The names of tools in; those that another spelling or a slip of the pen may stand for, out.

Made when somebody first asks for a name that is no tool's: most processes never do.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from policy.catalog.names import LOOSEST, spellings
from policy.catalog.nearby import Nearby, nearby
from policy.catalog.slips import Slips
from policy.records import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Guesses:
    """Names by style and spelling, by one slip in the loosest style, and by their neighbours."""

    spelled: Mapping[tuple[str, str], tuple[str, ...]] = field(repr=False)
    slips: Slips
    nearby: Nearby


def guesses_of(names: Collection[str]) -> Guesses:
    """Return what the names may be mistaken for."""
    spelled: dict[tuple[str, str], tuple[str, ...]] = {}
    for name in names:
        for key in spellings(name):
            spelled[key] = (*spelled.get(key, ()), name)
    snaked = ((key, n) for (style, key), ns in spelled.items() if style == LOOSEST for n in ns)
    return Guesses(spelled=spelled, slips=Slips(snaked), nearby=nearby(names))
