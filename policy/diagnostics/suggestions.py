"""Did you mean: the known words that a mistyped one may stand for.

Distance counts inserted, dropped and changed letters and swapped neighbours (optimal string
alignment); case is free, and the same parts in another order (`read_file` for `file_read`) count
as one mistake. How much may differ grows with the word, so that a short word is not led to an
unrelated one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# Longer names are not typing mistakes, and comparing a hostile one would take quadratic time.
_LONGEST = 80
# Shorter names often differ by one letter on purpose.
_SHORTEST_SLIP = 5
_PARTS = re.compile(r"[_\-./\s]+")


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate most similar to `word`, or None if none is similar.

    Of equally similar ones, the alphabetically first is returned.
    """
    if len(word) > _LONGEST:
        return None
    target = word.casefold()
    limit = _tolerance(target)
    known = [name for name in dict.fromkeys(candidates) if name != word]
    folded = [name.casefold() for name in known]
    near = [(distance, known[place]) for distance, place in _within(target, folded, limit)]
    if limit and not any(distance <= 1 for distance, _ in near):
        near += [(1, name) for name in known if _has_same_parts(name.casefold(), target)]
    return min(near)[1] if near else None


def near_words(word: str, candidates: Iterable[str]) -> tuple[str, ...]:
    """Return all candidates that are similar to a word, the most similar ones first."""
    if len(word) > _LONGEST:
        return ()
    target = word.casefold()
    known = sorted(dict.fromkeys(candidates))
    near = _within(target, [name.casefold() for name in known], _tolerance(target))
    return tuple(known[place] for _, place in sorted(near))


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """Return the help ``did you mean `…`?`` for a mistyped word, or "" if nothing is similar."""
    found = nearest(word, candidates)
    return f"did you mean `{found}`?" if found is not None else ""


def one_edit_from(word: str, candidates: Iterable[str]) -> tuple[str, ...]:
    """Return the candidates that differ from a word by one typing slip in a letter or `_`.

    A slip is a letter dropped, added or changed, or two neighbours swapped. Short words and digits
    are excluded: `report1` and `report2` are two deliberate names.
    """
    if not _SHORTEST_SLIP <= len(word) <= _LONGEST:
        return ()
    known = [name for name in candidates if len(name) >= _SHORTEST_SLIP]
    near = (known[place] for distance, place in _within(word, known, 1) if distance == 1)
    return tuple(name for name in near if _differ_in_letters(word, name))


def _within(word: str, candidates: list[str], limit: int) -> list[tuple[int, int]]:
    """Return the distance and the index of each candidate within `limit`."""
    # Imported here: most policies have no slip.
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    found = process.extract(word, candidates, scorer=OSA.distance, score_cutoff=limit, limit=None)
    return [(int(distance), place) for _, distance, place in found]


def _differ_in_letters(one: str, other: str) -> bool:
    """Return whether the text between the common prefix and suffix is letters or `_`."""
    shorter = min(len(one), len(other))
    start = 0
    while start < shorter and one[start] == other[start]:
        start += 1
    end = 0
    while end < shorter - start and one[-1 - end] == other[-1 - end]:
        end += 1
    differing = one[start : len(one) - end] + other[start : len(other) - end]
    return all(char == "_" or char.isalpha() for char in differing)


def _has_same_parts(one: str, other: str) -> bool:
    if len(one) != len(other):
        return False
    return sorted(_PARTS.split(one)) == sorted(_PARTS.split(other))


def _tolerance(word: str) -> int:
    """Return how many mistakes a word of this length may have."""
    if len(word) < 2:
        return 0
    return min(1 + len(word) // 6, 3) if len(word) > 3 else 1
