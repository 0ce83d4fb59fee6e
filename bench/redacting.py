"""Time redactions of results: `python -m bench.redacting`, a few seconds.

Results of 10 kB, 100 kB and 1 MB are redacted by five rules: a text, records as JSON values and the
same as a text, without matches and with some. The exit status is 1 where 100 kB take over 5 ms.
`records, one match each` is not held to that: it has a match in every tenth string. What is
measured is processor time, so that a busy machine shows about the same.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from time import process_time_ns
from typing import Any

from policy.program import ResultRedactor
from policy.values import Redaction, Regex, compile_regex

_SIZES = (10_000, 100_000, 1_000_000)
_TIMES = 9
_MOST_MILLISECONDS = 5.0
_PATTERNS = (
    r"AKIA[0-9A-Z]{16}",
    r"[\w.+-]+@[\w-]+\.[\w.]+",
    r"(?i)(password|secret|token)\s*[:=]\s*\S+",
    r"-----BEGIN [A-Z ]+ KEY-----",
    r"\b[0-9]{13,19}\b",
)
_LINE = "the quick brown fox jumps over the lazy dog and runs home before it rains again\n"
_ADDRESS = "ada@corp.example\n"


def _records(size: int, *, mail: str) -> list[dict[str, Any]]:
    count = size // 90
    return [
        {"id": number, "name": "the quick fox", "mail": mail, "share": 0.25, "ok": True}
        for number in range(count)
    ]


# The results that take no more than the goal, and the one that may.
_RESULT_OF: dict[str, Callable[[int], Any]] = {
    "text": lambda size: _LINE * (size // len(_LINE)),
    "text, 100 matches": lambda size: (_LINE * (size // len(_LINE) // 100) + _ADDRESS) * 100,
    "records": lambda size: _records(size, mail="none given"),
    "records as text": lambda size: json.dumps(_records(size, mail="none given")),
}
_DENSE = "records, one match each"


def _redactions() -> tuple[Redaction, ...]:
    found = [compile_regex(pattern) for pattern in _PATTERNS]
    return tuple(
        Redaction(regex=regex, replacement="[redacted]", rule=regex.source)
        for regex in found
        if isinstance(regex, Regex)
    )


def _milliseconds(result: Any, redactions: tuple[Redaction, ...]) -> float:
    taken: list[int] = []
    for _ in range(_TIMES):
        start = process_time_ns()
        ResultRedactor(redactions).value(result)
        taken.append(process_time_ns() - start)
    return round(sorted(taken)[_TIMES // 2] / 1e6, 3)


def main() -> int:
    """Print the medians, and tell whether 100 kB take no more than the goal."""
    redactions = _redactions()
    makers = {**_RESULT_OF, _DENSE: lambda size: _records(size, mail="ada@corp.example")}
    found = {
        what: {str(size): _milliseconds(make(size), redactions) for size in _SIZES}
        for what, make in makers.items()
    }
    for what, by_size in found.items():
        shown = ", ".join(f"{int(size):,} B {taken:.3f} ms" for size, taken in by_size.items())
        print(f"{what}: {shown}")
    return int(any(found[what]["100000"] > _MOST_MILLISECONDS for what in _RESULT_OF))


if __name__ == "__main__":
    sys.exit(main())
