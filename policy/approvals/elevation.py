"""`Elevation`: a request to approve future calls in advance.

It is limited to named tools, a duration and a number of calls: without these limits it would be a
policy, and policies are written in files.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from policy.approvals.binding import caller_digest
from policy.audit import digest_of
from policy.catalog import ToolPattern, ToolSelector, ToolSpec
from policy.diagnostics import visible
from policy.model import Caller, Reason, Verdict

LONGEST_SECONDS = 8 * 3600.0
MOST_TIMES = 100
MOST_PATTERNS = 20
_LONGEST_PATTERN = 200
_LONGEST_BECAUSE = 500
_WILDCARDS = frozenset("*?[")
# Letters or digits that a pattern with wildcards names: two at its start, or three in a row.
_NAMES = re.compile(r"[^\W_]{2}|.*[^\W_]{3}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Elevation:
    """Asks for calls of `tools` to be allowed for `seconds`, at most `times`, with a reason."""

    tools: tuple[str, ...]
    seconds: float
    times: int
    because: str = ""

    @property
    def problem(self) -> str | None:
        """Why nobody may be asked for it, as one sentence; None if it is well bounded."""
        if not 0 < len(self.tools) <= MOST_PATTERNS:
            return f"an elevation names 1 to {MOST_PATTERNS} patterns of tools"
        if not all(_is_pattern(tool) for tool in self.tools):
            return "an elevation must name its tools, at least in part"
        if not _is_number(self.seconds) or not 0 < self.seconds <= LONGEST_SECONDS:
            return f"an elevation ends after at most {LONGEST_SECONDS:g} seconds"
        if type(self.times) is not int or not 0 < self.times <= MOST_TIMES:
            return f"an elevation serves 1 to {MOST_TIMES} calls"
        if not _is_text(self.because) or len(self.because) > _LONGEST_BECAUSE:
            return f"the reason is a string of at most {_LONGEST_BECAUSE} characters"
        return None

    @property
    def name(self) -> str:
        """The patterns, for people."""
        return ", ".join(self.tools)

    @property
    def input(self) -> dict[str, object]:
        """The bounds, as the request and the record hold them."""
        return {
            "tools": list(self.tools),
            "seconds": self.seconds,
            "times": self.times,
            "because": self.because,
        }

    @property
    def lines(self) -> tuple[str, ...]:
        """The calls that it would allow, for people."""
        bounds = f"for {self.seconds:g} seconds, at most {self.times} calls"
        return tuple(f"lets {visible(tool)} through, {bounds}" for tool in self.tools)

    @property
    def reason(self) -> Reason:
        """The opinion that asks for it: anybody may answer, and each rule is checked again."""
        return Reason(rule="elevation", verdict=Verdict.ASK, message=self.because or None)

    def digest(self, caller: Caller) -> str | None:
        """Return the digest that an answer is valid for; the reason is not part of it."""
        return digest_of(
            {
                "elevation": [self.seconds, self.times, sorted(self.tools)],
                "caller": caller_digest(caller),
            }
        )


def matches_tool(patterns: tuple[str, ...], spec: ToolSpec | None) -> bool:
    """Return whether an elevation covers this tool, by its own name or that of all its versions.

    As in an `allow`, a wildcard matches only the host application's tools, and those of a server
    that the pattern spells out.
    """
    if spec is None or not patterns:
        return False
    selector = ToolSelector(
        included=tuple(ToolPattern(text=text) for text in patterns), grants=True
    )
    return selector.matches(spec)


def _is_pattern(text: object) -> bool:
    if not isinstance(text, str) or len(text) > _LONGEST_PATTERN or not text.isprintable():
        return False
    return bool(text.strip() if _WILDCARDS.isdisjoint(text) else _NAMES.match(text))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and math.isfinite(value)  # type: ignore[arg-type]
