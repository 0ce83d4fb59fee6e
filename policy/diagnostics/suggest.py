"""Did you mean: a mistyped word and the known ones in, the nearest known one (or none) out.

Distance counts inserted, dropped and changed letters and swapped neighbours; case is free, and the
same parts in another order (`read_file` for `file_read`) count as one mistake. How much may differ
grows with the word, so that a short word is not led to an unrelated one.
"""

from __future__ import annotations

from collections.abc import Iterable

from policy import later

# Nobody mistypes a longer name by a few letters, and a hostile one must not cost its square.
_LONGEST = 80
_PARTS = later.pattern(r"[_\-./\s]+")


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate that `word` most likely stands for, or None if all are far.

    Of equally near ones the first in alphabetical order is taken, whatever order they come in.
    """
    if len(word) > _LONGEST:
        return None
    target = word.casefold()
    best: tuple[int, str] | None = None
    limit = _tolerance(target)
    for candidate in candidates:
        distance = _distance(target, candidate.casefold(), limit)
        if distance is None or candidate == word:
            continue
        if best is None or (distance, candidate) < best:
            best, limit = (distance, candidate), distance
    return best[1] if best else None


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """Return the help ``did you mean `…`?`` for a mistyped word, or "" if nothing is near."""
    found = nearest(word, candidates)
    return f"did you mean `{found}`?" if found is not None else ""


def _tolerance(word: str) -> int:
    """How many mistakes a word of this length may hold."""
    if len(word) < 2:
        return 0
    return min(1 + len(word) // 6, 3) if len(word) > 3 else 1


def _distance(a: str, b: str, limit: int) -> int | None:
    """Return the number of mistakes between two words, or None if there are more than `limit`."""
    if a == b:
        return 0
    if limit >= 1 and len(a) == len(b) and sorted(_PARTS.split(a)) == sorted(_PARTS.split(b)):
        return 1
    if abs(len(a) - len(b)) > limit:
        return None
    return _edits(a, b, limit)


def _edits(a: str, b: str, limit: int) -> int | None:
    """Count edits row by row, only within `limit` of the diagonal; stop when all are beyond it."""
    far = limit + 1
    before: list[int] = []
    above = [min(j, far) for j in range(len(b) + 1)]
    for i, letter in enumerate(a, start=1):
        row = [far] * (len(b) + 1)
        if i <= limit:
            row[0] = i
        for j in range(max(1, i - limit), min(len(b), i + limit) + 1):
            cost = min(
                above[j] + 1,
                row[j - 1] + 1,
                above[j - 1] + (letter != b[j - 1]),
            )
            if i > 1 and j > 1 and letter == b[j - 2] and a[i - 2] == b[j - 1]:
                cost = min(cost, before[j - 2] + 1)
            row[j] = min(cost, far)
        if min(row) > limit:
            return None
        before, above = above, row
    return above[-1] if above[-1] <= limit else None
